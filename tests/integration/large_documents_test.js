// Documents near the limit of 16 MB can be written in all ways, also while they move to another shard.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { range, useCluster } = require('../lib/cluster.js');
const { move } = require('../lib/range_moves.js');

const LARGE = 'x'.repeat(16 * 1024 * 1024 - 300);
const GROWN = 100, GROWN_BYTES = 1_000_000;
const LEAVING = 2;

describe('large documents', () => {
  const cluster = useCluster();

  for (const kind of ['unsharded', 'sharded']) {
    const make = () => (kind === 'sharded' ? cluster.sharded() : cluster.collection());

    it(`${kind}: every kind of write`, async () => {
      const c = await make();
      for (const _id of range(3)) await c.insertOne({ _id, n: 0, text: LARGE });
      assert.equal((await c.updateOne({ _id: 0 }, { $inc: { n: 1 } })).modifiedCount, 1);
      assert.equal((await c.updateMany({}, { $inc: { n: 1 } })).modifiedCount, 3);
      assert.equal((await c.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } })).text.length, LARGE.length);
      assert.equal((await c.replaceOne({ _id: 2 }, { n: 7, text: LARGE })).modifiedCount, 1);
      assert.equal((await c.updateOne({ _id: 3 }, { $set: { n: 9, text: LARGE } }, { upsert: true })).upsertedCount, 1);
      const session = cluster.client.startSession();
      await session.withTransaction(() => c.updateOne({ _id: 0 }, { $inc: { n: 10 } }, { session }));
      await session.endSession();
      assert.deepEqual(await c.find({}, { projection: { n: 1 } }).sort({ _id: 1 }).toArray(), [12, 2, 7, 9].map((n, _id) => ({ _id, n })));
      assert.equal((await c.deleteMany({})).deletedCount, 4);
    });

    it(`${kind}: small documents that become large together`, async () => {
      const c = await make();
      await c.insertMany(range(GROWN).map((_id) => ({ _id })));
      assert.equal((await c.updateMany({}, { $set: { text: 'x'.repeat(GROWN_BYTES) } })).modifiedCount, GROWN);
      assert.equal(await c.countDocuments({ $expr: { $eq: [{ $strLenBytes: '$text' }, GROWN_BYTES] } }), GROWN);
      await c.drop();
    });
  }

  it('while their ranges move', async () => {
    const c = await cluster.sharded();
    const count = 6;
    for (const _id of range(count)) await c.insertOne({ _id, n: 0, text: LARGE });
    const state = { done: false };
    const moving = (async () => {
      for (const away of [true, false]) await move(cluster.client, LEAVING, away);
    })().finally(() => { state.done = true; });
    let rounds = 0;
    for (; !state.done; ++rounds) {
      for (const _id of range(count)) assert.equal((await c.updateOne({ _id }, { $inc: { n: 1 } })).modifiedCount, 1);
    }
    await moving;
    assert.deepEqual(await c.distinct('n'), [rounds]);
    assert.equal(await c.countDocuments(), count);
  });
});
