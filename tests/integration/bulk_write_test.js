// Bulk writes: ordered ones stop at the first error, unordered ones go on; both say what happened to which statement.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { useCluster, errorOf, range } = require('../lib/cluster.js');

describe('bulk writes', () => {
  const cluster = useCluster();
  const mixed = [
    { insertOne: { document: { _id: 1, n: 1 } } },
    { insertOne: { document: { _id: 2, n: 1 } } },
    { insertOne: { document: { _id: 1, n: 2 } } },  // a duplicate
    { updateMany: { filter: {}, update: { $inc: { n: 10 } } } },
    { updateOne: { filter: { _id: 3 }, update: { $set: { n: 3 } }, upsert: true } },
    { deleteOne: { filter: { _id: 2 } } },
  ];

  it('over several collections: the bulkWrite command', async () => {
    const a = cluster.collection();
    const b = await cluster.sharded();
    const reply = await cluster.admin({
      bulkWrite: 1,
      nsInfo: [{ ns: a.namespace }, { ns: b.namespace }],
      ordered: false,
      ops: [
        ...range(10).map((i) => ({ insert: i % 2, document: { _id: i } })),
        { insert: 0, document: { _id: 0 } },
        { update: 1, filter: {}, updateMods: { $set: { n: 1 } }, multi: true },
        { update: 0, filter: { _id: 'new' }, updateMods: { $set: { n: 2 } }, upsert: true },
        { delete: 1, filter: { _id: 9 } },
      ],
    });
    const { nErrors, nInserted, nMatched, nModified, nUpserted, nDeleted } = reply;
    assert.deepEqual([nErrors, nInserted, nMatched, nModified, nUpserted, nDeleted], [1, 10, 5, 5, 1, 1]);
    assert.deepEqual(reply.cursor.firstBatch.map((row) => row.idx), range(14));
    assert.equal(reply.cursor.firstBatch[10].code, 11000);
    assert.equal(await a.countDocuments(), 6);
    assert.equal(await b.countDocuments({ n: 1 }), 4);
  });

  for (const sharded of [false, true]) {
    describe(sharded ? 'sharded' : 'unsharded', () => {
      const make = () => (sharded ? cluster.sharded() : cluster.collection());

      it('ordered: nothing after the first error', async () => {
        const c = await make();
        const error = await errorOf(c.bulkWrite(mixed));
        assert.equal(error.code, 11000);
        assert.deepEqual(error.writeErrors.map((e) => e.index), [2]);
        assert.equal(error.result.insertedCount, 2);
        assert.deepEqual(await c.find().sort({ _id: 1 }).toArray(), [{ _id: 1, n: 1 }, { _id: 2, n: 1 }]);
      });

      it('unordered: everything but the failed statement', async () => {
        const c = await make();
        const error = await errorOf(c.bulkWrite(mixed, { ordered: false }));
        assert.deepEqual(error.writeErrors.map((e) => [e.index, e.code]), [[2, 11000]]);
        const left = await c.find().sort({ _id: 1 }).toArray();
        assert.deepEqual(left.map((d) => d._id), [1, 3]);
      });

      it('without errors', async () => {
        const c = await make();
        const result = await c.bulkWrite(mixed.filter((_, i) => i !== 2));
        assert.deepEqual([result.insertedCount, result.matchedCount, result.modifiedCount, result.upsertedCount, result.deletedCount],
          [2, 2, 2, 1, 1]);
        assert.deepEqual(await c.find().sort({ _id: 1 }).toArray(), [{ _id: 1, n: 11 }, { _id: 3, n: 3 }]);
      });

      it('insertMany names every duplicate', async () => {
        const c = await make();
        await c.insertMany(range(20).filter((i) => i % 3 === 0).map((i) => ({ _id: i })));
        const error = await errorOf(c.insertMany(range(20).map((i) => ({ _id: i })), { ordered: false }));
        assert.deepEqual(error.writeErrors.map((e) => e.index), [0, 3, 6, 9, 12, 15, 18]);
        assert.equal(error.result.insertedCount, 13);
        assert.equal(await c.countDocuments(), 20);
      });

      it('ordered insertMany leaves a prefix', async () => {
        const c = await make();
        await c.insertOne({ _id: 13 });
        const error = await errorOf(c.insertMany(range(20).map((i) => ({ _id: i }))));
        assert.deepEqual(error.writeErrors.map((e) => e.index), [13]);
        assert.deepEqual((await c.find().sort({ _id: 1 }).toArray()).map((d) => d._id), range(14));
      });

      it('ten thousand documents in one call', async () => {
        const c = await make();
        await c.insertMany(range(10_000).map((i) => ({ _id: i, text: 'x'.repeat(100) })));
        assert.equal(await c.countDocuments(), 10_000);
      });
    });
  }

  it('documents near the limits: 16 MB, and more than one message together', async () => {
    const c = cluster.collection();
    const large = 'x'.repeat(16 * 1024 * 1024 - 200);
    await c.insertOne({ _id: 'large', large });
    assert.equal((await c.findOne({ _id: 'large' })).large.length, large.length);
    await c.insertMany(range(10).map((i) => ({ _id: i, text: 'y'.repeat(8 << 20) })));
    assert.equal(await c.countDocuments(), 11);
  });
});
