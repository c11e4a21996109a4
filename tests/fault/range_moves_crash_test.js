// The whole cluster dies at every step of a move of ranges, away from a shard and back to it: the move is done or undone, the balancer
// goes on, and every acknowledged write is there once.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');
const { MoveLoad } = require('../lib/move_load.js');
const { setDraining, isBalanced, until } = require('../lib/range_moves.js');
const { Server } = require('../lib/server.js');

const ROWS = 3000;
const LEAVING = 2;
const CRASH_STATUS = 137;  // base/fail_point.cc
// Of the moves of two collections.
const PASSES_MIN = 30;
const MISCOUNTED = 'a move has left another number of documents than it took along';

describe('a crash while ranges move', () => {
  const server = new Server();
  let client, load;
  let counted = 0;
  const connect = async () => { client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect(); };
  const rows = () => client.db('test').collection('rows');
  const row = (i) => ({ _id: i, k: i % 97, u: i, text: 'x'.repeat(50), n: i % 97 === 7 ? counted : 0 });
  before(async () => {
    await server.start();
    await connect();
    await client.db('admin').command({ shardCollection: 'test.rows', key: { k: 'hashed' } });
    await client.db('admin').command({ shardCollection: 'test.others', key: { _id: 'hashed' } });
    await rows().insertMany(range(ROWS).map(row));
    await rows().createIndex({ k: 1, u: 1 }, { unique: true });
    await rows().createIndex({ v: 1 });
    load = new MoveLoad(server.uri, 'test.rows', { others: 'test.others', documents: 100 });
  });
  after(async () => {
    await client.close(true);
    await server.remove();
  });

  async function restart(env = {}) {
    await client.close(true);
    await server.stop();
    await server.start({ env });
    await connect();
    load.uri = server.uri;
  }

  // Moves under load; true when the process ended in between and was started again.
  async function moveThroughCrash(away) {
    await load.start();
    await load.progress(10);
    const moved = setDraining(client, LEAVING, away).then(() => until('the move', () => isBalanced(client, LEAVING, !away)));
    const exited = server.exited.then(({ code }) => code);
    const outcome = await Promise.race([moved.then(() => 'moved', (error) => error), exited]);
    if (outcome === 'moved') {
      await load.finish();
      return false;
    }
    // A lost connection is heard of before the end of the process.
    if (outcome instanceof assert.AssertionError) throw outcome;
    assert.equal(await exited, CRASH_STATUS, server.logTail());
    await server.start();
    await load.interrupt();
    await load.start();
    // What was asked for may not have been heard.
    await moved.catch(() => {});
    await setDraining(client, LEAVING, away);
    await until('the rest of the move', () => isBalanced(client, LEAVING, !away));
    await load.progress(50);
    await load.finish();
    return true;
  }

  async function checkAll() {
    const there = await rows().find({ _id: { $type: 'number' } }).sort({ _id: 1 }).toArray();
    assert.deepEqual(there, range(ROWS).map(row));
    const counts = { rows: ROWS + load.known(0).length, others: load.known(1).length };
    for (const [name, count] of Object.entries(counts)) {
      const collection = client.db('test').collection(name);
      assert.equal(await collection.countDocuments({}), count);
      assert.equal(await collection.estimatedDocumentCount(), count);
      assert.equal((await collection.distinct('_id')).length, count);
      const { valid, errors } = await client.db('test').command({ validate: name, full: true });
      assert.ok(valid, JSON.stringify(errors));
    }
  }

  async function checkOrphans() {
    for (const name of ['rows', 'others']) {
      await client.db('admin').command({ cleanupOrphaned: `test.${name}` });
      assert.equal((await client.db('admin').command({ cleanupOrphaned: `test.${name}` })).removed, 0);
      const { shards } = await client.db('test').command({ collStats: name });
      assert.deepEqual(Object.values(shards).filter(({ numOrphanDocs }) => numOrphanDocs !== 0), []);
    }
    assert.ok(!server.stderr.includes(MISCOUNTED), server.logTail());
  }

  // True when the process ended behind so many passes of the point.
  async function crashAt(point, passes, away) {
    await restart({ EVENKEEL_FAIL_POINTS: `${point}=crash:${passes + 1}` });
    const crashed = await moveThroughCrash(away);
    await checkAll();
    await checkOrphans();
    await checkAll();
    const { modifiedCount } = await rows().updateMany({ _id: { $type: 'number' }, k: 7 }, { $inc: { n: 1 } });
    assert.equal(modifiedCount, range(ROWS).filter((i) => i % 97 === 7).length);
    ++counted;
    const { cursor } = await client.db('admin').command({ checkMetadataConsistency: 1 });
    assert.deepEqual(cursor.firstBatch, []);
    return crashed;
  }

  const points = [
    ...[0, 1, 3].map((passes) => ['shard_move_between_slices', passes]),
    ['catalog_job_before_record', 0], ['catalog_job_after_record', 0], ['catalog_job_before_last', 0],
    ['catalog_job_before_record', 1], ['catalog_job_after_record', 1], ['catalog_job_before_last', 1],
  ];
  for (const [point, passes] of points) {
    it(`${point}, ${passes} passes before`, async () => {
      for (const away of [true, false]) assert.ok(await crashAt(point, passes, away), `away: ${away}`);
    });
  }

  // As both collections have equally many passes, an odd number, most of them are met in both directions.
  it('catalog_job_between_shards, at every pass', async () => {
    let passes = 0;
    while (await crashAt('catalog_job_between_shards', passes, passes % 2 === 0)) ++passes;
    assert.ok(passes >= PASSES_MIN, `${passes} passes`);
  });
});
