// Sharded collections: creation on empty and filled collections, ranges, targeting, explain, statements without the shard key.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { useCluster, errorOf, range } = require('../lib/cluster.js');

const SHARDS = 3;

// The names of the shards that a winning plan ran on, and its stage.
function targeted(explained) {
  const plan = explained.queryPlanner.winningPlan;
  return { stage: plan.stage, shards: plan.shards.map((s) => s.shardName).sort() };
}

describe('sharded collections', () => {
  const cluster = useCluster({ shards: SHARDS });
  const config = () => cluster.client.db('config');

  // Documents per shard, from the real figures.
  async function perShard(collection) {
    const rows = await collection.aggregate([{ $collStats: { storageStats: {} } }]).toArray();
    return Object.fromEntries(rows.map((r) => [r.shard, r.storageStats.count]));
  }

  async function chunksOf(collection) {
    const entry = await config().collection('collections').findOne({ _id: collection.namespace });
    return config().collection('chunks').find({ uuid: entry.uuid }).sort({ min: 1 }).toArray();
  }

  it('a new collection has one range per shard, equal in width to within 1', async () => {
    const c = await cluster.sharded({ customer: 'hashed' });
    const entry = await config().collection('collections').findOne({ _id: c.namespace });
    assert.deepEqual(entry.key, { customer: 'hashed' });
    const chunks = await config().collection('chunks').find({ uuid: entry.uuid }, { promoteLongs: false, useBigInt64: false }).sort({ min: 1 }).toArray();
    assert.equal(chunks.length, SHARDS);
    assert.equal(new Set(chunks.map((x) => x.shard)).size, SHARDS);
    const low = (v) => (v._bsontype === 'MinKey' ? -(2n ** 63n) : v._bsontype === 'MaxKey' ? 2n ** 63n : BigInt(v.toString()));
    const widths = chunks.map((x) => low(x.max.customer) - low(x.min.customer));
    assert.equal(widths.reduce((a, b) => a + b), 2n ** 64n);
    const [smallest, largest] = [widths.reduce((a, b) => (a < b ? a : b)), widths.reduce((a, b) => (a > b ? a : b))];
    assert.ok(largest - smallest <= 1n, `${widths}`);
  });

  it('spreads documents evenly, and equal key values together', async () => {
    const c = await cluster.sharded({ customer: 'hashed' });
    await c.insertMany(range(3000).map((i) => ({ customer: i % 1000 })));
    const counts = Object.values(await perShard(c));
    assert.equal(counts.length, SHARDS);
    assert.ok(counts.every((n) => n > 800 && n < 1200), `${counts}`);
    const explained = await c.find({ customer: 5 }).explain();
    assert.equal(targeted(explained).stage, 'SINGLE_SHARD');
    assert.equal((await c.find({ customer: 5 }).toArray()).length, 3);
  });

  it('explain: equality and $in on the key go to the owners only, everything else to all', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(300).map((i) => ({ _id: i, n: i })));
    const one = targeted(await c.find({ _id: 17 }).explain());
    assert.equal(one.stage, 'SINGLE_SHARD');
    assert.equal(one.shards.length, 1);
    assert.deepEqual(targeted(await c.find({ _id: { $in: [17] }, n: { $gt: 1 } }).explain()), one);
    const all = targeted(await c.find({ n: 5 }).sort({ n: 1 }).explain());
    assert.equal(all.shards.length, SHARDS);
    assert.match(all.stage, /^SHARD_MERGE/);
    const many = targeted(await c.find({ _id: { $in: range(50) } }).explain());
    assert.equal(many.shards.length, SHARDS);
    assert.equal(targeted(await c.find({ _id: { $gt: 5 } }).explain()).shards.length, SHARDS);
    assert.equal(targeted(await c.find({ _id: 2.5 }).explain()).stage, 'SINGLE_SHARD');
  });

  it('doubles are hashed truncated: 2.1 and 2.9 lie together but are told apart', async () => {
    const c = await cluster.sharded({ k: 'hashed' });
    await c.insertMany([{ k: 2 }, { k: 2.1 }, { k: 2.9 }]);
    assert.equal(Object.values(await perShard(c)).filter((n) => n === 3).length, 1);
    assert.equal((await c.find({ k: 2.1 }).toArray()).length, 1);
  });

  it('compound key: the hashed field alone decides the place', async () => {
    const c = await cluster.sharded({ a: 'hashed', b: 1 });
    await c.insertMany(range(200).map((i) => ({ a: i % 4, b: i })));
    assert.equal(targeted(await c.find({ a: 1, b: 5 }).explain()).stage, 'SINGLE_SHARD');
    assert.equal((await c.find({ a: 1 }).toArray()).length, 50);
    assert.deepEqual((await c.findOne({ a: 1, b: 5 })).b, 5);
  });

  it('dotted keys, missing fields as null, arrays refused', async () => {
    const c = await cluster.sharded({ 'who.id': 'hashed' });
    await c.insertMany([{ who: { id: 1 } }, { who: {} }, {}, { who: { id: null } }]);
    assert.equal((await c.find({ 'who.id': 1 }).toArray()).length, 1);
    assert.equal((await c.find({ 'who.id': null }).toArray()).length, 3);
    const error = await errorOf(c.insertOne({ who: { id: [1, 2] } }));
    assert.ok(error.code > 0);
    assert.equal(await c.countDocuments(), 4);
  });

  it('several hashed fields and range keys are refused for now', async () => {
    for (const key of [{ a: 'hashed', b: 'hashed' }, { a: 1 }, {}, { a: 'text' }]) {
      const error = await errorOf(cluster.admin({ shardCollection: 'test.refused', key }));
      assert.ok(error.code > 0, JSON.stringify(key));
    }
  });

  it('shards a filled collection without losing or doubling anything', async () => {
    const c = cluster.collection();
    await c.createIndex({ n: 1 });
    await c.insertMany(range(5000).map((i) => ({ _id: i, n: i % 100, text: 'x'.repeat(50) })));
    await cluster.admin({ shardCollection: c.namespace, key: { n: 'hashed' } });
    assert.equal(await c.countDocuments(), 5000);
    assert.equal(await c.estimatedDocumentCount(), 5000);
    assert.deepEqual((await c.find().sort({ _id: 1 }).toArray()).map((d) => d._id), range(5000));
    assert.equal((await c.find({ n: 42 }).toArray()).length, 50);
    assert.ok(Object.values(await perShard(c)).every((n) => n > 0));
    assert.ok((await c.indexes()).some((index) => index.key.n === 1));
    assert.equal((await chunksOf(c)).length, SHARDS);
  });

  it('sharding again with the same key is no error, with another key it is', async () => {
    const c = await cluster.sharded({ a: 'hashed' });
    assert.equal((await cluster.admin({ shardCollection: c.namespace, key: { a: 'hashed' } })).ok, 1);
    assert.ok((await errorOf(cluster.admin({ shardCollection: c.namespace, key: { b: 'hashed' } }))).code > 0);
  });

  it('a changed shard key finds its document, wherever it is now', async () => {
    const c = await cluster.sharded({ k: 'hashed' });
    await c.insertOne({ _id: 1, k: 0 });
    for (const i of range(20)) {
      assert.equal((await c.updateOne({ _id: 1, k: i }, { $set: { k: i + 1 } })).modifiedCount, 1);
      assert.equal((await c.find({ k: i + 1 }).toArray()).length, 1);
      assert.equal((await c.find({ _id: 1 }).toArray()).length, 1);
    }
  });

  it('a drop takes the data and the ranges away', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(1000).map((i) => ({ _id: i })));
    const { uuid } = await config().collection('collections').findOne({ _id: c.namespace });
    await c.drop();
    assert.equal(await config().collection('chunks').countDocuments({ uuid }), 0);
    assert.equal(await config().collection('collections').findOne({ _id: c.namespace }), null);
    assert.equal(await c.countDocuments(), 0);
    await c.insertOne({ _id: 1 });
    assert.equal(await c.countDocuments(), 1);
  });

  it('$shardedDataDistribution and getShardMap', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(900).map((i) => ({ _id: i })));
    const rows = await cluster.client.db('admin').aggregate([{ $shardedDataDistribution: {} }, { $match: { ns: c.namespace } }]).toArray();
    assert.equal(rows.length, 1);
    assert.equal(rows[0].shards.reduce((sum, s) => sum + s.numOwnedDocuments, 0), 900);
    const { map } = await cluster.admin({ getShardMap: 1 });
    assert.ok(Object.keys(map).length >= SHARDS);
  });

  it('unsharded collections spread over the shards', async () => {
    const places = new Set();
    for (const i of range(6)) {
      const c = cluster.client.db(`spread${i}`).collection('c');
      await c.insertMany(range(200).map((n) => ({ n, text: 'x'.repeat(1000) })));
      places.add((await c.aggregate([{ $collStats: { storageStats: {} } }]).toArray())[0].shard);
    }
    assert.ok(places.size > 1, [...places].join());
  });
});
