// The real mongosh from npm: its sharding helpers, and the sessions that people copy from manuals.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { useCluster } = require('../lib/cluster.js');
const { mongosh, mongoshValue } = require('../lib/mongosh.js');

describe('mongosh with three shards', () => {
  const cluster = useCluster({ shards: 3 });
  const shell = (script) => mongosh(cluster.server.uri, script);
  const value = (script) => mongoshValue(cluster.server.uri, script);

  it('sh.enableSharding, sh.shardCollection, inserts and finds', async () => {
    const result = await value(`
      const enabled = sh.enableSharding('shop');
      const sharded = sh.shardCollection('shop.orders', { customer: 'hashed' });
      const shop = db.getSiblingDB('shop');
      shop.orders.insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: i, customer: i % 50, total: i })));
      return { enabled: enabled.ok, sharded: sharded.ok, ns: sharded.collectionsharded,
               seven: shop.orders.find({ customer: 7 }).sort({ _id: 1 }).toArray().map((d) => d._id), count: shop.orders.countDocuments() };`);
    assert.deepEqual(result, { enabled: 1, sharded: 1, ns: 'shop.orders', seven: [7, 57, 107, 157, 207, 257], count: 300 });
  });

  it('sh.status and db.printShardingStatus', async () => {
    for (const helper of ['sh.status()', 'db.printShardingStatus()']) {
      const output = await shell(`${helper}`);
      for (const part of ['shardingVersion', 'shards', 'shop.orders', "customer: 'hashed'", 'unique', 'chunks']) {
        assert.ok(output.includes(part), `${helper}: no "${part}" in\n${output}`);
      }
    }
  });

  it('db.c.getShardDistribution', async () => {
    const output = await shell("db.getSiblingDB('shop').orders.getShardDistribution()");
    assert.match(output, /Totals/);
    assert.match(output, /docs: 300/);
    assert.equal(output.match(/estimated docs per chunk/g).length, 3);
  });

  it('db.c.stats', async () => {
    const stats = await value("const s = db.getSiblingDB('shop').orders.stats(); return { sharded: s.sharded, count: s.count, shards: Object.keys(s.shards).length, nindexes: s.nindexes };");
    assert.deepEqual({ ...stats, nindexes: stats.nindexes >= 2 }, { sharded: true, count: 300, shards: 3, nindexes: true });
  });

  it('db.currentOp and db.killOp', async () => {
    const result = await value(`
      const session = db.getMongo().startSession();
      session.startTransaction();
      session.getDatabase('shop').held.insertOne({ _id: 1 });
      const idle = db.currentOp({ type: 'idleSession' }).inprog;
      const own = db.currentOp(true).inprog.filter((row) => row.active && row.type === 'op');
      const all = { idle: idle.length, transaction: typeof idle[0].transaction.timeOpenMicros, own: own.length > 0, killed: db.killOp(own[0].opid + 1000000).ok };
      session.abortTransaction();
      return { ...all, after: db.currentOp({ type: 'idleSession' }).inprog.length };`);
    assert.deepEqual({ ...result, transaction: undefined }, { idle: 1, transaction: undefined, own: true, killed: 1, after: 0 });
    assert.ok(['number', 'object'].includes(result.transaction));
  });

  it('the balancer\'s helpers', async () => {
    const states = await value(`
      const before = sh.getBalancerState();
      sh.stopBalancer();
      const stopped = sh.getBalancerState();
      sh.startBalancer();
      return { before, stopped, after: sh.getBalancerState(), running: sh.isBalancerRunning().mode ?? sh.isBalancerRunning() };`);
    assert.deepEqual([states.before, states.stopped, states.after], [true, false, true]);
    assert.ok(['full', false, 'off'].includes(states.running), JSON.stringify(states));
  });

  it('helpers that write to config.settings and config.collections', async () => {
    const result = await value(`
      sh.setBalancerState(false); const off = sh.getBalancerState(); sh.setBalancerState(true);
      sh.disableBalancing('shop.orders');
      const noBalance = db.getSiblingDB('config').collections.findOne({ _id: 'shop.orders' }).noBalance;
      sh.enableBalancing('shop.orders');
      const balance = db.getSiblingDB('config').collections.findOne({ _id: 'shop.orders' }).noBalance;
      sh.balancerCollectionStatus('shop.orders');
      return { off, noBalance, balance: balance ?? false };`);
    assert.deepEqual(result, { off: false, noBalance: true, balance: false });
  });

  it('convertShardKeyToHashed', async () => {
    const output = await shell('print(EJSON.stringify(convertShardKeyToHashed({ foo: "bar" }), { relaxed: false }))');
    assert.equal(output.trim(), '{"$numberLong":"4975617422686807705"}');
  });

  it('show dbs, show collections, db.stats, db.serverStatus, db.hello', async () => {
    const databases = await shell('show dbs');
    for (const name of ['shop', 'config']) assert.ok(databases.includes(name), `no "${name}" in\n${databases}`);
    const output = await shell("db.getSiblingDB('shop').getCollectionNames().forEach((n) => print(n)); print(db.hello().msg, db.version(), db.getSiblingDB('shop').stats().objects)");
    for (const part of ['orders', 'isdbgrid', '7.0.0', '300']) assert.ok(output.includes(part), `no "${part}" in\n${output}`);
  });

  it('explain, getIndexes, createIndex, aggregate and bulk helpers', async () => {
    const result = await value(`
      const c = db.getSiblingDB('shop').orders;
      c.createIndex({ total: 1 });
      const bulk = c.initializeUnorderedBulkOp();
      bulk.insert({ _id: 1000, customer: 1, total: 5000 });
      bulk.find({ _id: 0 }).updateOne({ $set: { total: -1 } });
      const done = bulk.execute();
      return { stage: c.find({ customer: 3 }).explain().queryPlanner.winningPlan.stage, indexes: c.getIndexes().map((i) => i.name).sort(),
               inserted: done.insertedCount, modified: done.modifiedCount,
               top: c.aggregate([{ $sort: { total: -1 } }, { $limit: 1 }]).toArray().map((d) => d._id), distinct: c.distinct('customer').length };`);
    assert.equal(result.stage, 'SINGLE_SHARD');
    assert.ok(result.indexes.includes('total_1'));
    assert.deepEqual([result.inserted, result.modified, result.top, result.distinct], [1, 1, [1000], 50]);
  });
});

describe('mongosh: the cosmicworks session on two shards', () => {
  const cluster = useCluster({ shards: 2 });
  const value = (script) => mongoshValue(cluster.server.uri, script);

  it('sh.shardCollection, the index, and equal names on one shard', async () => {
    const result = await value(`
      use('cosmicworks');
      const sharded = sh.shardCollection('cosmicworks.employee', { firstName: 'hashed' });
      const index = db.runCommand({ createIndexes: 'employee', enableLargeIndexKeys: true, blocking: true,
                                    indexes: [{ key: { firstName: 1 }, name: 'firstName_1', enableLargeIndexKeys: true }] });
      db.employee.insertMany([{ firstName: 'Steve', lastName: 'Smith' }, { firstName: 'Jane', lastName: 'Doe' }, { firstName: 'Steve', lastName: 'Smith' },
                              { firstName: 'Michael', lastName: 'Smith' }, { firstName: 'Jane', lastName: 'Doe' }]);
      const shardsOf = (name) => db.employee.find({ firstName: name }).explain().queryPlanner.winningPlan.shards.map((s) => s.shardName);
      return { sharded: sharded.ok, index: index.ok, steve: shardsOf('Steve'), jane: shardsOf('Jane'), michael: shardsOf('Michael'),
               perShard: db.employee.aggregate([{ $collStats: { storageStats: {} } }]).toArray().map((s) => [s.shard, s.storageStats.count]),
               steves: db.employee.find({ firstName: 'Steve' }).toArray().length, janes: db.employee.countDocuments({ firstName: 'Jane' }) };`);
    assert.deepEqual([result.sharded, result.index, result.steves, result.janes], [1, 1, 2, 2]);
    const expected = {};
    for (const [shards, n] of [[result.steve, 2], [result.jane, 2], [result.michael, 1]]) {
      assert.equal(shards.length, 1);
      expected[shards[0]] = (expected[shards[0]] ?? 0) + n;
    }
    for (const [shard, count] of result.perShard) assert.equal(count, expected[shard] ?? 0);
  });

  it('the same as an admin command', async () => {
    const result = await value(`
      use('cosmicworks');
      db.employee.drop();
      const sharded = db.adminCommand({ shardCollection: 'cosmicworks.employee', key: { firstName: 'hashed' } });
      return { ok: sharded.ok, key: db.getSiblingDB('config').collections.findOne({ _id: 'cosmicworks.employee' }).key };`);
    assert.deepEqual(result, { ok: 1, key: { firstName: 'hashed' } });
  });
});
