// currentOp and killOp: what a router is doing, and how it is told to stop.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { Long, MongoClient } = require('mongodb');
const { CLIENT_OPTIONS, useCluster, errorOf, range } = require('../lib/cluster.js');
const { ProcessCluster } = require('../lib/processes.js');
const { Wire } = require('../lib/wire.js');

const INTERRUPTED = 11601;
// A stage that takes its time for every document.
const SLOW = { $set: { slow: { $reduce: { input: { $range: [0, 20_000] }, initialValue: 0, in: { $add: ['$$value', '$$this'] } } } } };
const PATIENCE_MS = 30_000;

// The rows of $currentOp that match.
function operations(client, match = {}, options = {}) {
  return client.db('admin').aggregate([{ $currentOp: options }, { $match: match }]).toArray();
}

// Waits until there is a row that matches.
async function operation(client, match, options) {
  const give_up = Date.now() + PATIENCE_MS;
  for (;;) {
    const [row] = await operations(client, match, options);
    if (row) return row;
    assert.ok(Date.now() < give_up, `no operation ${JSON.stringify(match)}`);
    await sleep(20);
  }
}

describe('operations', () => {
  const cluster = useCluster({ client: { appName: 'operations test' } });

  // A transaction that holds document 1 of a new collection.
  async function holding() {
    const c = await cluster.sharded();
    await c.insertOne({ _id: 1, n: 0 });
    const session = cluster.client.startSession();
    session.startTransaction();
    await c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session });
    return { c, session };
  }

  it('shows an operation under way, and killOp ends it though it waits for a key', async () => {
    const { c, session } = await holding();
    const waiting = errorOf(c.updateOne({ _id: 1 }, { $inc: { n: 100 } }));
    const row = await operation(cluster.client, { op: 'update', ns: c.namespace });
    assert.equal(row.type, 'op');
    assert.equal(row.active, true);
    assert.equal(row.appName, 'operations test');
    assert.match(row.desc, /^conn\d+$/);
    assert.match(row.client, /^127\.0\.0\.1:\d+$/);
    assert.equal(row.clientMetadata.driver.name, 'nodejs');
    assert.equal(typeof row.opid, 'number');
    assert.equal(typeof row.secs_running, 'number');
    assert.ok(Number(row.microsecs_running) >= 0);
    assert.equal(row.command.update, c.collectionName);
    assert.ok(row.lsid.id);
    assert.equal(row.transaction, undefined);
    const killed = await cluster.admin({ killOp: 1, op: row.opid });
    assert.deepEqual([killed.ok, killed.info], [1, 'attempting to kill op']);
    assert.equal((await waiting).code, INTERRUPTED);
    await session.commitTransaction();
    assert.equal((await c.findOne()).n, 1);
    assert.equal((await cluster.admin({ killOp: 1, op: row.opid })).ok, 1);
  });

  it('the command has the same rows, and its fields are a filter', async () => {
    const { c, session } = await holding();
    const waiting = errorOf(c.deleteOne({ _id: 1 }));
    await operation(cluster.client, { op: 'remove', ns: c.namespace });
    const { inprog } = await cluster.admin({ currentOp: 1, ns: c.namespace, microsecs_running: { $gt: 0 } });
    assert.deepEqual(inprog.map((row) => row.op), ['remove']);
    assert.deepEqual((await cluster.admin({ currentOp: 1, secs_running: { $gt: 1e6 } })).inprog, []);
    const idle = await Wire.connect(cluster.server.port);
    await idle.command({ ping: 1 });
    assert.ok((await cluster.admin({ currentOp: 1, $all: true })).inprog.some((row) => row.active === false && row.type === 'op'));
    idle.close();
    await cluster.admin({ killOp: 1, op: inprog[0].opid });
    assert.equal((await waiting).code, INTERRUPTED);
    await session.abortTransaction();
  });

  it('kills long scans and waits for a session', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(2000).map((i) => ({ _id: i })));
    const pipeline = [SLOW, { $match: { slow: -1 } }];
    const session = cluster.client.startSession();
    const scan = errorOf(c.aggregate(pipeline, { session }).toArray());
    const row = await operation(cluster.client, { ns: c.namespace, 'command.aggregate': c.collectionName });
    const behind = errorOf(c.findOne({ _id: 1 }, { session }));
    const second = await operation(cluster.client, { ns: c.namespace, op: 'query' });
    await cluster.admin({ killOp: 1, op: second.opid });
    assert.equal((await behind).code, INTERRUPTED);
    await cluster.admin({ killOp: 1, op: row.opid });
    assert.equal((await scan).code, INTERRUPTED);
    await session.endSession();
  });

  it('shows transactions: with their statement, and idle ones as sessions', async () => {
    const { c, session } = await holding();
    const idle = { 'lsid.id': session.id.id };
    const [row] = await operations(cluster.client, { type: 'idleSession', ...idle }, { idleSessions: true });
    assert.equal(row.desc, 'inactive transaction');
    assert.equal(row.active, false);
    assert.deepEqual(row.transaction.parameters, { txnNumber: Number(session.serverSession.txnNumber), autocommit: false, readConcern: {} });
    assert.ok(row.transaction.readTimestamp);
    assert.ok(Date.parse(row.transaction.startWallClockTime) <= Date.now() + 60_000);
    assert.equal(Date.parse(row.transaction.expiryTime) - Date.parse(row.transaction.startWallClockTime), 60_000);
    const { timeOpenMicros, timeActiveMicros, timeInactiveMicros } = row.transaction;
    assert.equal(Number(timeOpenMicros), Number(timeActiveMicros) + Number(timeInactiveMicros));
    assert.ok(Number(timeActiveMicros) > 0);
    assert.deepEqual(row.transaction.participants.map((p) => [p.coordinator, p.readOnly]), [[true, false]]);
    assert.equal((await operations(cluster.client, { type: 'idleSession', ...idle }, { idleSessions: false })).length, 0);
    // With a statement under way that belongs to it.
    const other = cluster.client.startSession();
    other.startTransaction({ readConcern: { level: 'snapshot' } });
    await c.insertMany(range(2000).map((i) => ({ _id: 10 + i })));
    const long = errorOf(c.aggregate([SLOW, { $match: { slow: -1 } }], { session: other }).toArray());
    const busy = await operation(cluster.client, { type: 'op', 'lsid.id': other.id.id, transaction: { $exists: true } });
    assert.equal(busy.transaction.parameters.readConcern.level, 'snapshot');
    await cluster.admin({ killOp: 1, op: busy.opid });
    assert.equal((await long).code, INTERRUPTED);
    await other.abortTransaction();
    await session.commitTransaction();
    assert.equal((await operations(cluster.client, { type: 'idleSession' })).length, 0);
  });

  it('shows idle cursors and connections', async () => {
    const c = cluster.collection();
    await c.insertMany(range(10).map((i) => ({ _id: i })));
    const { cursor } = await cluster.db.command({ find: c.collectionName, batchSize: 2 });
    const [row] = await operations(cluster.client, { type: 'idleCursor', ns: c.namespace }, { idleCursors: true });
    assert.equal(String(row.cursor.cursorId), String(cursor.id));
    assert.equal(row.cursor.originatingCommand.find, c.collectionName);
    assert.ok(row.cursor.createdDate instanceof Date);
    assert.equal((await operations(cluster.client, { type: 'idleCursor' })).length, 0);
    await cluster.db.command({ killCursors: c.collectionName, cursors: [Long.fromValue(cursor.id)] });
    const connections = await operations(cluster.client, { active: false, type: 'op' }, { idleConnections: true });
    assert.ok(connections.every((connection) => connection.connectionId !== undefined));
  });

  it('killing a session ends what it does, its transaction and its cursors', async () => {
    const { c, session } = await holding();
    await c.insertMany(range(10).map((i) => ({ _id: 10 + i })));
    const victim = cluster.client.startSession();
    const cursor = c.find({ _id: { $gt: 1 } }, { session: victim, batchSize: 2 });
    assert.ok(await cursor.next());
    const waiting = errorOf(c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: victim }));
    await operation(cluster.client, { op: 'update', ns: c.namespace });
    await cluster.admin({ killSessions: [{ id: victim.id.id }] });
    assert.equal((await waiting).code, INTERRUPTED);
    assert.equal((await errorOf(cursor.toArray())).code, 43);
    // The transaction of another session goes on until it is meant.
    assert.equal((await c.findOne({ _id: 1 }, { session })).n, 1);
    await cluster.admin({ killAllSessionsByPattern: [{ lsid: { id: session.id.id, uid: (await operations(cluster.client, { type: 'idleSession' }))[0].lsid.uid } }] });
    assert.equal((await errorOf(session.commitTransaction())).code, 251);
    assert.equal((await c.updateOne({ _id: 1 }, { $inc: { n: 5 } })).modifiedCount, 1);
    assert.equal((await c.findOne({ _id: 1 })).n, 5);
  });

  it('lists its sessions', async () => {
    const session = cluster.client.startSession();
    await cluster.db.command({ ping: 1 }, { session });
    const listed = await cluster.client.db('admin').aggregate([{ $listLocalSessions: { allUsers: true } }, { $match: { '_id.id': session.id.id } }]).toArray();
    assert.equal(listed.length, 1);
    assert.ok(listed[0].lastUse instanceof Date);
    await session.endSession();
  });

  it('refuses what is no operation', async () => {
    const cases = [[{ killOp: 1 }, 4], [{ killOp: 1, op: 'x' }, 14], [{ killOp: 1, op: null }, 14], [{ killOp: 1, op: 1.5 }, 2], [{ killOp: 1, op: 2 ** 31 }, 26823]];
    for (const [command, code] of cases) assert.equal((await errorOf(cluster.admin(command))).code, code, JSON.stringify(command));
    assert.equal((await cluster.admin({ killOp: 1, op: 'shard0:12' })).ok, 1);
    assert.equal((await errorOf(cluster.db.command({ killOp: 1, op: 1 }))).code, 13);
    assert.equal((await errorOf(cluster.admin({ currentOp: 1, x: { $bad: 1 } }))).code, 2);
  });
});

describe('operations on shards in processes of their own', () => {
  let cluster, client;
  before(async () => {
    cluster = await (await ProcessCluster.create({ shards: 2, routers: 1 })).start();
    client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
  });
  after(async () => {
    await client.close(true);
    await cluster.remove();
  });

  it('killOp ends a write that is parked on a key: it does not happen later', async () => {
    const c = client.db('t').collection('c');
    await c.insertOne({ _id: 1, n: 0 });
    const session = client.startSession();
    session.startTransaction();
    await c.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session });
    const waiting = errorOf(c.updateOne({ _id: 1 }, { $inc: { n: 100 } }));
    const row = await operation(client, { op: 'update', ns: 't.c' });
    await client.db('admin').command({ killOp: 1, op: row.opid });
    assert.equal((await waiting).code, INTERRUPTED);
    await session.commitTransaction();
    // In line behind it, if it were still there.
    await c.updateOne({ _id: 1 }, { $inc: { n: 10 } });
    assert.equal((await c.findOne()).n, 11);
  });
});
