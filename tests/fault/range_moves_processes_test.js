// One process of a cluster dies, hangs or stops while ranges move between shards and clients write through both routers: the move goes on or is
// undone, the balancer ends it, and every document is there once.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { ProcessCluster } = require('../lib/processes.js');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');
const { isBalanced, setDraining, until } = require('../lib/range_moves.js');
const { StubbornLoad } = require('../lib/stubborn_load.js');

const NS = 'm.rows';
const ROWS = 8000;
const LEAVING = 2;
const MOVE_RATE = 400_000;  // bytes per second: the moves take a while
const PAUSE_MS = 2000, COPYING_MS = 300;

describe('a process dies while ranges move', () => {
  let cluster, client, load;
  let away = false;
  before(async () => {
    cluster = await ProcessCluster.create();
    for (const router of cluster.routers) router.args = ['--move-rate', String(MOVE_RATE)];
    await cluster.start();
    client = await connect(0);
    await client.db('admin').command({ shardCollection: NS, key: { _id: 'hashed' } });
    await rows().insertMany(range(ROWS).map((_id) => ({ _id, text: 'x'.repeat(200) })));
    load = new StubbornLoad(cluster.routers.map(({ uri }) => uri), NS);
  });
  after(async () => {
    await client?.close(true);
    await cluster.remove();
  });

  const connect = (router) => new MongoClient(cluster.routers[router].uri, CLIENT_OPTIONS).connect();
  const rows = () => client.db('m').collection('rows');
  const pause = (ms = PAUSE_MS) => new Promise((resolve) => setTimeout(resolve, ms));
  // The router that leads the balancer has the smallest process id.
  async function leader() {
    const { process } = await client.db('config').collection('mongos').findOne({}, { sort: { process: 1 } });
    const { _id } = await client.db('config').collection('mongos').findOne({ process });
    return cluster.routers.findIndex(({ port }) => _id.endsWith(`:${port}`));
  }

  async function checkAll() {
    const numbers = await rows().find({ _id: { $type: 'number' } }, { projection: { _id: 1 } }).sort({ _id: 1 }).toArray();
    assert.deepEqual(numbers.map(({ _id }) => _id), range(ROWS));
    const found = await rows().find({ _id: { $type: 'string' } }).toArray();
    assert.deepEqual(found.sort((a, b) => (a._id < b._id ? -1 : 1)), load.known());
    const count = ROWS + load.known().length;
    assert.equal(await rows().countDocuments({}), count);
    assert.equal(await rows().estimatedDocumentCount(), count);
    const { valid, errors } = await client.db('m').command({ validate: 'rows', full: true });
    assert.ok(valid, JSON.stringify(errors));
    const { cursor } = await client.db('admin').command({ checkMetadataConsistency: 1 });
    assert.deepEqual(cursor.firstBatch, []);
  }

  // `disturb` happens while a move is under way, which copies from shard 2 or back to it.
  async function moveThrough(disturb) {
    away = !away;
    await load.start();
    await load.progress(100);
    await setDraining(client, LEAVING, away);
    // Its router alone knows at once how far it is: the catalog says that it is planned, and it takes a while.
    await until('the begin of the move', async () => await client.db('config').collection('jobs').countDocuments({ _id: NS, kind: 'balancing', 'steps.0': { $exists: true } }) > 0);
    await pause(COPYING_MS);
    await disturb();
    await until('the end of the move', () => isBalanced(client, LEAVING, !away).catch(() => false));
    await load.progress(100);
    await load.stop();
    await checkAll();
  }

  async function killAndStart(process) {
    await process.kill();
    await pause(500);
    await process.start();
  }
  const shard = (number) => cluster.shards[number];

  for (const [what, disturb] of [
    ['a shard that others copy from or to is killed', () => killAndStart(shard(LEAVING))],
    ['the same, the other way round', () => killAndStart(shard(LEAVING))],
    ['a shard on the other side is killed', () => killAndStart(shard(1))],
    ['the shard with the catalog is killed', () => killAndStart(shard(0))],
    ['a shard stops in order and starts again', async () => { await shard(LEAVING).stop(); await shard(LEAVING).start(); }],
    ['the shard with the catalog stops in order', async () => { await shard(0).stop(); await shard(0).start(); }],
    ['a shard hangs', async () => { shard(1).freeze(); await pause(); shard(1).thaw(); }],
    ['all shards are killed', () => Promise.all(range(3).map((number) => killAndStart(shard(number))))],
    ['the router that moves is killed and another one takes over', async () => {
      const leading = await leader();
      await cluster.routers[leading].kill();
      await client.close(true);
      client = await connect(1 - leading);
      await pause();
      await cluster.routers[leading].start();
    }],
  ]) it(what, () => moveThrough(disturb));
});
