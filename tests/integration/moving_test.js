// Collections get another shard key or another shard while clients write to them.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { errorOf, range, useCluster } = require('../lib/cluster.js');
const { MoveLoad } = require('../lib/move_load.js');

describe('moving collections', () => {
  const cluster = useCluster();
  const entry = (ns) => cluster.client.db('config').collection('collections').findOne({ _id: ns });
  const filled = async (collection, count = 3000) => {
    await collection.insertMany(range(count).map((i) => ({ _id: i, k: i % 97, text: 'x'.repeat(100) })));
    return collection;
  };
  const validate = async (collection) => {
    const { valid, errors } = await cluster.db.command({ validate: collection.collectionName, full: true });
    assert.ok(valid, JSON.stringify(errors));
  };
  // Runs `move` on a collection while clients write, and checks that nothing was lost or doubled and that its counts are exact.
  async function underLoad(collection, move) {
    await filled(collection);
    const load = await new MoveLoad(cluster.server.uri, collection.namespace).start();
    await load.progress(200);
    const reply = await move();
    assert.equal(reply.ok, 1);
    await load.progress(200);
    await load.finish();
    assert.equal(await collection.countDocuments({ _id: { $type: 'number' } }), 3000);
    assert.equal(await collection.estimatedDocumentCount(), await collection.countDocuments({}));
    await validate(collection);
  }

  it('reshardCollection', async () => {
    const collection = await cluster.sharded();
    await collection.createIndex({ v: 1 });
    await underLoad(collection, () => cluster.admin({ reshardCollection: collection.namespace, key: { k: 'hashed' } }));
    assert.deepEqual((await entry(collection.namespace)).key, { k: 'hashed' });
    assert.deepEqual((await collection.indexes()).map((index) => index.name).sort(), ['_id_', 'k_hashed', 'v_1']);
    const plan = await collection.find({ k: 5 }).explain();
    assert.equal(plan.queryPlanner.winningPlan.stage, 'SINGLE_SHARD');
  });

  it('back to the key that it had, and again under that key', async () => {
    const collection = await cluster.sharded({ k: 'hashed' });
    await underLoad(collection, () => cluster.admin({ reshardCollection: collection.namespace, key: { _id: 'hashed' } }));
    assert.deepEqual((await entry(collection.namespace)).key, { _id: 'hashed' });
    await cluster.admin({ reshardCollection: collection.namespace, key: { _id: 'hashed' }, forceRedistribution: true });
    await cluster.admin({ reshardCollection: collection.namespace, key: { _id: 'hashed' } });
    assert.equal(await collection.countDocuments({ _id: { $type: 'number' } }), 3000);
    await validate(collection);
  });

  it('shardCollection of a filled collection', async () => {
    const collection = cluster.collection();
    await underLoad(collection, () => cluster.admin({ shardCollection: collection.namespace, key: { k: 'hashed' } }));
    assert.deepEqual((await entry(collection.namespace)).key, { k: 'hashed' });
  });

  it('unshardCollection, moveCollection', async () => {
    const collection = await cluster.sharded();
    await underLoad(collection, () => cluster.admin({ unshardCollection: collection.namespace, toShard: 'shard1' }));
    const shardsOf = async () => (await collection.find().explain()).queryPlanner.winningPlan.shards.map((shard) => shard.shardName);
    assert.deepEqual(await shardsOf(), ['shard1']);
    await cluster.admin({ moveCollection: collection.namespace, toShard: 'shard2' });
    assert.deepEqual(await shardsOf(), ['shard2']);
    await cluster.admin({ moveCollection: collection.namespace, toShard: 'shard2' });
    assert.equal(await collection.countDocuments({ _id: { $type: 'number' } }), 3000);
    await validate(collection);
  });

  it('moveCollection under load, with a unique index', async () => {
    const collection = cluster.collection();
    await collection.createIndex({ text: 1, _id: 1 }, { unique: true });
    const [{ shardName }] = (await filled(collection, 1), await collection.find().explain()).queryPlanner.winningPlan.shards;
    await collection.deleteMany({});
    const toShard = shardName === 'shard0' ? 'shard1' : 'shard0';
    await underLoad(collection, () => cluster.admin({ moveCollection: collection.namespace, toShard }));
  });

  for (const [what, sharded, move] of [
    ['reshardCollection', { _id: 'hashed' }, (ns) => cluster.admin({ reshardCollection: ns, key: { k: 'hashed' } })],
    ['unshardCollection', { k: 'hashed' }, (ns) => cluster.admin({ unshardCollection: ns, toShard: 'shard1' })],
    ['shardCollection', undefined, (ns) => cluster.admin({ shardCollection: ns, key: { k: 'hashed' } })],
    ['moveCollection', undefined, (ns) => cluster.admin({ moveCollection: ns, toShard: 'shard2' })],
  ]) {
    it(`${what}: cursors go on and see every document once`, async () => {
      const collection = await filled(sharded ? await cluster.sharded(sharded) : cluster.collection());
      await collection.createIndex({ text: 1 });
      const open = () => [
        collection.find().batchSize(50), collection.find().sort({ k: 1 }).batchSize(50), collection.find({ text: { $gt: '' } }).hint('text_1').batchSize(50),
        collection.aggregate([{ $match: { k: { $gte: 0 } } }, { $project: { k: 1 } }], { batchSize: 50 }),
      ];
      const cursors = open();
      const seen = await Promise.all(cursors.map(async (cursor) => { const ids = []; for (let i = 0; i < 120; ++i) ids.push((await cursor.next())._id); return ids; }));
      await move(collection.namespace);
      await collection.updateMany({}, { $set: { moved: true } });
      await collection.deleteMany({ _id: { $lt: 1000 } });
      for (const [i, cursor] of cursors.entries()) {
        for await (const row of cursor) seen[i].push(row._id);
        assert.equal(seen[i].length, 3000, `cursor ${i}`);
        assert.equal(new Set(seen[i]).size, 3000, `cursor ${i}`);
      }
      for (const cursor of open()) assert.equal((await cursor.toArray()).length, 2000);
      await validate(collection);
    });
  }

  it('a retried write finds its result after the move', async () => {
    const collection = await filled(await cluster.sharded(), 10);
    const session = cluster.client.startSession();
    const command = {
      update: collection.collectionName, updates: [{ q: { _id: 3, k: 3 }, u: { $inc: { n: 1 } } }], lsid: session.id, txnNumber: BigInt(1),
    };
    const { Long } = require('mongodb');
    command.txnNumber = Long.fromNumber(1);
    assert.equal((await cluster.db.command(command)).nModified, 1);
    await cluster.admin({ reshardCollection: collection.namespace, key: { k: 'hashed' } });
    assert.equal((await cluster.db.command(command)).nModified, 1);
    assert.equal((await collection.findOne({ _id: 3 })).n, 1);
    await session.endSession();
  });

  it('a document that the new key cannot place undoes all', async () => {
    const collection = await filled(await cluster.sharded(), 100);
    await collection.insertOne({ _id: 'array', k: [1, 2] });
    const error = await errorOf(cluster.admin({ reshardCollection: collection.namespace, key: { k: 'hashed' } }));
    assert.ok(error.code > 0, error.message);
    assert.deepEqual((await entry(collection.namespace)).key, { _id: 'hashed' });
    assert.equal(await collection.countDocuments(), 101);
    await collection.insertOne({ _id: 'after' });
    await collection.deleteOne({ _id: 'array' });
    await cluster.admin({ reshardCollection: collection.namespace, key: { k: 'hashed' } });
    assert.equal(await collection.countDocuments(), 101);
  });

  it('equal _ids of several shards stop an unsharding', async () => {
    const collection = await cluster.sharded({ k: 'hashed' });
    await collection.insertMany(range(200).map((k) => ({ _id: 'same', k })).filter(({ k }) => k < 1));
    for (const k of range(40)) await collection.insertOne({ _id: 'same', k }).catch((error) => assert.equal(error.code, 11000));
    const before = await collection.countDocuments();
    assert.ok(before > 1, 'several shards have it');
    assert.equal((await errorOf(cluster.admin({ unshardCollection: collection.namespace }))).code, 11000);
    assert.equal(await collection.countDocuments(), before);
    await collection.insertOne({ _id: 'other', k: 1 });
  });

  it('can be aborted', async () => {
    const collection = await filled(await cluster.sharded(), 20_000);
    const resharding = errorOf(cluster.admin({ reshardCollection: collection.namespace, key: { k: 'hashed' } }));
    const jobs = cluster.client.db('config').collection('jobs');
    while (await jobs.findOne({ _id: collection.namespace }) === null) await new Promise((resolve) => setTimeout(resolve, 1));
    await cluster.admin({ abortReshardCollection: collection.namespace });
    assert.equal((await resharding).code, 341);
    assert.deepEqual((await entry(collection.namespace)).key, { _id: 'hashed' });
    assert.equal(await collection.countDocuments(), 20_000);
    await collection.updateMany({}, { $set: { seen: true } });
    assert.equal(await collection.countDocuments({ seen: true }), 20_000);
  });

  const refused = [
    [{ reshardCollection: 'test.missing', key: { k: 'hashed' } }, 26],
    [{ reshardCollection: 'test.plain', key: { k: 'hashed' } }, 118],
    [{ reshardCollection: 'test.plain' }, 40414],
    [{ reshardCollection: 5, key: { k: 'hashed' } }, 14],
    [{ unshardCollection: 'test.plain' }, 118],
    [{ moveCollection: 'test.plain', toShard: 'shard9' }, 70],
    [{ moveCollection: 'test.plain' }, 40414],
    [{ moveCollection: 'test.sharded', toShard: 'shard1' }, 20],
    [{ abortReshardCollection: 'test.sharded' }, 339],
    [{ commitReshardCollection: 'test.sharded' }, 339],
    [{ abortMoveCollection: 'test.plain' }, 339],
    [{ abortUnshardCollection: 'test.sharded' }, 339],
  ];
  for (const [command, code] of refused) {
    it(`refused: ${JSON.stringify(command)}`, async () => {
      await cluster.db.collection('plain').updateOne({ _id: 1 }, { $set: { a: 1 } }, { upsert: true });
      await cluster.admin({ shardCollection: 'test.sharded', key: { _id: 'hashed' } });
      const error = await errorOf(cluster.admin(command));
      assert.equal(error.code, code, error.message);
    });
  }
});
