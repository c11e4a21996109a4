// A router that dies in the middle of a DDL job: another one finishes the job or undoes it, and nothing is left half-done.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { ProcessCluster, RouterProcess } = require('../lib/processes.js');
const { CLIENT_OPTIONS, errorOf, range } = require('../lib/cluster.js');

const TAKEN_OVER_MS_MAX = 90_000;  // 30 s of silence and what the machine adds

// The points lie before and behind the point of no return; what the collection is afterwards may differ, but not between shards.
const POINTS = ['catalog_job_after_record', 'catalog_job_between_shards', 'catalog_job_before_last'];

describe('a router dies in a DDL job', () => {
  let cluster, client;
  before(async () => {
    cluster = await (await ProcessCluster.create({ routers: 1 })).start();
    client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
  });
  after(async () => {
    await client?.close();
    await cluster.remove();
  });

  it('its jobs are finished or undone by another router', async () => {
    const db = client.db('jobs');
    for (const point of POINTS) {
      await client.db('admin').command({ shardCollection: `jobs.${point}`, key: { _id: 'hashed' } });
      await db.collection(point).insertMany(range(300).map((i) => ({ _id: i, a: i % 7 })));
    }
    // One router per point, each dies in createIndexes.
    await Promise.all(POINTS.map(async (point) => {
      const router = await new RouterProcess({ file: cluster.file }).start({ env: { EVENKEEL_FAIL_POINTS: `${point}=crash:1` } });
      const doomed = await new MongoClient(router.uri, { ...CLIENT_OPTIONS, serverSelectionTimeoutMS: 500 }).connect();
      const gone = router.exited;
      await errorOf(doomed.db('jobs').collection(point).createIndex({ a: 1 }));
      await gone;
      await doomed.close(true);
    }));
    assert.ok(await client.db('config').collection('jobs').countDocuments() > 0, 'no job was left: the points were not reached');

    const end = Date.now() + TAKEN_OVER_MS_MAX;
    while (await client.db('config').collection('jobs').countDocuments() > 0) {
      assert.ok(Date.now() < end, 'the jobs were not taken over');
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    for (const point of POINTS) {
      const collection = db.collection(point);
      const names = (await collection.indexes()).map((index) => index.name);
      assert.ok(names.length === 1 || names[1] === 'a_1', `${point}: ${names}`);
      assert.equal((await db.command({ validate: point })).valid, true, point);
      assert.equal(await collection.countDocuments({ a: 3 }), 43, point);
      // The name is free for the next job.
      await collection.createIndex({ a: 1 });
      assert.equal(await collection.countDocuments({ a: 3 }, { hint: 'a_1' }), 43, point);
    }
  });
});
