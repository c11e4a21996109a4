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
