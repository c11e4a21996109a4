// Shards that come and go while the cluster runs: addShard, draining, removeShard, with two routers as processes and in one process.
'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { Server, binary } = require('../lib/server.js');
const { NewShardProcess, ProcessCluster, RouterProcess, ShardProcess } = require('../lib/processes.js');
const { until } = require('../lib/range_moves.js');
const { CLIENT_OPTIONS, errorOf, range } = require('../lib/cluster.js');

const shardsOf = async (client) => (await client.db('config').collection('shards').find().sort({ _id: 1 }).toArray()).map((row) => row._id);
const admin = (client, command) => client.db('admin').command(command);

describe('shards of a cluster of processes', () => {
  let cluster;
  const clients = [];

  before(async () => {
    cluster = await (await ProcessCluster.create()).start();
    for (const router of cluster.routers) clients.push(await new MongoClient(router.uri, CLIENT_OPTIONS).connect());
    await admin(clients[0], { balancerStop: 1 });
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.close(true)));
    await cluster.remove();
  });

  it('one router adds a shard, the other one uses it at once', async () => {
    const shard = await cluster.newShard();
    assert.deepEqual((await admin(clients[0], { addShard: shard.address })).shardAdded, 'shard3');
    await clients[1].db('t').collection('moved').insertMany(range(100).map((i) => ({ _id: i })));
    await admin(clients[1], { moveCollection: 't.moved', toShard: 'shard3' });
    assert.equal((await clients[1].db('config').collection('catalog').findOne({ _id: 't.moved' })).primary, 3);
    assert.equal(await clients[0].db('t').collection('moved').countDocuments({ _id: { $gte: 50 } }), 50);
    await clients[0].db('t').collection('moved').updateMany({}, { $set: { seen: true } });
    assert.equal(await clients[1].db('t').collection('moved').countDocuments({ seen: true }), 100);
    assert.deepEqual(await shardsOf(clients[1]), ['shard0', 'shard1', 'shard2', 'shard3']);
    const map = (await admin(clients[1], { getShardMap: 1 })).map;
    assert.equal(map.shard3, `shard3/${shard.address}`);
  });

  it('adding it again gives the same name', async () => {
    const [shard] = cluster.added;
    assert.equal((await admin(clients[1], { addShard: `shard3/${shard.address}` })).shardAdded, 'shard3');
    assert.equal((await admin(clients[0], { addShard: shard.address, name: 'shard3' })).shardAdded, 'shard3');
    assert.equal((await shardsOf(clients[0])).length, 4);
  });

  it('what cannot be added', async () => {
    const [port] = [cluster.routers[0].port];
    for (const [command, code, message] of [
      [{ addShard: 'nohost' }, 2, /host:port/],
      [{ addShard: 'a:1,b:2' }, 2, /one address/],
      [{ addShard: 7 }, 14, /addShard/],
      [{ addShard: cluster.added[0].address, name: 'mine' }, 2, /cannot be called 'mine'/],
      [{ addShard: `127.0.0.1:${port}` }, 96, /when attempting to add shard/],
      [{ addShard: '127.0.0.1:1' }, 96, /when attempting to add shard/],
    ]) {
      const error = await errorOf(admin(clients[0], command));
      assert.equal(error.code, code, `${JSON.stringify(command)}: ${error.message}`);
      assert.match(error.message, message);
    }
  });

  it('a shard keeps its number when it is restarted, and so do the routers', async () => {
    const [shard] = cluster.added;
    assert.equal(await shard.stop(), 0);
    await shard.start();
    assert.equal(await clients[0].db('t').collection('moved').countDocuments({ seen: true }), 100);
    const router = await new RouterProcess({ file: cluster.file }).start();
    const client = await new MongoClient(router.uri, CLIENT_OPTIONS).connect();
    assert.equal(await client.db('t').collection('moved').countDocuments({ seen: true }), 100);
    await client.close();
    assert.equal(await router.stop(), 0);
  });

  it('two routers that add at once give different numbers; one process gets one', async () => {
    const [x, y] = [await cluster.newShard(), await cluster.newShard()];
    const added = await Promise.all([
      admin(clients[0], { addShard: x.address }), admin(clients[1], { addShard: y.address }), admin(clients[1], { addShard: x.address }),
    ]);
    assert.equal(added[0].shardAdded, added[2].shardAdded);
    assert.notEqual(added[0].shardAdded, added[1].shardAdded);
    const rows = await clients[0].db('config').collection('shards').find({}).toArray();
    assert.equal(rows.length, 6);
    assert.equal(new Set(rows.map((row) => row.host)).size, 6);
  });

  it('a shard with collections is drained, and removed once they are gone', async () => {
    await admin(clients[0], { moveCollection: 't.moved', toShard: 'shard3' });
    await clients[0].db('t').createCollection('other');
    await admin(clients[0], { moveCollection: 't.other', toShard: 'shard2' });
    const started = await admin(clients[0], { removeShard: 'shard3' });
    assert.deepEqual([started.msg, started.state, started.shard], ['draining started successfully', 'started', 'shard3']);
    assert.deepEqual(started.collectionsToMove, ['t.moved']);
    assert.equal((await admin(clients[1], { listShards: 1 })).shards.find((row) => row._id === 'shard3').draining, true);
    const ongoing = await admin(clients[1], { removeShard: 'shard3' });
    assert.deepEqual([ongoing.msg, ongoing.state], ['draining ongoing', 'ongoing']);
    assert.deepEqual([ongoing.remaining.chunks, ongoing.remaining.dbs, ongoing.dbsToMove], [0, 1, ['t']]);
    assert.equal((await errorOf(admin(clients[1], { commitShardRemoval: 'shard3' }))).code, 20);
    await admin(clients[1], { moveCollection: 't.other', toShard: 'shard1' });
    assert.equal((await errorOf(admin(clients[1], { moveCollection: 't.other', toShard: 'shard3' }))).code, 20);
    // Nothing new comes to it.
    for (const i of range(8)) await clients[i % 2].db('fresh').createCollection(`c${i}`);
    assert.equal(await clients[0].db('config').collection('catalog').countDocuments({ _id: /^fresh\./, primary: 3 }), 0);
    await admin(clients[0], { moveCollection: 't.moved', toShard: 'shard1' });
    const done = await admin(clients[1], { removeShard: 'shard3' });
    assert.deepEqual([done.msg, done.state, done.shard], ['removeshard completed successfully', 'completed', 'shard3']);
    for (const client of clients) {
      assert.ok(!(await shardsOf(client)).includes('shard3'));
      assert.equal(await client.db('t').collection('moved').countDocuments(), 100);
    }
    assert.equal((await errorOf(admin(clients[0], { removeShard: 'shard3' }))).code, 70);
    assert.equal((await errorOf(admin(clients[0], { moveCollection: 't.moved', toShard: 'shard3' }))).code, 70);
    // Its data are old: it does not come back with them.
    assert.equal((await errorOf(admin(clients[0], { addShard: cluster.added[0].address }))).code, 96);
    await cluster.added[0].kill();
  });

  it('the steps as commands of their own; a number is never given twice', async () => {
    const shard = await cluster.newShard();
    const { shardAdded: name } = await admin(clients[0], { addShard: shard.address });
    assert.equal((await errorOf(admin(clients[0], { shardDrainingStatus: name }))).code, 20);
    await admin(clients[0], { startShardDraining: name });
    const status = await admin(clients[1], { shardDrainingStatus: name });
    assert.deepEqual([status.state, status.remaining.chunks], ['drainingComplete', 0]);
    await admin(clients[0], { stopShardDraining: name });
    assert.equal((await errorOf(admin(clients[0], { commitShardRemoval: name }))).code, 20);
    await admin(clients[0], { startShardDraining: name });
    await admin(clients[1], { commitShardRemoval: name });
    const again = await cluster.newShard();
    const { shardAdded: next } = await admin(clients[1], { addShard: again.address });
    assert.equal(Number(next.slice(5)), Number(name.slice(5)) + 1);
  });

  it('a shard with ranges stays while the balancer is off', async () => {
    assert.equal((await admin(clients[0], { removeShard: 'shard2' })).state, 'started');
    const ongoing = await admin(clients[0], { removeShard: 'shard2' });
    assert.equal(ongoing.state, 'ongoing');
    assert.ok(ongoing.remaining.chunks > 0);
    const status = await admin(clients[0], { clusterStatus: 1 });
    assert.deepEqual(status.shards.filter((row) => row.draining).map((row) => row._id), ['shard2']);
    const table = spawnSync(binary(), ['status', '--port', String(cluster.routers[0].port)], { encoding: 'utf8' });
    assert.match(table.stdout, /^shard2 .* up, draining /m);
    await admin(clients[1], { stopShardDraining: 'shard2' });
    assert.ok((await shardsOf(clients[0])).includes('shard2'));
  });

  it('what cannot be removed', async () => {
    for (const command of ['removeShard', 'startShardDraining']) {
      const error = await errorOf(admin(clients[0], { [command]: 'shard0' }));
      assert.equal(error.code, 20);
      assert.match(error.message, /catalog/);
      assert.equal((await errorOf(admin(clients[0], { [command]: 'shard99' }))).code, 70);
    }
    assert.equal((await errorOf(clients[0].db('t').command({ removeShard: 'shard1' }))).code, 13);
  });
});

describe('collections that are made while a shard is removed', () => {
  let cluster;
  before(async () => { cluster = await (await ProcessCluster.create({ shards: 1 })).start(); });
  after(() => cluster.remove());

  it('all come to lie on shards that stay', async () => {
    const clients = await Promise.all(cluster.routers.map((router) => new MongoClient(router.uri, CLIENT_OPTIONS).connect()));
    await admin(clients[0], { balancerStop: 1 });
    const made = [];
    for (const round of range(3)) {
      const shard = await cluster.newShard();
      const { shardAdded: name } = await admin(clients[0], { addShard: shard.address });
      let stop = false;
      const makers = clients.map(async (client, maker) => {
        for (let i = 0; !stop; ++i) {
          const collection = `c${round}_${maker}_${i}`;
          await client.db('made').collection(collection).insertOne({ _id: i });
          made.push(collection);
        }
      });
      let state;
      while (state !== 'completed') {
        const reply = await admin(clients[round % 2], { removeShard: name });
        state = reply.state;
        for (const ns of reply.collectionsToMove ?? []) await admin(clients[round % 2], { moveCollection: ns, toShard: 'shard0' });
      }
      await shard.kill();
      stop = true;
      await Promise.all(makers);
    }
    assert.equal(await clients[0].db('config').collection('catalog').countDocuments({ primary: { $ne: 0 } }), 0);
    for (const collection of made) assert.equal(await clients[1].db('made').collection(collection).countDocuments(), 1, collection);
    await Promise.all(clients.map((client) => client.close()));
  });
});

describe('addShard that a crash interrupts', () => {
  let cluster;
  before(async () => {
    cluster = await ProcessCluster.create({ shards: 1, routers: 2 });
    for (const router of cluster.routers) router.args.push('--enable-test-commands');
    await cluster.start();
  });
  after(() => cluster.remove());

  for (const point of ['catalog_shard_before_identity', 'catalog_shard_before_row']) {
    it(`at ${point} is repeated by another router`, async () => {
      const shard = await cluster.newShard();
      const client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
      await admin(client, { configureFailPoint: point, mode: 'alwaysOn', data: { action: 'crash' } });
      assert.ok(await errorOf(admin(client, { addShard: shard.address })));
      await client.close(true);
      await cluster.routers[0].exited;
      const other = await new MongoClient(cluster.routers[1].uri, CLIENT_OPTIONS).connect();
      // Where the process had its number from, it keeps it.
      await shard.kill();
      await shard.start();
      const { shardAdded } = await admin(other, { addShard: shard.address });
      assert.deepEqual((await other.db('config').collection('shards').find({ host: `${shardAdded}/${shard.address}` }).toArray()).map((row) => row._id), [shardAdded]);
      await other.db('t').createCollection(point);
      await admin(other, { moveCollection: `t.${point}`, toShard: shardAdded });
      await other.close(true);
      await cluster.routers[0].start();
    });
  }
});

describe('a new shard that dies while it gets its identity', () => {
  it('is added when it is back', async () => {
    const cluster = await (await ProcessCluster.create({ shards: 1, routers: 1 })).start();
    const client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
    try {
      for (const [point, name] of [['storage_writer_before_batch', 'shard1'], ['storage_log_after_sync', 'shard2']]) {
        const shard = await cluster.newShard({ EVENKEEL_FAIL_POINTS: `${point}=crash` });
        const adding = errorOf(admin(client, { addShard: shard.address }));
        await shard.exited;
        await adding;
        await shard.start();
        assert.equal((await admin(client, { addShard: shard.address })).shardAdded, name);
      }
    } finally {
      await client.close(true);
      await cluster.remove();
    }
  });
});

describe('a new shard that the cluster file of its host names', () => {
  it('has the number that it says, if that is the next one', async () => {
    const cluster = await (await ProcessCluster.create({ shards: 1, routers: 1 })).start();
    const client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
    try {
      const [one, two] = [await cluster.newShard(), await cluster.newShard()].map((shard) => shard.port);
      for (const shard of cluster.added) await shard.kill();
      const file = path.join(cluster.folder, 'longer.yaml');
      fs.writeFileSync(file, `${fs.readFileSync(cluster.file, 'utf8')}  - {id: shard1, address: "127.0.0.1:${one}"}\n  - {id: shard2, address: "127.0.0.1:${two}"}\n`);
      for (const number of [1, 2]) cluster.shards.push(await new ShardProcess({ file, number, data: path.join(cluster.folder, `named${number}`) }).start());
      assert.equal((await errorOf(admin(client, { addShard: `127.0.0.1:${two}` }))).code, 96);
      // A router that was told of them all goes by the catalog.
      const router = await new RouterProcess({ file }).start();
      cluster.routers.push(router);
      assert.match(router.stderr, /names a shard that is not in the cluster/);
      for (const [port, name] of [[one, 'shard1'], [two, 'shard2']]) {
        assert.equal((await admin(client, { addShard: `127.0.0.1:${port}` })).shardAdded, name);
      }
    } finally {
      await client.close(true);
      await cluster.remove();
    }
  });
});

describe('a shard that waits to be added', () => {
  it('refuses clients and ends cleanly', async () => {
    const cluster = await ProcessCluster.create({ routers: 0 });
    try {
      const shard = await cluster.newShard();
      assert.match(shard.stdout, /a new shard/);
      assert.equal(await shard.stop(), 0);
      const named = new NewShardProcess({ file: cluster.file, args: ['--id', 'shard7'] });
      assert.match((await errorOf(named.start())).message, /a new shard is started without --id/);
      await named.remove();
    } finally {
      await cluster.remove();
    }
  });
});

describe('shards of one process', () => {
  it('a start with more shards adds them, one with fewer is refused', async () => {
    const server = await new Server({ shards: 2 }).start();
    let client;
    try {
      client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect();
      await client.db('t').collection('c').insertOne({ _id: 1 });
      assert.equal((await errorOf(admin(client, { addShard: '127.0.0.1:1' }))).code, 20);
      await client.close();
      assert.equal(await server.stop(), 0);

      server.shards = 4;
      await server.start();
      client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect();
      assert.deepEqual(await shardsOf(client), ['shard0', 'shard1', 'shard2', 'shard3']);
      await admin(client, { moveCollection: 't.c', toShard: 'shard3' });
      assert.equal((await admin(client, { removeShard: 'shard2' })).state, 'started');
      // The balancer gives its ranges to others first.
      await until('the removal', async () => (await admin(client, { removeShard: 'shard2' })).state === 'completed');
      await client.close();
      assert.equal(await server.stop(), 0);

      server.shards = 2;
      assert.match((await errorOf(server.start())).message, /removeShard/);
      server.shards = 3;
      await server.start();
      client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect();
      assert.deepEqual(await shardsOf(client), ['shard0', 'shard1', 'shard3']);
      assert.deepEqual(await client.db('t').collection('c').find().toArray(), [{ _id: 1 }]);
      await client.close();
      assert.equal(await server.stop(), 0);

      server.shards = 4;
      await server.start();
      client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect();
      assert.deepEqual(await shardsOf(client), ['shard0', 'shard1', 'shard3', 'shard4']);
      const error = await errorOf(admin(client, { removeShard: 'shard0' }));
      assert.equal(error.code, 20);
      await client.close();
    } finally {
      await client?.close(true);
      await server.remove();
    }
  });

  it('the last one stays', async () => {
    const server = await new Server({ shards: 1 }).start();
    const client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect();
    try {
      assert.match((await errorOf(admin(client, { removeShard: 'shard0' }))).message, /last shard/);
    } finally {
      await client.close();
      await server.remove();
    }
  });
});
