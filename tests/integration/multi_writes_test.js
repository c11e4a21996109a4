// Updates and deletes of many documents while the collection moves: each document is changed once.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { range, useCluster } = require('../lib/cluster.js');
const { move } = require('../lib/range_moves.js');

const ROWS = 6000;
const LEAVING = 2;

describe('writes of many documents while a collection moves', () => {
  const cluster = useCluster();
  const reshard = (ns, key) => cluster.admin({ reshardCollection: ns, key });
  // Repeats a write until `state.done`, and checks that it says that it has changed all documents.
  async function repeat(state, write) {
    let times = 0;
    for (; !state.done; ++times) assert.equal((await write()).modifiedCount, ROWS);
    return times;
  }

  for (const [what, run] of [
    ['ranges leave and come back', async () => { for (const away of [true, false, true, false]) await move(cluster.client, LEAVING, away); }],
    ['reshardCollection', async (ns) => { for (const key of [{ k: 'hashed' }, { _id: 'hashed' }]) await reshard(ns, key); }],
    ['unshardCollection, moveCollection, shardCollection', async (ns) => {
      await cluster.admin({ unshardCollection: ns, toShard: 'shard1' });
      await cluster.admin({ moveCollection: ns, toShard: 'shard2' });
      await cluster.admin({ shardCollection: ns, key: { k: 'hashed' } });
    }],
  ]) {
    it(what, async () => {
      const collection = await cluster.sharded();
      await collection.insertMany(range(ROWS).map((i) => ({ _id: i, k: i % 97, text: 'x'.repeat(100), a: 0, b: 0, c: 0 })));
      await collection.createIndex({ k: 1 });
      const state = { done: false };
      const writers = [
        repeat(state, () => collection.updateMany({}, { $inc: { a: 1 } })),
        repeat(state, () => collection.updateMany({ k: { $gte: 0 } }, { $inc: { b: 1 } })),
        repeat(state, () => collection.bulkWrite([{ updateMany: { filter: { _id: { $gte: 0 } }, update: [{ $set: { c: { $add: ['$c', 1] } } }], upsert: true } }])),
      ];
      await run(collection.namespace);
      state.done = true;
      const times = await Promise.all(writers);
      for (const [i, field] of ['a', 'b', 'c'].entries()) {
        assert.deepEqual(await collection.distinct(field), [times[i]], field);
      }
      assert.equal(await collection.countDocuments(), ROWS);
      const { valid, errors } = await cluster.db.command({ validate: collection.collectionName, full: true });
      assert.ok(valid, JSON.stringify(errors));
      await collection.drop();
    });
  }

  it('deletes', async () => {
    const collection = await cluster.sharded();
    const state = { done: false };
    let rounds = 0;
    const deleting = (async () => {
      for (; !state.done || rounds < 3; ++rounds) {
        await collection.insertMany(range(500).map((i) => ({ _id: `${rounds} ${i}`, k: i, round: rounds })));
        assert.equal((await collection.deleteMany({ round: rounds, k: { $lt: 400 } })).deletedCount, 400);
      }
    })();
    for (const away of [true, false]) await move(cluster.client, LEAVING, away);
    for (const key of [{ k: 'hashed' }, { _id: 'hashed' }]) await reshard(collection.namespace, key);
    state.done = true;
    await deleting;
    assert.equal(await collection.countDocuments(), rounds * 100);
    assert.equal(await collection.estimatedDocumentCount(), rounds * 100);
    await collection.drop();
  });
});
