// Databases, collections, indexes and the config database, as drivers and mongosh ask for them.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { UUID } = require('mongodb');
const { useCluster, errorOf, range } = require('../lib/cluster.js');

describe('catalog', () => {
  const cluster = useCluster();
  const config = (name) => cluster.client.db('config').collection(name);

  it('lists databases and collections', async () => {
    const db = cluster.client.db('listed');
    await db.createCollection('a');
    await db.collection('b').insertOne({ x: 1 });
    const { databases } = await cluster.admin({ listDatabases: 1 });
    const names = databases.map((d) => d.name);
    for (const name of ['admin', 'config', 'listed']) assert.ok(names.includes(name), name);
    const collections = await db.listCollections().toArray();
    assert.deepEqual(collections.map((c) => [c.name, c.type]).sort(), [['a', 'collection'], ['b', 'collection']]);
    assert.ok(collections[0].info.uuid);
    assert.deepEqual((await db.listCollections({ name: 'a' }, { nameOnly: true }).toArray()).map((c) => c.name), ['a']);
    await db.createCollection('a');  // again, with the same options: no error
  });

  it('drops collections and databases', async () => {
    const db = cluster.client.db('dropped');
    await db.collection('a').insertOne({ x: 1 });
    await cluster.admin({ shardCollection: 'dropped.s', key: { _id: 'hashed' } });
    assert.equal(await db.collection('a').drop(), true);
    assert.deepEqual((await db.listCollections().toArray()).map((c) => c.name), ['s']);
    await db.dropDatabase();
    const { databases } = await cluster.admin({ listDatabases: 1, nameOnly: true });
    assert.ok(!databases.some((d) => d.name === 'dropped'));
    assert.equal(await config('collections').countDocuments({ _id: { $in: ['dropped.a', 'dropped.s'] } }), 0);
  });

  // Their definitions are built in: a changed one could never be read again, not even after a restart.
  const definitions = [
    (ns, name) => [name, { createIndexes: ns, indexes: [{ key: { a: 1 }, name: 'a_1' }] }],
    (ns, name) => [name, { dropIndexes: ns, index: '*' }],
    (ns, name) => [name, { drop: ns }],
    (ns, name) => [name, { create: ns }],
    (ns, name) => ['admin', { renameCollection: `${name}.${ns}`, to: 'test.stolen' }],
    (ns, name) => ['admin', { renameCollection: 'test.owned', to: `${name}.${ns}`, dropTarget: true }],
    (ns, name) => ['admin', { shardCollection: `${name}.${ns}`, key: { _id: 'hashed' } }],
  ];
  for (const make of definitions) {
    it(`refuses ${Object.keys(make('c', 'config')[1])[0]} on collections of config`, async () => {
      await cluster.db.collection('owned').updateOne({ _id: 1 }, { $set: { a: 1 } }, { upsert: true });
      for (const name of ['catalog', 'chunks', 'databases', 'settings', 'jobs']) {
        const [database, command] = make(name, 'config');
        await errorOf(cluster.client.db(database).command(command));
        await cluster.db.collection('owned').updateOne({ _id: 1 }, { $inc: { a: 1 } });
      }
      const fresh = cluster.collection();
      await fresh.insertOne({ x: 1 });
      assert.equal(await config('catalog').countDocuments({ _id: fresh.namespace }), 1);
    });
  }

  it('refuses a database whose name differs in case only', async () => {
    await cluster.client.db('casing').collection('a').insertOne({ x: 1 });
    const other = cluster.client.db('Casing');
    assert.equal((await errorOf(other.collection('a').insertOne({ x: 1 }))).code, 13297);
    assert.equal((await errorOf(cluster.admin({ enableSharding: 'CASING' }))).code, 13297);
    await cluster.admin({ enableSharding: 'casing' });
  });

  it('checks the definition of views', async () => {
    const db = cluster.client.db('views');
    await db.collection('c').insertOne({ x: 1 });
    const make = (name, viewOn, pipeline = []) => db.command({ create: name, viewOn, pipeline });
    assert.equal((await errorOf(make('self', 'self'))).code, 5);
    await make('a', 'b');
    assert.equal((await errorOf(make('b', 'a'))).code, 5);
    await make('v0', 'c');
    for (let i = 1; i < 20; ++i) await make(`v${i}`, `v${i - 1}`);
    assert.equal((await errorOf(make('v20', 'v19'))).code, 165);
    assert.equal((await db.collection('v19').find().toArray()).length, 1);
    assert.equal((await errorOf(make('bad', 'c', [{ $noSuchStage: 1 }]))).code, 40324);
  });

  it('does not drop when the command has an unknown field', async () => {
    const c = cluster.collection();
    await c.insertOne({ x: 1 });
    for (const command of [{ drop: c.collectionName, dryRun: true }, { dropDatabase: 1, dryRun: true },
      { dropIndexes: c.collectionName, index: '*', dryRun: true }]) {
      assert.equal((await errorOf(cluster.db.command(command))).code, 40415);
    }
    assert.equal(await c.countDocuments(), 1);
    const key = { _id: 'hashed' };
    assert.equal((await errorOf(cluster.admin({ shardCollection: c.namespace, key, uniqe: true }))).code, 40415);
    assert.equal((await errorOf(cluster.admin({ shardCollection: c.namespace, key, collation: { locale: 'de' } }))).code, 2);
  });

  it('checks the names and the target of a rename', async () => {
    const c = cluster.collection();
    const target = cluster.collection();
    await c.insertOne({ x: 1 });
    await target.insertOne({ x: 2 });
    const rename = (to, more) => cluster.admin({ renameCollection: c.namespace, to, ...more });
    for (const [to, more, code] of [['test.a$b', {}, 20], ['nodot', {}, 73], ['test.system.js', {}, 20], [null, {}, 40414],
      [target.namespace, { unknown: 1 }, 40415], [target.namespace, { dropTarget: new UUID() }, 361],
      [target.namespace, { dropTarget: 'yes' }, 14], [target.namespace, { dropTarget: 1 }, 14], ['te st.x', {}, 73], [`test.${'x'.repeat(300)}`, {}, 20]]) {
      assert.equal((await errorOf(rename(to, more))).code, code, `${to} ${JSON.stringify(more)}`);
    }
    const [{ info }] = await cluster.db.listCollections({ name: target.collectionName }).toArray();
    await rename(target.namespace, { dropTarget: info.uuid });
    assert.deepEqual((await target.find().toArray()).map((d) => d.x), [1]);
  });

  it('renames', async () => {
    const a = cluster.collection();
    const b = cluster.collection();
    await a.createIndex({ n: 1 });
    await a.insertMany(range(10).map((n) => ({ n })));
    await b.insertOne({ other: 1 });
    assert.equal((await errorOf(a.rename(b.collectionName))).code, 48);
    await a.rename(b.collectionName, { dropTarget: true });
    assert.equal(await b.countDocuments({ n: { $gte: 0 } }), 10);
    assert.equal(await b.countDocuments({ other: 1 }), 0);
    assert.equal(await a.countDocuments(), 0);
    assert.deepEqual((await b.indexes()).map((index) => index.name).sort(), ['_id_', 'n_1']);
  });

  for (const sharded of [false, true]) {
    it(`indexes on ${sharded ? 'a sharded' : 'an unsharded'} collection`, async () => {
      const c = sharded ? await cluster.sharded({ a: 'hashed' }) : cluster.collection();
      await c.insertMany(range(500).map((i) => ({ _id: i, a: i, b: i % 50, tags: [i, i + 1] })));
      assert.equal(await c.createIndex({ b: 1, a: -1 }), 'b_1_a_-1');
      await c.createIndex({ tags: 1 }, { name: 'by tag' });
      const names = (await c.indexes()).map((index) => index.name);
      for (const name of ['_id_', 'b_1_a_-1', 'by tag']) assert.ok(names.includes(name), name);
      assert.deepEqual((await c.find({ b: 7 }).sort({ a: -1 }).toArray()).map((d) => d.a), [457, 407, 357, 307, 257, 207, 157, 107, 57, 7]);
      assert.equal((await c.find({ tags: 100 }).hint('by tag').toArray()).length, 2);
      const created = await cluster.db.command({ createIndexes: c.collectionName, indexes: [{ key: { b: 1, a: -1 }, name: 'b_1_a_-1' }] });
      assert.equal(created.ok, 1);
      assert.equal((await errorOf(c.createIndex({ b: 1, a: -1 }, { name: 'other name' }))).code, 85);
      assert.equal((await errorOf(c.createIndex({ zzz: 1 }, { name: 'by tag' }))).code, 86);
      await c.dropIndex('by tag');
      assert.equal((await errorOf(c.dropIndex('by tag'))).code, 27);
      assert.equal((await errorOf(c.dropIndex('_id_'))).code, 72);
      const { valid, errors } = await cluster.db.command({ validate: c.collectionName, full: true });
      assert.equal(valid, true, JSON.stringify(errors));
    });
  }

  it('unique indexes: the error names the key', async () => {
    const c = cluster.collection();
    await c.createIndex({ mail: 1 }, { unique: true });
    await c.insertOne({ _id: 1, mail: 'a' });
    const error = await errorOf(c.insertOne({ _id: 2, mail: 'a' }));
    assert.equal(error.code, 11000);
    assert.match(error.message, /^E11000 duplicate key error collection: test\.\w+ index: mail_1 dup key: \{ mail: "a" \}/);
    const [detail] = [error.writeErrors?.[0]?.err ?? error];
    assert.deepEqual(detail.keyPattern ?? error.keyPattern, { mail: 1 });
    assert.deepEqual(detail.keyValue ?? error.keyValue, { mail: 'a' });
    await c.insertOne({ _id: 3, mail: 'b' });
    assert.equal((await errorOf(c.updateOne({ _id: 3 }, { $set: { mail: 'a' } }))).code, 11000);
    await c.deleteOne({ _id: 1 });
    await c.updateOne({ _id: 3 }, { $set: { mail: 'a' } });
    assert.equal(await c.countDocuments(), 1);
  });

  it('a unique index on doubled values is refused and leaves nothing behind', async () => {
    const c = cluster.collection();
    await c.insertMany([{ x: 1 }, { x: 1 }, { x: 2 }]);
    assert.equal((await errorOf(c.createIndex({ x: 1 }, { unique: true }))).code, 11000);
    assert.deepEqual((await c.indexes()).map((index) => index.name), ['_id_']);
    await c.insertOne({ x: 2 });
    assert.equal(await c.countDocuments(), 4);
  });

  it('a unique index of a sharded collection must begin with the shard key', async () => {
    const c = await cluster.sharded({ a: 'hashed' });
    assert.equal((await errorOf(c.createIndex({ b: 1 }, { unique: true }))).code, 67);
    await c.createIndex({ a: 1, b: 1 }, { unique: true });
    await c.insertOne({ a: 1, b: 1 });
    assert.equal((await errorOf(c.insertOne({ a: 1, b: 1 }))).code, 11000);
    await c.insertOne({ a: 1, b: 2 });
  });

  it('long index keys', async () => {
    const c = cluster.collection();
    await c.createIndex({ text: 1 });
    const long = 'x'.repeat(5000);
    await c.insertMany(range(20).map((i) => ({ _id: i, text: `${long}${String(i).padStart(2, '0')}` })));
    assert.equal((await c.findOne({ text: `${long}07` }))._id, 7);
    assert.deepEqual((await c.find().sort({ text: 1 }).hint('text_1').toArray()).map((d) => d._id), range(20));
  });

  it('collStats, dbStats, count and validate agree', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(1234).map((i) => ({ _id: i, text: 'abc' })));
    const stats = await cluster.db.command({ collStats: c.collectionName });
    assert.equal(stats.count, 1234);
    assert.equal(stats.sharded, true);
    assert.equal(Object.values(stats.shards).reduce((sum, s) => sum + s.count, 0), 1234);
    assert.ok(stats.size > 1234 * 20);
    const database = await cluster.db.command({ dbStats: 1 });
    assert.ok(database.objects >= 1234);
    const { valid } = await cluster.db.command({ validate: c.collectionName, full: true });
    assert.equal(valid, true);
  });

  it('the config database', async () => {
    await cluster.sharded();
    const shards = await config('shards').find().sort({ _id: 1 }).toArray();
    assert.equal(shards.length, 3);
    assert.ok(shards.every((s) => s.host && s.state === 1));
    const listed = await cluster.admin({ listShards: 1 });
    assert.deepEqual(listed.shards.map((s) => s._id).sort(), shards.map((s) => s._id));
    const version = await config('version').findOne();
    assert.ok(version.clusterId);
    const database = await config('databases').findOne({ _id: 'test' });
    assert.ok(shards.some((s) => s._id === database.primary));
    assert.ok((await config('mongos').countDocuments()) >= 1);
    for (const name of ['settings', 'tags', 'changelog', 'locks', 'actionlog']) await config(name).find().limit(5).toArray();
    const perShard = await config('chunks').aggregate([{ $group: { _id: '$shard', n: { $sum: 1 } } }]).toArray();
    assert.equal(perShard.length, 3);
    await config('settings').updateOne({ _id: 'balancer' }, { $set: { stopped: true } }, { upsert: true });
    assert.equal((await config('settings').findOne({ _id: 'balancer' })).stopped, true);
    await config('settings').deleteOne({ _id: 'balancer' });
  });

  it('what a driver or a tool asks when it connects', async () => {
    const hello = await cluster.admin({ hello: 1 });
    assert.equal(hello.msg, 'isdbgrid');
    assert.equal(hello.isWritablePrimary, true);
    assert.deepEqual([hello.maxBsonObjectSize, hello.maxMessageSizeBytes, hello.maxWriteBatchSize, hello.maxWireVersion],
      [16777216, 48000000, 100000, 21]);
    assert.equal(hello.logicalSessionTimeoutMinutes, 30);
    assert.ok(hello.topologyVersion);
    assert.equal((await cluster.admin({ isMaster: 1 })).ismaster, true);
    assert.equal((await cluster.admin({ buildInfo: 1 })).version, '7.0.0');
    for (const command of [{ hostInfo: 1 }, { getCmdLineOpts: 1 }, { getLog: 'startupWarnings' }, { getParameter: '*' }, { serverStatus: 1 },
      { connectionStatus: 1 }, { whatsmyuri: 1 }, { listCommands: 1 }, { balancerStatus: 1 }, { balancerStop: 1 }, { balancerStart: 1 },
      { flushRouterConfig: 1 }]) {
      assert.equal((await cluster.admin(command)).ok, 1, JSON.stringify(command));
    }
    const { commands } = await cluster.admin({ listCommands: 1 });
    for (const name of ['find', 'insert', 'shardCollection', 'listShards']) assert.ok(commands[name].help, name);
  });
});
