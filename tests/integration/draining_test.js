// With the balancer on: a new shard gets its part, a draining one gives all it has away, while clients write through two routers.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { ProcessCluster } = require('../lib/processes.js');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');

const PATIENCE_MS = 120_000;

describe('a cluster that grows and shrinks', () => {
  let cluster;
  const clients = [];
  before(async () => {
    cluster = await (await ProcessCluster.create({ shards: 2 })).start();
    for (const router of cluster.routers) clients.push(await new MongoClient(router.uri, CLIENT_OPTIONS).connect());
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.close(true)));
    await cluster.remove();
  });
  const admin = (command, at = 0) => clients[at].db('admin').command(command);

  async function until(what, check) {
    for (const end = Date.now() + PATIENCE_MS; !(await check());) {
      assert.ok(Date.now() < end, `${what} did not happen`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  // The owners of a collection's ranges, as tools see them.
  async function owners(ns) {
    const { uuid } = await clients[0].db('config').collection('collections').findOne({ _id: ns });
    return (await clients[0].db('config').collection('chunks').distinct('shard', { uuid })).sort();
  }

  it('shards come and go under writers', async () => {
    await admin({ shardCollection: 'g.rows', key: { _id: 'hashed' } });
    const [a, b] = clients.map((client) => client.db('g'));
    await a.collection('rows').insertMany(range(2000).map((i) => ({ _id: i, n: 0 })));
    await a.collection('plain').insertMany(range(100).map((i) => ({ _id: i })));
    let stop = false, written = 2000;
    const writer = (async () => {
      for (; !stop; ++written) {
        await (written % 2 ? a : b).collection('rows').insertOne({ _id: written, n: 0 });
        await b.collection('rows').updateOne({ _id: written % 2000 }, { $inc: { n: 1 } });
      }
    })();
    const shard = await cluster.newShard();
    assert.equal((await admin({ addShard: shard.address }, 1)).shardAdded, 'shard2');
    await until('ranges on the new shard', async () => (await owners('g.rows')).includes('shard2'));

    await admin({ moveCollection: 'g.plain', toShard: 'shard1' });
    assert.equal((await admin({ removeShard: 'shard1' })).state, 'started');
    await until('the removal', async () => (await admin({ removeShard: 'shard1' }, 1)).state === 'completed');
    await cluster.shards[1].kill();
    await new Promise((resolve) => setTimeout(resolve, 500));
    stop = true;
    await writer;

    assert.deepEqual(await owners('g.rows'), ['shard0', 'shard2']);
    for (const db of [a, b]) {
      assert.equal(await db.collection('plain').countDocuments(), 100);
      assert.equal(await db.collection('rows').countDocuments(), written);
      assert.deepEqual((await db.collection('rows').aggregate([{ $group: { _id: 0, n: { $sum: '$n' } } }]).toArray())[0].n, written - 2000);
    }
    // A restarted router finds its cluster, though the file still names the shard that has gone.
    assert.equal(await cluster.routers[0].stop(), 0);
    await cluster.routers[0].start();
    const client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
    assert.equal(await client.db('g').collection('rows').countDocuments(), written);
    await client.close();
  });
});
