// Links between a router and its shards that are cut, lose one direction or get slow, under a recorded load: nothing acknowledged is lost
// or done twice, what needs the missing shard fails within its deadline, the rest goes on, and nothing has to be restarted.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { ProcessCluster } = require('../lib/processes.js');
const { Network, networkMissing } = require('../lib/network.js');
const { CLIENT_OPTIONS, errorOf } = require('../lib/cluster.js');
const { Counter, Inserter, Load, RETRYABLE } = require('./network_load.js');

const MAX_TIME_MS = 1_000;
const MAX_TIME_EXPIRED = 50;
const DEADLINE_SLACK_MS = 10_000;  // for a busy machine
const FAILS_MS_MAX = 90_000;       // ten seconds of patience, the driver's retry, and what the machine adds
const HEALS_MS_MAX = 90_000;

const HOSTS = ['router', 'shard0', 'shard1', 'shard2'];

describe('links between router and shards', { skip: networkMissing() }, () => {
  let network, cluster, client, db, rows, load, pids;

  // Ids of documents on each shard, by what explain says.
  async function idsOnShards(count) {
    const found = new Map(HOSTS.slice(1).map((shard) => [shard, []]));
    for (let i = 0; [...found.values()].some((ids) => ids.length < count); ++i) {
      const plan = await rows.find({ _id: `counter-${i}` }).explain();
      found.get(plan.queryPlanner.winningPlan.shards[0].shardName).push(`counter-${i}`);
    }
    return [...found].flatMap(([shard, ids]) => ids.slice(0, count).map((id) => ({ shard, id })));
  }

  const countersOn = (...shards) => load.counters.filter((counter) => shards.includes(counter.shard));

  before(async () => {
    network = new Network(HOSTS).create();
    cluster = await (await ProcessCluster.create({ routers: 1, network })).start();
    client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
    db = client.db('network');
    rows = db.collection('rows');
    await client.db('admin').command({ shardCollection: rows.namespace, key: { _id: 'hashed' } });
    const places = await idsOnShards(2);
    await rows.insertMany(places.map(({ id }) => ({ _id: id, n: 0 })));
    pids = [...cluster.shards, ...cluster.routers].map((server) => server.pid);
    load = new Load(places.map(({ id, shard }) => new Counter(rows, id, shard)), ['a', 'b'].map((name) => new Inserter(rows, name)));
    await load.progress('the load runs', load.counters, 3, HEALS_MS_MAX);
  });
  after(async () => {
    await load?.stop().catch(() => {});
    await client?.close(true);
    await cluster?.remove();
    network?.remove();
  });

  // What needs `shard` fails in time, with a code that says so.
  async function failsInTime(shard) {
    const [{ id }] = countersOn(shard);
    const attempts = {
      find: () => rows.find({ _id: id }).maxTimeMS(MAX_TIME_MS).toArray(),
      update: () => db.command({ update: 'rows', updates: [{ q: { _id: id }, u: { $set: { seen: true } } }], maxTimeMS: MAX_TIME_MS }),
      count: () => rows.countDocuments({}, { maxTimeMS: MAX_TIME_MS }),
    };
    await Promise.all(Object.entries(attempts).map(async ([name, attempt]) => {
      const started = Date.now();
      const error = await errorOf(attempt());
      assert.ok(error.code === MAX_TIME_EXPIRED || RETRYABLE.has(error.code), `${name}: ${error}`);
      assert.ok(Date.now() - started < MAX_TIME_MS + DEADLINE_SLACK_MS, `${name} took ${Date.now() - started} ms`);
    }));
  }

  it('a cable is pulled, another shard\'s replies are lost: the third shard goes on', async () => {
    const failures = new Map(load.counters.map((counter) => [counter, counter.failures]));
    network.cut('shard1');
    network.loseFrom('shard2', 'router');
    await Promise.all([failsInTime('shard1'), failsInTime('shard2')]);
    await load.progress('shard0 is still written', countersOn('shard0'), 20, FAILS_MS_MAX);
    assert.equal((await rows.find({ _id: countersOn('shard0')[0].id }).maxTimeMS(60_000).toArray()).length, 1);
    const gone = countersOn('shard1', 'shard2');
    await load.until('statements without a deadline end too', () => gone.every((counter) => counter.failures > failures.get(counter)), FAILS_MS_MAX);
    for (const counter of countersOn('shard0')) assert.equal(counter.failures, failures.get(counter));
    network.heal('shard1');
    network.heal('shard2');
    await load.progress('all shards are written again', load.counters, 10, HEALS_MS_MAX);
  });

  it('requests to a shard are lost while another link is slow', async (t) => {
    network.loseFrom('router', 'shard1');
    const slow = network.slow('shard2', 150);
    if (slow === null) t.diagnostic('this kernel can neither delay packets nor limit a rate');
    await failsInTime('shard1');
    await load.progress('the slow shard is written', countersOn('shard0', 'shard2'), 10, HEALS_MS_MAX);
    network.heal('router');
    network.heal('shard2');
    await load.progress('all shards are written again', load.counters, 10, HEALS_MS_MAX);
  });

  it('short cuts, one after the other', async () => {
    for (const shard of HOSTS.slice(1)) {
      network.cut(shard);
      await load.progress('the others are written', load.counters.filter((counter) => counter.shard !== shard), 3, HEALS_MS_MAX);
      network.heal(shard);
      await load.progress(`${shard} is written again`, countersOn(shard), 3, HEALS_MS_MAX);
    }
  });

  it('nothing that was acknowledged is lost or doubled, and nothing was restarted', async () => {
    await load.stop();
    assert.deepEqual([...cluster.shards, ...cluster.routers].map((server) => server.pid), pids);
    for (const counter of load.counters) counter.check(await rows.findOne({ _id: counter.id }));
    const found = (await rows.find({ kind: 'insert' }, { projection: { _id: 1 } }).toArray()).map((row) => row._id);
    const known = new Set(found);
    assert.equal(known.size, found.length);
    for (const inserter of load.inserters) for (const id of inserter.acknowledged) assert.ok(known.has(id), `${id} is lost`);
    assert.equal((await db.command({ validate: 'rows' })).valid, true);
  });
});
