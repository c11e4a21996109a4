// Routers and shards as processes of their own: the order of start, two routers over one catalog, shards that go and hang.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { binary } = require('../lib/server.js');
const { ProcessCluster, RouterProcess, ShardProcess } = require('../lib/processes.js');
const { CLIENT_OPTIONS, errorOf, range } = require('../lib/cluster.js');

describe('two routers and three shards', () => {
  let cluster;
  const clients = [];
  let [a, b] = [];

  before(async () => {
    cluster = await ProcessCluster.create();
    // Routers first: they wait for the shards.
    const routers = Promise.all(cluster.routers.map((router) => router.start()));
    await Promise.all(cluster.shards.map((shard) => shard.start()));
    await routers;
    for (const router of cluster.routers) clients.push(await new MongoClient(router.uri, CLIENT_OPTIONS).connect());
    [a, b] = clients.map((client) => client.db('many'));
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await cluster.remove();
  });

  it('both routers found one cluster', async () => {
    const ids = await Promise.all(clients.map(async (client) => (await client.db('config').collection('version').findOne()).clusterId.toHexString()));
    assert.equal(ids[0], ids[1]);
    assert.equal(await clients[0].db('config').collection('mongos').countDocuments(), 2);
    assert.deepEqual((await clients[1].db('config').collection('shards').find().sort({ _id: 1 }).toArray()).map((shard) => shard._id), ['shard0', 'shard1', 'shard2']);
  });

  it('what one router changes in the catalog the other sees at once', async () => {
    await clients[0].db('admin').command({ shardCollection: 'many.seen', key: { _id: 'hashed' } });
    await b.collection('seen').insertMany(range(300).map((i) => ({ _id: i, x: i % 3 })));
    assert.equal(await a.collection('seen').countDocuments({ x: 1 }), 100);
    await a.collection('seen').createIndex({ x: 1 });
    assert.deepEqual((await b.collection('seen').indexes()).map((index) => index.name), ['_id_', 'x_1']);
    await b.collection('seen').drop();
    assert.equal(await a.collection('seen').countDocuments(), 0);
    await a.collection('seen').insertOne({ _id: 1 });
    assert.deepEqual(await b.collection('seen').find().toArray(), [{ _id: 1 }]);
    await b.collection('seen').rename('renamed');
    assert.equal(await a.collection('renamed').countDocuments(), 1);
    assert.equal(await a.collection('seen').countDocuments(), 0);
  });

  it('cursors, batches, errors and aggregation over remote shards', async () => {
    await clients[0].db('admin').command({ shardCollection: 'many.big', key: { _id: 'hashed' } });
    const big = a.collection('big');
    await big.insertMany(range(10_000).map((i) => ({ _id: i, group: i % 7, text: 'x'.repeat(200) })));
    assert.deepEqual((await b.collection('big').find().sort({ _id: 1 }).project({ _id: 1 }).toArray()).map((d) => d._id), range(10_000));
    const groups = await b.collection('big').aggregate([{ $group: { _id: '$group', n: { $sum: 1 } } }, { $sort: { _id: 1 } }]).toArray();
    assert.equal(groups.reduce((sum, group) => sum + group.n, 0), 10_000);
    assert.equal((await errorOf(big.insertOne({ _id: 5 }))).code, 11000);
    assert.equal((await errorOf(big.find({ $nonsense: 1 }).toArray())).code, 2);
    assert.equal((await big.updateOne({ group: 3, text: /^x/ }, { $set: { chosen: true } })).modifiedCount, 1);
    assert.equal(await b.collection('big').countDocuments({ chosen: true }), 1);
  });

  it('a shard that is restarted loses nothing, and clients only wait', async () => {
    const rows = a.collection('big');
    const acknowledged = [];
    let stop = false;
    const writer = (async () => {
      for (let i = 20_000; !stop; ++i) {
        await rows.insertOne({ _id: i });
        acknowledged.push(i);
      }
    })();
    for (const shard of cluster.shards) {
      await shard.kill();
      await shard.start();
    }
    stop = true;
    await writer;
    const found = new Set((await b.collection('big').find({ _id: { $gte: 20_000 } }).toArray()).map((d) => d._id));
    for (const id of acknowledged) assert.ok(found.has(id), `${id} is lost`);
    assert.ok(acknowledged.length > 0);
  });

  it('a shard that hangs fails what needs it within maxTimeMS; the rest goes on', async () => {
    const rows = b.collection('big');
    // One document per shard, by what explain says.
    const owner = new Map();
    for (let i = 0; owner.size < 3; ++i) {
      const plan = await rows.find({ _id: i }).explain();
      owner.set(plan.queryPlanner.winningPlan.shards[0].shardName, i);
    }
    await cluster.shards[1].freeze();
    try {
      const started = Date.now();
      const error = await errorOf(rows.find({ _id: owner.get('shard1') }).maxTimeMS(1000).toArray());
      assert.equal(error.code, 50);
      assert.ok(Date.now() - started < 8_000);
      assert.equal((await rows.findOne({ _id: owner.get('shard0') }))._id, owner.get('shard0'));
    } finally {
      cluster.shards[1].thaw();
    }
    assert.equal((await rows.findOne({ _id: owner.get('shard1') }))._id, owner.get('shard1'));
  });

  it('a router that dies takes only its own cursors with it', async () => {
    const router = await new RouterProcess({ file: cluster.file }).start();
    const client = await new MongoClient(router.uri, { ...CLIENT_OPTIONS, serverSelectionTimeoutMS: 1_000 }).connect();
    const cursor = client.db('many').collection('big').find().batchSize(10);
    assert.ok(await cursor.next());
    await router.kill();
    assert.ok(await errorOf(cursor.toArray()));
    await client.close(true);
    assert.ok(await a.collection('big').countDocuments() >= 10_000);
  });

  it('a router with another key is refused', async () => {
    const file = path.join(cluster.folder, 'wrong.yaml');
    fs.writeFileSync(file, fs.readFileSync(cluster.file, 'utf8').replace(/key: .*/, 'key: "another key of 24 bytes"'));
    const error = await errorOf(new RouterProcess({ file }).start());
    assert.equal(error.exitCode, 1);
    assert.match(error.message, /another cluster key/);
  });

  it('a shard refuses clients', async () => {
    const client = new MongoClient(`mongodb://${cluster.shards[0].uri}/`, { ...CLIENT_OPTIONS, serverSelectionTimeoutMS: 1_000 });
    const error = await errorOf(client.connect());
    assert.ok(error);
    await client.close(true);
    assert.ok(await a.collection('big').findOne());
  });
});

describe('what keeps a process from starting', () => {
  let cluster;
  before(async () => { cluster = await ProcessCluster.create({ routers: 0 }); });
  after(() => cluster.remove());

  it('data of another shard', async () => {
    await cluster.shards[0].start();
    assert.equal(await cluster.shards[0].stop(), 0);
    const error = await errorOf(new ShardProcess({ file: cluster.file, number: 1, data: cluster.shards[0].data }).start());
    assert.equal(error.exitCode, 1);
    assert.match(error.message, /shard0/);
  });

  for (const [name, text, wanted] of [
    ['no YAML', 'shards: [', /line 1/],
    ['an unknown key', 'kee: x\nshards: []\n', /line 1: unknown key 'kee'/],
    ['no key', 'shards:\n  - {id: shard0, address: "h:1"}\n', /'key' is missing/],
    ['a short key', 'key: short\nshards: []\n', /line 1: 'key': the key needs at least 16 bytes/],
    ['no shards', 'key: "0123456789abcdef"\n', /'shards' is missing/],
    ['a shard out of order', 'key: "0123456789abcdef"\nshards:\n  - {id: shard1, address: "h:1"}\n', /line 3: 'id' is 'shard1'/],
    ['a bad address', 'key: "0123456789abcdef"\nshards:\n  - {id: shard0, address: "h"}\n', /line 3: 'address' must be host:port, not 'h'/],
    ['one address twice', 'key: "0123456789abcdef"\nshards:\n  - {id: shard0, address: "h:1"}\n  - {id: shard1, address: "h:1"}\n', /line 4: two shards have the address h:1/],
    ['a key file that is not there', 'key-file: /nowhere/key\nshards: []\n', /line 1: cannot read the key file \/nowhere\/key/],
  ]) {
    it(`a cluster file with ${name}`, () => {
      const file = path.join(cluster.folder, 'bad.yaml');
      fs.writeFileSync(file, text);
      const run = spawnSync(binary(), ['router', '--cluster', file, '--port', '0'], { encoding: 'utf8', timeout: 20_000 });
      assert.equal(run.status, 1);
      assert.match(run.stderr, wanted);
      assert.ok(run.stderr.includes(file), run.stderr);
    });
  }
});
