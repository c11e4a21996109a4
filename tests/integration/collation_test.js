// Collations over shards: strings are compared by their rules in every command, and no hash or index that knows bytes leaves
// documents out.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { useCluster, errorOf } = require('../lib/cluster.js');

const collation = { locale: 'en', strength: 2 };
const letters = [...'abcdefghijklmnop'];

describe('collations', () => {
  const cluster = useCluster();
  const filled = async (c) => {
    await c.createIndex({ name: 1 });
    await c.insertMany(letters.flatMap((name, i) => [{ _id: i, name }, { _id: 100 + i, name: name.toUpperCase() }]));
    return c;
  };

  it('find what differs in bytes, on all shards and past indexes', async () => {
    const c = await filled(await cluster.sharded({ name: 'hashed' }));
    const found = (filter) => c.find(filter, { collation }).toArray();
    assert.equal((await found({ name: 'C' })).length, 2);
    assert.equal((await c.find({ name: 'C' }).toArray()).length, 1);
    assert.equal((await found({ name: { $in: ['c', 'D'] } })).length, 4);
    assert.equal((await found({ name: { $gt: 'N' } })).length, 4);
    assert.equal(await c.countDocuments({ name: 'C' }, { collation }), 2);
    assert.equal((await c.distinct('name', {}, { collation })).length, letters.length);
    const sorted = await c.find({}, { collation }).sort({ name: 1, _id: 1 }).limit(6).toArray();
    assert.deepEqual(sorted.map((d) => d.name), ['a', 'A', 'b', 'B', 'c', 'C']);
    const groups = await c.aggregate([{ $group: { _id: '$name', n: { $sum: 1 } } }], { collation }).toArray();
    assert.deepEqual(groups.map((g) => g.n), letters.map(() => 2));
  });

  it('write to what differs in bytes', async () => {
    const c = await filled(await cluster.sharded({ name: 'hashed' }));
    assert.equal((await c.updateMany({ name: 'F' }, { $set: { x: 2 } }, { collation })).modifiedCount, 2);
    assert.equal((await c.deleteMany({ name: 'G' }, { collation })).deletedCount, 2);
    assert.equal((await c.deleteOne({ name: 'H' }, { collation })).deletedCount, 1);
    const first = await c.findOneAndUpdate({ name: { $gte: 'm' } }, { $set: { x: 1 } }, { collation, sort: { name: -1, _id: 1 } });
    assert.equal(first.name, 'p');
  });

  it('of a collection hold unless a command has its own', async () => {
    const name = cluster.collection().collectionName;
    const c = await cluster.db.createCollection(name, { collation });
    await c.insertMany([{ _id: 1, x: 'a' }, { _id: 2, x: 'A' }]);
    assert.equal((await c.find({ x: 'A' }).toArray()).length, 2);
    assert.equal((await c.find({ x: 'A' }, { collation: { locale: 'simple' } }).toArray()).length, 1);
    assert.equal((await c.updateMany({ x: 'a' }, { $set: { y: 1 } })).matchedCount, 2);
    assert.equal((await c.aggregate([{ $match: { x: 'a' } }]).toArray()).length, 2);
  });

  it('of an index make it unique by their rules, and usable by queries with the same ones', async () => {
    const c = cluster.collection();
    await c.createIndex({ x: 1 }, { unique: true, collation });
    await c.insertMany([{ _id: 1, x: 'apple' }, { _id: 2, x: 'Banana' }, { _id: 3, x: 7 }, { _id: 4, x: ['Kiwi', 'lime'] }]);
    assert.equal((await errorOf(c.insertOne({ _id: 5, x: 'APPLE' }))).code, 11000);
    assert.equal((await errorOf(c.updateOne({ _id: 2 }, { $set: { x: 'KIWI' } }))).code, 11000);
    const found = async (filter, options) => (await c.find(filter, options).sort({ _id: 1 }).toArray()).map((d) => d._id);
    assert.deepEqual(await found({ x: 'APPLE' }, { collation }), [1]);
    assert.deepEqual(await found({ x: 'APPLE' }), []);
    assert.deepEqual(await found({ x: { $gte: 'b' } }, { collation }), [2, 4]);
    assert.deepEqual(await found({ x: 7 }), [3]);
    const sorted = await c.find({ x: { $type: 'string' } }, { collation }).sort({ x: -1 }).toArray();
    assert.deepEqual(sorted.map((d) => d._id), [4, 2, 1]);
    const stageOf = async (options) => JSON.stringify((await c.find({ x: 'APPLE' }, options).explain()).queryPlanner);
    assert.match(await stageOf({ collation }), /IXSCAN.*CollationKey/);
    assert.match(await stageOf({}), /COLLSCAN/);
    const [, spec] = await c.indexes();
    assert.equal(spec.collation.locale, 'en');
    assert.equal(spec.collation.strength, 2);
  });

  it('of an index are checked, and tell indexes of the same key apart', async () => {
    const c = cluster.collection();
    assert.equal((await errorOf(c.createIndex({ x: 1 }, { collation: { strength: 2 } }))).code, 40414);
    assert.equal((await errorOf(c.createIndex({ x: 1 }, { collation: { locale: 'nowhere_xyz' } }))).code, 2);
    await c.createIndex({ x: 1 });
    await c.createIndex({ x: 1 }, { name: 'x_ci', collation });
    await c.createIndex({ x: 'hashed' }, { name: 'x_hashed', collation });
    assert.equal((await c.indexes()).length, 4);
    await c.insertMany([{ x: 'a' }, { x: 'A' }]);
    assert.equal((await c.find({ x: 'a' }, { collation, hint: 'x_hashed' }).toArray()).length, 2);
    assert.equal((await c.find({ x: 'a' }, { collation, hint: 'x_ci' }).toArray()).length, 2);
  });

  it('of a collection are those of its indexes, of _id too', async () => {
    const c = await cluster.db.createCollection(cluster.collection().collectionName, { collation });
    await c.createIndex({ x: 1 }, { unique: true });
    await c.createIndex({ y: 1 }, { unique: true, collation: { locale: 'simple' } });
    await c.insertOne({ _id: 'one', x: 'a', y: 'a' });
    assert.equal((await errorOf(c.insertOne({ _id: 'ONE', x: 'b', y: 'b' }))).code, 11000);
    assert.equal((await errorOf(c.insertOne({ _id: 'two', x: 'A', y: 'b' }))).code, 11000);
    await c.insertOne({ _id: 'two', x: 'b', y: 'A' });
    assert.equal((await c.findOne({ _id: 'ONE' }))._id, 'one');
    assert.equal(await c.findOne({ _id: 'ONE' }, { collation: { locale: 'simple' } }), null);
    assert.equal((await c.findOne({ _id: 'one' }, { collation: { locale: 'simple' } }))._id, 'one');
    assert.equal((await c.updateOne({ _id: 'TWO' }, { $set: { z: 1 } })).modifiedCount, 1);
    assert.equal((await c.deleteOne({ _id: 'ONE' })).deletedCount, 1);
    assert.deepEqual((await c.indexes()).map((index) => index.collation?.strength), [2, 2, undefined]);
  });

  it('of a view cannot be replaced', async () => {
    const source = cluster.collection();
    await source.insertMany([{ _id: 1, x: 'a' }, { _id: 2, x: 'á' }]);
    const name = `${source.collectionName}_view`;
    const view = await cluster.db.createCollection(name, { viewOn: source.collectionName, pipeline: [], collation: { locale: 'en', strength: 1 } });
    assert.equal((await view.find({ x: 'a' }).toArray()).length, 2);
    const error = await errorOf(view.find({}, { collation: { locale: 'fr' } }).toArray());
    assert.equal(error.code, 167);
  });

  it('that are wrong are refused', async () => {
    const c = cluster.collection();
    const codeOf = async (wrong) => (await errorOf(c.find({}, { collation: wrong }).toArray())).code;
    assert.equal(await codeOf({ strength: 2 }), 40414);
    assert.equal(await codeOf({ locale: 'nowhere_xyz' }), 2);
    assert.equal(await codeOf({ locale: 'en', strength: 1, caseFirst: 'upper' }), 2);
  });
});
