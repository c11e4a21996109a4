// Reads and writes through the Node driver, on an unsharded and on sharded collections alike.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { ObjectId } = require('mongodb');
const { useCluster, range } = require('../lib/cluster.js');

describe('reads and writes', () => {
  const cluster = useCluster();
  const kinds = {
    unsharded: () => cluster.collection(),
    'sharded by _id': () => cluster.sharded(),
    'sharded by another field': () => cluster.sharded({ group: 'hashed' }),
  };

  for (const [kind, make] of Object.entries(kinds)) {
    describe(kind, () => {
      it('inserts and finds', async () => {
        const c = await make();
        const { insertedId } = await c.insertOne({ group: 1, name: 'a' });
        assert.ok(insertedId instanceof ObjectId);
        assert.deepEqual(await c.findOne({ _id: insertedId }), { _id: insertedId, group: 1, name: 'a' });
        assert.equal(await c.findOne({ _id: 'missing' }), null);
      });

      it('finds with sort, skip, limit and projection', async () => {
        const c = await make();
        await c.insertMany(range(50).map((i) => ({ _id: i, group: i % 7, n: 50 - i, deep: { x: i } })));
        const page = await c.find({ n: { $gt: 5 } }).sort({ n: 1 }).skip(3).limit(4).project({ n: 1, 'deep.x': 1 }).toArray();
        assert.deepEqual(page, [9, 10, 11, 12].map((n) => ({ _id: 50 - n, n, deep: { x: 50 - n } })));
      });

      it('shows index keys and record ids', async () => {
        const c = await make();
        await c.createIndex({ n: 1, m: -1 });
        await c.insertMany(range(20).map((i) => ({ _id: i, group: i, n: i % 5, m: i })));
        const keys = await c.find({ n: 2 }, { returnKey: true }).sort({ m: -1 }).toArray();
        assert.deepEqual(keys, [17, 12, 7, 2].map((m) => ({ n: 2, m })));
        assert.deepEqual(await c.find({ m: 3 }, { returnKey: true }).toArray(), [{}]);
        const find = { find: c.collectionName, filter: {}, sort: { _id: 1 }, projection: { n: 1 }, showRecordId: true };
        const ids = async () => (await cluster.db.command(find)).cursor.firstBatch.map((row) => row.$recordId);
        const first = await ids();
        assert.equal(new Set(first.map(String)).size, 20);
        assert.ok(!first.includes(undefined));
        assert.deepEqual(await ids(), first);
      });

      it('filters', async () => {
        const c = await make();
        await c.insertMany(range(30).map((i) => ({ _id: i, group: i % 3, tags: [i, i + 1], ...(i % 2 && { odd: true }) })));
        const count = async (filter) => (await c.find(filter).toArray()).length;
        const cases = [
          [{ group: 1 }, 10], [{ group: { $in: [0, 2] } }, 20], [{ group: { $nin: [0, 2] } }, 10], [{ group: { $ne: 1 } }, 20],
          [{ _id: { $gte: 10, $lt: 15 } }, 5], [{ odd: { $exists: true } }, 15], [{ odd: null }, 15], [{ tags: 7 }, 2],
          [{ $or: [{ _id: 1 }, { _id: 2 }] }, 2], [{ $and: [{ group: 1 }, { odd: true }] }, 5],
          [{ $nor: [{ group: 1 }, { group: 2 }] }, 10], [{ group: { $not: { $gt: 0 } } }, 10],
        ];
        for (const [filter, expected] of cases) assert.equal(await count(filter), expected, JSON.stringify(filter));
      });

      it('updates one and many', async () => {
        const c = await make();
        await c.insertMany(range(10).map((i) => ({ _id: i, group: i % 2, n: 0 })));
        let result = await c.updateOne({ _id: 3 }, { $set: { name: 'x' }, $inc: { n: 2 } });
        assert.deepEqual([result.matchedCount, result.modifiedCount], [1, 1]);
        assert.deepEqual(await c.findOne({ _id: 3 }), { _id: 3, group: 1, n: 2, name: 'x' });
        result = await c.updateOne({ _id: 3 }, { $set: { name: 'x' } });
        assert.deepEqual([result.matchedCount, result.modifiedCount], [1, 0]);
        result = await c.updateMany({ n: 0 }, { $push: { list: 1 }, $unset: { none: 1 } });
        assert.deepEqual([result.matchedCount, result.modifiedCount], [9, 9]);
        assert.equal(await c.countDocuments({ list: 1 }), 9);
      });

      it('updates one document that any of many match', async () => {
        const c = await make();
        await c.insertMany(range(30).map((i) => ({ _id: i, group: i, todo: true })));
        for (const i of range(30)) {
          const { modifiedCount } = await c.updateOne({ todo: true }, { $set: { todo: false, order: i } });
          assert.equal(modifiedCount, 1);
        }
        assert.deepEqual((await c.find().sort({ order: 1 }).toArray()).map((d) => d.order), range(30));
      });

      it('replaces and upserts', async () => {
        const c = await make();
        await c.insertOne({ _id: 1, group: 5, a: 1 });
        await c.replaceOne({ _id: 1 }, { group: 5, b: 2 });
        assert.deepEqual(await c.findOne({ _id: 1 }), { _id: 1, group: 5, b: 2 });
        const result = await c.updateOne({ _id: 2, group: 6 }, { $set: { c: 3 } }, { upsert: true });
        assert.deepEqual([result.matchedCount, result.upsertedCount, result.upsertedId], [0, 1, 2]);
        assert.deepEqual(await c.findOne({ _id: 2 }), { _id: 2, group: 6, c: 3 });
      });

      it('deletes one and many', async () => {
        const c = await make();
        await c.insertMany(range(20).map((i) => ({ _id: i, group: i % 5 })));
        assert.equal((await c.deleteOne({ _id: 4 })).deletedCount, 1);
        assert.equal((await c.deleteOne({ group: 3 })).deletedCount, 1);
        assert.equal((await c.deleteMany({ group: { $in: [0, 1] } })).deletedCount, 8);
        assert.equal(await c.countDocuments(), 10);
        assert.equal(await c.estimatedDocumentCount(), 10);
      });

      it('finds and modifies', async () => {
        const c = await make();
        await c.insertMany(range(5).map((i) => ({ _id: i, group: i, n: 10 - i })));
        const before = await c.findOneAndUpdate({ n: { $gt: 0 } }, { $inc: { n: 100 } }, { sort: { n: 1 } });
        assert.deepEqual(before, { _id: 4, group: 4, n: 6 });
        const after = await c.findOneAndUpdate({ _id: 4, group: 4 }, { $set: { x: 1 } }, { returnDocument: 'after', projection: { x: 1 } });
        assert.deepEqual(after, { _id: 4, x: 1 });
        const gone = await c.findOneAndDelete({}, { sort: { n: -1 } });
        assert.equal(gone._id, 4);
        assert.deepEqual(await c.findOneAndReplace({ _id: 1, group: 1 }, { group: 1, r: 1 }, { returnDocument: 'after' }), { _id: 1, group: 1, r: 1 });
        assert.equal(await c.findOneAndUpdate({ _id: 99 }, { $set: { x: 1 } }), null);
        const made = await c.findOneAndUpdate({ _id: 50, group: 50 }, { $set: { x: 1 } }, { upsert: true, returnDocument: 'after' });
        assert.deepEqual(made, { _id: 50, group: 50, x: 1 });
      });

      it('counts and lists distinct values', async () => {
        const c = await make();
        await c.insertMany(range(40).map((i) => ({ _id: i, group: i % 4, tags: ['all', `t${i % 3}`] })));
        assert.equal(await c.countDocuments({ group: { $lt: 2 } }, { skip: 3, limit: 10 }), 10);
        assert.equal((await cluster.db.command({ count: c.collectionName, query: { group: 1 } })).n, 10);
        assert.deepEqual((await c.distinct('group')).sort(), [0, 1, 2, 3]);
        assert.deepEqual((await c.distinct('tags', { group: 0 })).sort(), ['all', 't0', 't1', 't2']);
      });

      it('aggregates', async () => {
        const c = await make();
        await c.insertMany(range(100).map((i) => ({ _id: i, group: i % 10, n: i })));
        const groups = await c.aggregate([
          { $match: { n: { $gte: 50 } } },
          { $group: { _id: '$group', sum: { $sum: '$n' }, count: { $sum: 1 } } },
          { $sort: { sum: -1 } }, { $skip: 1 }, { $limit: 2 }, { $project: { sum: 1 } },
        ]).toArray();
        assert.deepEqual(groups, [{ _id: 8, sum: 390 }, { _id: 7, sum: 385 }]);
        assert.deepEqual(await c.aggregate([{ $match: { n: { $lt: 7 } } }, { $count: 'few' }]).toArray(), [{ few: 7 }]);
      });
    });
  }
});
