// How far moves are: evenkeel moves, currentOp, the log; and the rate that they keep.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { run } = require('../lib/cli.js');
const { CLIENT_OPTIONS, errorOf, range, useCluster } = require('../lib/cluster.js');
const { ProcessCluster } = require('../lib/processes.js');

const DOCUMENTS = 6000;
// A move that is allowed so little comes no further than its first batch.
const STANDSTILL = 1;

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
const moves = (...args) => run('moves', ...args);
const number = (value) => Number(value?.$numberLong ?? value);

// Makes `collection` and begins to give it another shard key, at a standstill. Resolves with {done: its promise} once
// something was copied.
async function stuckMove(admin, collection) {
  await admin.command({ shardCollection: collection.namespace, key: { _id: 'hashed' } });
  await collection.insertMany(range(DOCUMENTS).map((i) => ({ _id: i, k: i % 97, text: 'x'.repeat(200) })));
  await admin.command({ setParameter: 1, migrationBytesPerSecond: STANDSTILL });
  const done = admin.command({ reshardCollection: collection.namespace, key: { k: 'hashed' } });
  done.catch(() => {});
  while (true) {
    const [move] = (await admin.command({ clusterMoves: 1 })).moves;
    if (move?.documents > 0) return { done };
    await pause();
  }
}

describe('moves of one process', () => {
  const cluster = useCluster();
  const json = async () => JSON.parse((await moves('--port', String(cluster.server.port), '--json')).stdout);
  const allow = (bytes) => cluster.admin({ setParameter: 1, migrationBytesPerSecond: bytes });
  const text = async (...args) => (await moves('--port', String(cluster.server.port), ...args)).stdout;

  it('none', async () => {
    const { code, stdout } = await moves('--uri', cluster.server.uri);
    assert.equal(code, 0);
    assert.equal(stdout, 'no moves\n');
    assert.deepEqual(await json(), { moves: [], state: 'ok', problems: [] });
  });

  it('one in a table, as JSON, in currentOp, in the log', async () => {
    const collection = cluster.collection();
    const { done } = await stuckMove(cluster.client.db('admin'), collection);
    const table = await text();
    assert.match(table, /^COLLECTION +MOVE +FROM +TO +PHASE +DONE +BYTES +OF +RATE +LAG +LEFT$/m);
    assert.match(table, new RegExp(`^${collection.namespace} +reshardCollection +\\{"_id":"hashed"\\} +\\{"k":"hashed"\\} +cloning +\\[#+-+\\] +\\d+ % +`, 'm'));

    const [move] = (await json()).moves;
    assert.equal(number(move.documentsTotal), DOCUMENTS);
    assert.ok(number(move.documents) > 0 && number(move.documents) < DOCUMENTS);
    assert.ok(number(move.bytes) > 0 && number(move.bytes) < number(move.bytesTotal));

    const shown = { type: 'op', 'originatingCommand.reshardCollection': collection.namespace };
    const [row] = await cluster.client.db('admin').aggregate([{ $currentOp: { allUsers: true, localOps: false } }, { $match: shown }]).toArray();
    assert.match(row.desc, /^ReshardingMetricsRecipientService [\da-f-]{36}$/);
    assert.equal(row.recipientState, 'cloning');
    assert.equal(row.approxDocumentsToCopy, DOCUMENTS);
    assert.equal(row.documentsCopied, number(move.documents));
    const { inprog } = await cluster.admin({ currentOp: 1, ...shown });
    assert.equal(inprog.length, 1);

    while (!/ddl a move goes on .*phase=cloning/.test(cluster.server.stderr)) await pause();
    await allow(0);
    await done;
    assert.match(cluster.server.stderr, new RegExp(`a move begins kind=reshardCollection ns=${collection.namespace}`));
    const end = new RegExp(`a move has ended .*ns=${collection.namespace} outcome=OK documents=${DOCUMENTS} bytes=\\d+ seconds=[\\d.]+ megabytesPerSecond=[\\d.]+ .*writesClosedMs=\\d+`);
    while (!end.test(cluster.server.stderr)) await pause();
    assert.equal(await text(), 'no moves\n');
    assert.equal(await collection.countDocuments(), DOCUMENTS);
  });

  it('--watch shows it until its end', async () => {
    const { done } = await stuckMove(cluster.client.db('admin'), cluster.collection());
    const watched = moves('--port', String(cluster.server.port), '--watch');
    while (watched.out.stdout.split('reshardCollection').length < 3) await pause();
    await allow(0);
    await done;
    const { code, stdout } = await watched;
    assert.equal(code, 0);
    assert.match(stdout, /no moves\n$/);
  });

  it('a move that waits for its turn can be aborted', async () => {
    const collection = cluster.collection();
    const { done } = await stuckMove(cluster.client.db('admin'), collection);
    await cluster.admin({ abortReshardCollection: collection.namespace });
    assert.equal((await errorOf(done)).code, 341);
    assert.equal(await collection.countDocuments(), DOCUMENTS);
    await allow(0);
  });

  it('the rate is kept', async () => {
    const collection = cluster.collection();
    await collection.insertMany(range(DOCUMENTS).map((i) => ({ _id: i, text: 'x'.repeat(200) })));
    const { size } = await cluster.db.command({ collStats: collection.collectionName });
    await allow(Math.round(size / 2));
    const begun = Date.now();
    await cluster.admin({ shardCollection: collection.namespace, key: { _id: 'hashed' } });
    // The last of its batches is not waited for, and a quarter of a second may have been saved up.
    assert.ok(Date.now() - begun > 1000, `${Date.now() - begun} ms`);
    await allow(0);
  });

  it('what cannot be asked', async () => {
    for (const [args, wanted] of [[['--port', '1'], /refused/], [['--nonsense'], /--nonsense/], [['--uri', 'http://host/'], /mongodb:\/\//]]) {
      const { code, stderr } = await moves(...args);
      assert.equal(code, 2);
      assert.match(stderr, wanted);
    }
  });
});

describe('moves of several routers', () => {
  let cluster;
  let clients;
  before(async () => {
    cluster = await (await ProcessCluster.create({ shards: 2, routers: 2 })).start();
    clients = await Promise.all(cluster.routers.map((router) => new MongoClient(router.uri, CLIENT_OPTIONS).connect()));
  });
  after(async () => {
    await Promise.all((clients ?? []).map((client) => client.close(true)));
    await cluster.remove();
  });

  it('every router knows them', async () => {
    const admins = clients.map((client) => client.db('admin'));
    const { done } = await stuckMove(admins[0], clients[0].db('test').collection('c'));
    const other = async () => JSON.parse((await moves('--port', String(cluster.routers[1].port), '--json')).stdout).moves[0];
    assert.equal((await other()).router, `127.0.0.1:${cluster.routers[0].port}`);
    while (number((await other()).documents) === 0) await pause();
    assert.equal(number((await other()).documentsTotal), DOCUMENTS);
    const shown = [{ $currentOp: {} }, { $match: { 'originatingCommand.reshardCollection': 'test.c' } }];
    while ((await admins[1].aggregate(shown).toArray()).length === 0) await pause();
    await admins[0].command({ setParameter: 1, migrationBytesPerSecond: 0 });
    await done;
    assert.deepEqual((await admins[1].command({ clusterMoves: 1 })).moves, []);
    while ((await admins[1].aggregate(shown).toArray()).length !== 0) await pause();
  });
});
