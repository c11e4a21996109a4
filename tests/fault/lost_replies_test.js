// A shard's reply to a router is lost anywhere in a change of the catalog: it is made or not, nothing is left half-done, and the name is
// free for another router's changes soon.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { ProcessCluster, RouterProcess } = require('../lib/processes.js');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');

const ROWS = 200;
// More replies than any of these jobs waits for.
const PASSES_MAX = 40;
// The shards' replies to the setting of the point, which come first.
const SETTING = 3;
const JOB_MS_MAX = 60_000;

describe('a reply to a router that changes the catalog is lost', () => {
  let cluster, client, other;
  before(async () => {
    cluster = await ProcessCluster.create({ routers: 1 });
    cluster.routers.push(new RouterProcess({ file: cluster.file, args: ['--enable-test-commands'] }));
    await cluster.start();
    [other, client] = await Promise.all(cluster.routers.map(({ uri }) => new MongoClient(uri, { ...CLIENT_OPTIONS, retryReads: false }).connect()));
  });
  after(async () => {
    await client?.close(true);
    await other?.close(true);
    await cluster.remove();
  });

  const point = (mode, data) => client.db('admin').command({ configureFailPoint: 'router_drop_reply', mode, ...(data && { data }) });

  // Runs it with the reply behind `passes` others lost. True when one was.
  async function loseReply(passes, run) {
    await point({ skip: SETTING + passes }, { action: 'once' });
    await run().catch((error) => assert.ok(error.code, error.stack));
    const { count } = await point('off');
    return count > 0;
  }

  async function checkCatalog(name) {
    const jobs = other.db('config').collection('jobs');
    for (const end = Date.now() + JOB_MS_MAX; await jobs.countDocuments() > 0;) {
      assert.ok(Date.now() < end, JSON.stringify(await jobs.find({}, { projection: { steps: 0, undo: 0 } }).toArray()));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { cursor } = await other.db('admin').command({ checkMetadataConsistency: 1 });
    assert.deepEqual(cursor.firstBatch, []);
    for (const each of [client, other]) {
      if (await each.db('test').collection(name).countDocuments() === 0) continue;
      assert.equal(await each.db('test').collection(name).countDocuments({ a: { $lt: 3 } }), range(ROWS).filter((i) => i % 7 < 3).length);
      const { valid, errors } = await each.db('test').command({ validate: name, full: true });
      assert.ok(valid, JSON.stringify(errors));
    }
  }

  async function fill(name) {
    await other.db('admin').command({ shardCollection: `test.${name}`, key: { _id: 'hashed' } });
    await other.db('test').collection(name).insertMany(range(ROWS).map((i) => ({ _id: i, a: i % 7 })));
  }

  for (const [what, run] of [
    ['createIndexes', (name) => client.db('test').collection(name).createIndex({ a: 1 })],
    ['renameCollection', (name) => client.db('test').collection(name).rename(`${name}_new`)],
    ['drop', (name) => client.db('test').collection(name).drop()],
    ['reshardCollection', (name) => client.db('admin').command({ reshardCollection: `test.${name}`, key: { a: 'hashed' } })],
  ]) {
    it(what, async () => {
      let lost = 0;
      for (let passes = 0; passes < PASSES_MAX; ++passes) {
        const name = `${what}${passes}`;
        await fill(name);
        await client.db('test').collection(name).findOne();  // its route is known
        if (!await loseReply(passes, () => run(name))) break;
        ++lost;
        await checkCatalog(name);
        await other.db('test').collection(name).createIndex({ b: 1 });
        await other.db('test').collection(name).drop();
        await other.db('test').collection(`${name}_new`).drop();
      }
      assert.ok(lost > 5, `${lost} replies`);
    });
  }
});
