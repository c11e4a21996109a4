// The whole cluster dies at every step of a move of ranges: the move is done or undone, the balancer goes on, and all documents are
// there once.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');
const { setDraining, isBalanced, until } = require('../lib/range_moves.js');
const { Server } = require('../lib/server.js');

const ROWS = 3000;
const LEAVING = 2;

describe('a crash while ranges move', () => {
  const server = new Server();
  let client;
  let away = false;
  let written = 0;
  const connect = async () => { client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect(); };
  const rows = () => client.db('test').collection('rows');
  before(async () => {
    await server.start();
    await connect();
    await client.db('admin').command({ shardCollection: 'test.rows', key: { _id: 'hashed' } });
    await rows().insertMany(range(ROWS).map((i) => ({ _id: i, k: i % 97, text: 'x'.repeat(50) })));
    await rows().createIndex({ k: 1 });
  });
  after(async () => {
    await client.close(true);
    await server.remove();
  });

  // Writes until the process dies; counts what was acknowledged.
  async function write(until_) {
    while (!until_.done) {
      try {
        await rows().insertOne({ _id: `w${written}`, k: 1000 });
        ++written;
      } catch {
        return;
      }
    }
  }

  const points = [
    ...range(12).map((passes) => ['catalog_job_between_shards', passes]),
    ...[0, 1, 3].map((passes) => ['shard_move_between_slices', passes]),
    ['catalog_job_after_record', 0], ['catalog_job_before_record', 0], ['catalog_job_before_last', 0],
  ];
  for (const [point, passes] of points) {
    it(`${point}, ${passes} passes before`, async () => {
      await client.close(true);
      await server.stop();
      await server.start({ env: { EVENKEEL_FAIL_POINTS: `${point}=crash:${passes + 1}` } });
      await connect();
      away = !away;
      const state = { done: false };
      const writing = write(state);
      const wanted = setDraining(client, LEAVING, away).then(() => until('the move', () => isBalanced(client, LEAVING, !away)));
      const survived = await Promise.race([wanted.then(() => true, () => false), server.exited.then(() => false)]);
      state.done = true;
      if (!survived) await client.close(true);
      await writing;
      if (!survived) {
        await server.exited;
        await wanted.catch(() => {});
        await server.start();
        await connect();
        // What was asked for may not have been heard.
        await setDraining(client, LEAVING, away).catch(() => {});
        await until('the rest of the move', () => isBalanced(client, LEAVING, !away));
      }
      const acknowledged = await rows().countDocuments({ k: 1000 });
      assert.ok(acknowledged === written || acknowledged === written + 1, `${acknowledged} of ${written}`);
      written = acknowledged;
      assert.equal(await rows().countDocuments({}), ROWS + written);
      assert.equal(await rows().estimatedDocumentCount(), ROWS + written);
      assert.equal((await rows().distinct('_id')).length, ROWS + written);
      const { modifiedCount } = await rows().updateMany({ k: 7 }, { $inc: { n: 1 } });
      assert.equal(modifiedCount, range(ROWS).filter((i) => i % 97 === 7).length);
      const { valid, errors } = await client.db('test').command({ validate: 'rows', full: true });
      assert.ok(valid, JSON.stringify(errors));
      const { cursor } = await client.db('admin').command({ checkMetadataConsistency: 1 });
      assert.deepEqual(cursor.firstBatch, []);
      await client.db('admin').command({ cleanupOrphaned: 'test.rows' });
      const again = await client.db('test').command({ validate: 'rows', full: true });
      assert.ok(again.valid, JSON.stringify(again.errors));
      assert.equal(await rows().countDocuments({}), ROWS + written);
    });
  }
});
