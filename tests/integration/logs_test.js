// Log lines: slow operations with their plan, ids that are the same on routers and shards, JSON.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { CLIENT_OPTIONS, errorOf, range, useCluster } = require('../lib/cluster.js');
const { ProcessCluster } = require('../lib/processes.js');

// The slow operations that a process has logged since `from` (a length of its standard error), as their attributes.
function slowLines(server, component, from = 0) {
  return server.stderr.slice(from).split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    .filter((line) => line.msg === 'slow operation' && line.c === component).map((line) => line.attr);
}

// Waits until a line with this text in its command is there.
async function awaitLine(server, component, marker) {
  for (let tries = 0; tries < 500; ++tries) {
    const found = slowLines(server, component).find((attr) => attr.command.includes(marker));
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no slow operation with ${marker}\n${server.logTail()}`);
}

describe('slow operations', () => {
  const args = ['--slowms', '0', '--log-format', 'json'];
  let cluster;
  let client;
  let rows;
  before(async () => {
    cluster = await ProcessCluster.create({ shards: 2, routers: 1 });
    for (const server of [...cluster.shards, ...cluster.routers]) server.args = args;
    await cluster.start();
    client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
    await client.db('admin').command({ shardCollection: 'test.rows', key: { _id: 'hashed' } });
    rows = client.db('test').collection('rows');
    await rows.insertMany(range(200).map((i) => ({ _id: i, a: i % 10, text: 'x'.repeat(50) })));
    await rows.createIndex({ a: 1, text: -1 });
  });
  after(async () => {
    await client?.close();
    await cluster.remove();
  });

  it('are logged with plan, shards and counts', async () => {
    for (const [run, marker, wanted] of [
      [() => rows.find({ text: { $ne: 'scan' } }).toArray(), 'scan', { plan: 'SHARD_MERGE COLLSCAN', nreturned: 101, outcome: 'OK' }],
      [() => rows.find({ a: 3, x: { $ne: 'sought' } }).toArray(), 'sought', { plan: 'SHARD_MERGE IXSCAN { a: 1, text: -1 }', nreturned: 20, keysExamined: 20, docsExamined: 20 }],
      [() => rows.findOne({ _id: 7, x: { $ne: 'byid' } }), 'byid', { nreturned: 1, docsExamined: 1 }],
      [() => rows.countDocuments({ x: { $ne: 'counted' } }), 'counted', { plan: 'SHARD_MERGE COLLSCAN', docsExamined: 200 }],
      [() => rows.distinct('a', { x: { $ne: 'distinguished' } }), 'distinguished', { nreturned: 10 }],
      [() => errorOf(rows.find({ $wrong: 1 }).toArray()), '$wrong', { outcome: 'BadValue' }],
    ]) {
      await run();
      const line = await awaitLine(cluster.routers[0], 'router', marker);
      assert.equal(line.ns, 'test.rows', marker);
      assert.equal(typeof line.ms, 'number');
      assert.equal(typeof line.connection, 'number');
      for (const [field, value] of Object.entries(wanted)) assert.equal(line[field], value, `${marker}: ${field}`);
    }
  });

  it('have the same request id on the router and its shards', async () => {
    await rows.find({ x: { $ne: 'everywhere' } }).toArray();
    const line = await awaitLine(cluster.routers[0], 'router', 'everywhere');
    assert.match(line.request, /^[0-9a-f]{8}-\d+$/);
    assert.deepEqual(line.shards.split(',').sort(), ['shard0', 'shard1']);
    for (const [number, shard] of cluster.shards.entries()) {
      const there = await awaitLine(shard, 'shard', 'everywhere');
      assert.equal(there.request, line.request);
      assert.equal(there.shard, number);
      assert.equal(there.plan, 'COLLSCAN');
      assert.ok(there.docsExamined > 0);
    }
  });

  it('are shown in short', async () => {
    await rows.insertMany(range(50).map((i) => ({ _id: `long${i}`, text: 'y'.repeat(5_000) })), { comment: 'c' });
    await rows.find({ text: { $in: range(100).map((i) => `long value ${i} ${'z'.repeat(100)}`) } }).toArray();
    const line = await awaitLine(cluster.routers[0], 'router', 'long value');
    assert.ok(line.command.length < 1_100, line.command);
    const insert = slowLines(cluster.routers[0], 'router').findLast((attr) => attr.command.includes('insert: "rows"'));
    assert.ok(insert.command.length < 200, insert.command);
    assert.ok(!insert.command.includes('lsid'));
  });
});

describe('what counts as slow', () => {
  const cluster = useCluster({ args: ['--log-format', 'json'] });
  const slow = () => slowLines(cluster.server, 'router').length;

  it('is 100 ms, until profile says something else', async () => {
    const { was, slowms, sampleRate } = await cluster.db.command({ profile: -1 });
    assert.deepEqual({ was, slowms, sampleRate }, { was: 0, slowms: 100, sampleRate: 1 });
    assert.equal((await cluster.db.command({ profile: 0, slowms: 0 })).slowms, 100);
    await cluster.db.command({ ping: 1, comment: 'logged' });
    assert.equal((await cluster.db.command({ profile: 0, slowms: 60_000 })).slowms, 0);
    const before = slow();
    assert.ok(before > 0);
    await cluster.db.command({ ping: 1 });
    assert.equal(slow(), before);
    assert.equal((await cluster.db.command({ profile: -1 })).slowms, 60_000);
  });

  it('and a router keeps no profile', async () => {
    assert.equal((await errorOf(cluster.db.command({ profile: 1 }))).code, 2);
    assert.equal((await errorOf(cluster.db.command({ profile: 'x' }))).code, 14);
  });
});
