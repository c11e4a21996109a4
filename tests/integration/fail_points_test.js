// failCommand and the driver: what it retries, which error it shows, what a slow or broken connection does.
'use strict';

const assert = require('node:assert/strict');
const net = require('node:net');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { CLIENT_OPTIONS, errorOf, range, useCluster } = require('../lib/cluster.js');
const { ProcessCluster } = require('../lib/processes.js');

const RETRYABLE = [91, 189, 11600];
const LONG_MS = 120_000;  // a block that a test would not survive

// A port in front of the server; the first connection on which the client sends `word` ends there, before the server sees it.
async function cutFirst(port, word) {
  let cut = false;
  const front = net.createServer((client) => {
    const server = net.connect(port, '127.0.0.1');
    const end = () => { client.destroy(); server.destroy(); };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    server.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      if (cut || !bytes.includes(word)) return server.write(bytes);
      cut = true;
      return end();
    });
  });
  await new Promise((resolve) => front.listen(0, '127.0.0.1', resolve));
  return front;
}

describe('failCommand', () => {
  const cluster = useCluster({ args: ['--enable-test-commands'] });
  const clients = [];

  after(() => Promise.all(clients.map((client) => client.close(true))));

  function configure(data, mode = { times: 1 }) {
    return cluster.admin({ configureFailPoint: 'failCommand', mode, data });
  }
  async function off() { return (await configure({}, 'off')).count; }

  // A client of its own, whose attempts are recorded: [{command, failure}].
  async function observed(options = {}, uri = cluster.server.uri) {
    const client = await new MongoClient(uri, { ...CLIENT_OPTIONS, monitorCommands: true, ...options }).connect();
    clients.push(client);
    const attempts = [];
    client.on('commandSucceeded', (event) => attempts.push({ command: event.commandName, reply: event.reply }));
    client.on('commandFailed', (event) => attempts.push({ command: event.commandName, failure: event.failure }));
    return { client, db: client.db('test'), attempts };
  }

  for (const code of RETRYABLE) {
    it(`the driver repeats a write that failed with ${code}`, async () => {
      const { db, attempts } = await observed();
      const c = db.collection(cluster.collection().collectionName);
      await configure({ failCommands: ['insert'], errorCode: code });
      await c.insertOne({ _id: 1 });
      assert.deepEqual(attempts.map((a) => a.command), ['insert', 'insert']);
      assert.equal(attempts[0].failure.code, code);
      assert.ok(attempts[0].failure.hasErrorLabel('RetryableWriteError'));
      assert.equal(attempts[1].reply.n, 1);
      assert.equal(await c.countDocuments(), 1);
    });

    it(`the driver repeats a read that failed with ${code}`, async () => {
      const { db, attempts } = await observed();
      const c = db.collection(cluster.collection().collectionName);
      await c.insertOne({ _id: 1 });
      attempts.length = 0;
      for (const [command, read] of [['find', () => c.findOne()], ['aggregate', () => c.countDocuments()], ['distinct', () => c.distinct('_id')]]) {
        attempts.length = 0;
        await configure({ failCommands: [command], errorCode: code });
        await read();
        assert.deepEqual(attempts.map((a) => [a.command, a.failure?.code]), [[command, code], [command, undefined]]);
      }
    });
  }

  it('a write with an error that is not retryable is not repeated', async () => {
    const { db, attempts } = await observed();
    await configure({ failCommands: ['insert'], errorCode: 8 });
    const error = await errorOf(db.collection('c').insertOne({}));
    assert.equal(error.code, 8);
    assert.equal(attempts.length, 1);
    assert.ok(!error.hasErrorLabel('RetryableWriteError'));
  });

  it('errorLabels decide: one that is given is followed, an empty list means no', async () => {
    const { db, attempts } = await observed();
    const c = db.collection(cluster.collection().collectionName);
    await configure({ failCommands: ['insert'], errorCode: 8, errorLabels: ['RetryableWriteError'] });
    await c.insertOne({ _id: 1 });
    assert.equal(attempts.length, 2);
    await configure({ failCommands: ['insert'], errorCode: 91, errorLabels: [] });
    assert.equal((await errorOf(c.insertOne({ _id: 2 }))).code, 91);
    assert.equal(await c.countDocuments(), 1);
  });

  it('a connection that is closed before a write or read: both are repeated', async () => {
    const { db, attempts } = await observed();
    const c = db.collection(cluster.collection().collectionName);
    for (const [command, run] of [['update', () => c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { upsert: true })], ['find', () => c.findOne()]]) {
      attempts.length = 0;
      await configure({ failCommands: [command], closeConnection: true });
      await run();
      assert.deepEqual(attempts.map((a) => [a.command, a.failure?.name]), [[command, 'MongoNetworkError'], [command, undefined]]);
    }
    assert.deepEqual(await c.find().toArray(), [{ _id: 1, n: 1 }]);
  });

  it('without retries the network error reaches the application', async () => {
    const { db } = await observed({ retryWrites: false, retryReads: false });
    await configure({ failCommands: ['insert', 'find'], closeConnection: true }, { times: 2 });
    for (const run of [() => db.collection('c').insertOne({}), () => db.collection('c').findOne()]) {
      assert.equal((await errorOf(run())).name, 'MongoNetworkError');
    }
    assert.equal(await off() > 0, true);
  });

  it('a write concern error that is retryable: the write is repeated and done once', async () => {
    const { db, attempts } = await observed();
    const c = db.collection(cluster.collection().collectionName);
    await configure({ failCommands: ['update'], writeConcernError: { code: 91, errmsg: 'stopping' } });
    const result = await c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { upsert: true });
    assert.equal(result.upsertedId, 1);
    assert.deepEqual(attempts.map((a) => a.command), ['update', 'update']);
    assert.deepEqual(await c.findOne(), { _id: 1, n: 1 });
  });

  it('a write concern error that is not: the write is done, the error is shown', async () => {
    const { db, attempts } = await observed();
    const c = db.collection(cluster.collection().collectionName);
    await configure({ failCommands: ['insert'], writeConcernError: { code: 64, codeName: 'WriteConcernFailed', errmsg: 'waiting' } });
    const error = await errorOf(c.insertOne({ _id: 1 }));
    assert.equal(error.name, 'MongoWriteConcernError');
    assert.equal(error.code, 64);
    assert.equal(attempts.length, 1);
    assert.equal(await c.countDocuments(), 1);
  });

  // Retryable writes specification, prose test 3: the second failure says that it did nothing, so the first one is shown.
  it('NoWritesPerformed: the error of the first attempt is shown', async () => {
    const cut = await cutFirst(cluster.server.port, 'insert');
    const { db, attempts } = await observed({}, `mongodb://127.0.0.1:${cut.address().port}/`);
    await configure({ failCommands: ['insert'], errorCode: 10107, errorLabels: ['RetryableWriteError', 'NoWritesPerformed'] });
    const error = await errorOf(db.collection('c').insertOne({}));
    assert.deepEqual(attempts.map((a) => a.failure?.code), [undefined, 10107]);
    assert.equal(error.name, 'MongoNetworkError');
    cut.close();
  });

  it('what fails before it is carried out says that nothing was written', async () => {
    const { db, attempts } = await observed();
    await configure({ failCommands: ['insert'], errorCode: 91 }, { times: 2 });
    const error = await errorOf(db.collection('c').insertOne({}));
    assert.equal(error.code, 91);
    assert.equal(attempts.length, 2);
    assert.ok(attempts[1].failure.hasErrorLabel('NoWritesPerformed'));
  });

  it('a block longer than maxTimeMS ends with MaxTimeMSExpired', async () => {
    await configure({ failCommands: ['find'], blockConnection: true, blockTimeMS: LONG_MS });
    assert.equal((await errorOf(cluster.db.collection('c').findOne({}, { maxTimeMS: 50 }))).code, 50);
  });

  it('a block longer than socketTimeoutMS: the driver gives the connection up and repeats', async () => {
    const { db, attempts } = await observed({ socketTimeoutMS: 2000 });
    const c = db.collection(cluster.collection().collectionName);
    await configure({ failCommands: ['insert'], blockConnection: true, blockTimeMS: LONG_MS });
    await c.insertOne({ _id: 1 });
    assert.deepEqual(attempts.map((a) => a.failure?.name), ['MongoNetworkTimeoutError', undefined]);
    assert.equal(await c.countDocuments(), 1);
  });

  it('a block that ends: the command is carried out', async () => {
    const c = cluster.collection();
    await configure({ failCommands: ['insert'], blockConnection: true, blockTimeMS: 20 });
    await c.insertOne({ _id: 1 });
    assert.equal(await off() > 0, true);
    assert.equal(await c.countDocuments(), 1);
  });

  it('modes: skip, times, off; the count of hits', async () => {
    await off();
    const before = await off();
    const data = { failCommands: ['ping'], errorCode: 20 };
    const pings = async (count) => {
      const codes = [];
      for (const _ of range(count)) codes.push(await cluster.db.command({ ping: 1 }).then(() => 0, (error) => error.code));
      return codes;
    };
    await configure(data, { skip: 2 });
    assert.deepEqual(await pings(4), [0, 0, 20, 20]);
    await configure(data, { times: 1 });
    assert.deepEqual(await pings(2), [20, 0]);
    await configure(data, 'alwaysOn');
    assert.deepEqual(await pings(2), [20, 20]);
    await configure(data, { activationProbability: 0 });
    assert.deepEqual(await pings(2), [0, 0]);
    assert.equal(await off(), before + 5);
    assert.deepEqual(await pings(1), [0]);
  });

  it('only the client of that application fails, also in its first hello', async () => {
    await configure({ failCommands: ['hello', 'isMaster', 'ping'], appName: 'unlucky', closeConnection: true }, 'alwaysOn');
    assert.equal((await cluster.db.command({ ping: 1 })).ok, 1);
    const unlucky = new MongoClient(cluster.server.uri, { appName: 'unlucky', serverSelectionTimeoutMS: 1000 });
    assert.equal((await errorOf(unlucky.connect())).name, 'MongoServerSelectionError');
    await unlucky.close(true);
    await off();
    const { db } = await observed({ appName: 'unlucky' });
    assert.equal((await db.command({ ping: 1 })).ok, 1);
  });

  it('only one collection fails; getMore too', async () => {
    const [a, b] = [cluster.collection(), cluster.collection()];
    for (const c of [a, b]) await c.insertMany(range(10).map((i) => ({ _id: i })));
    await configure({ failCommands: ['getMore'], namespace: a.namespace, errorCode: 2 }, 'alwaysOn');
    assert.equal((await errorOf(a.find().batchSize(2).toArray())).code, 2);
    assert.equal((await b.find().batchSize(2).toArray()).length, 10);
    await off();
  });

  it('failGetMoreAfterCursorCheckout', async () => {
    const c = cluster.collection();
    await c.insertMany(range(10).map((i) => ({ _id: i })));
    await cluster.admin({ configureFailPoint: 'failGetMoreAfterCursorCheckout', mode: { times: 1 }, data: { errorCode: 13 } });
    assert.equal((await errorOf(c.find().batchSize(2).toArray())).code, 13);
    assert.equal((await c.find().batchSize(2).toArray()).length, 10);
  });

  it('the parameter says so', async () => {
    assert.equal((await cluster.admin({ getParameter: '*' })).enableTestCommands, true);
  });

  it('fail points of the engine: a shard answers StaleConfig, and the client does not notice', async () => {
    const c = await cluster.sharded();
    const point = (mode) => cluster.admin({ configureFailPoint: 'shard_stale_config', mode });
    const { count } = await point({ times: 2 });
    await c.insertOne({ _id: 1 });
    assert.equal((await c.findOne())._id, 1);
    assert.equal((await point('off')).count >= count, true);
  });
});

describe('without test commands', () => {
  const cluster = useCluster();

  it('there is no configureFailPoint', async () => {
    assert.equal((await errorOf(cluster.admin({ configureFailPoint: 'failCommand', mode: 'off' }))).code, 59);
    assert.equal((await cluster.admin({ getParameter: '*' })).enableTestCommands, false);
  });
});

describe('fail points of other processes', () => {
  let cluster;
  let client;
  before(async () => {
    cluster = await ProcessCluster.create({ shards: 2, routers: 1 });
    for (const router of cluster.routers) router.args = ['--enable-test-commands'];
    await cluster.start();
    client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
  });
  after(async () => {
    await client?.close(true);
    await cluster.remove();
  });

  it('one shard ends at its next batch; the others live', async () => {
    const admin = client.db('admin');
    const c = client.db('test').collection('c');
    await admin.command({ shardCollection: 'test.c', key: { _id: 'hashed' } });
    const [first, second] = cluster.shards;
    await admin.command({ configureFailPoint: 'storage_writer_before_batch', mode: 'alwaysOn', data: { shard: 'shard1', action: 'crash' } });
    const ended = second.exited;
    const insert = c.insertMany(range(50).map((i) => ({ _id: i })), { ordered: false });
    assert.equal((await ended).code, 137);
    await second.start();
    await insert;
    assert.equal(await c.countDocuments(), 50);
    assert.ok(first.pid);
  });
});
