// Two routers over one cluster: what is sent again through the other one is carried out once, even at the same time.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { Long, MongoClient, UUID } = require('mongodb');
const { ProcessCluster } = require('../lib/processes.js');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');
const { Wire } = require('../lib/wire.js');

const ROUNDS = 25;

describe('one statement through two routers at once', () => {
  let cluster, client, db;
  const wires = [];
  let collections = 0;

  before(async () => {
    cluster = await (await ProcessCluster.create()).start();
    client = await new MongoClient(cluster.routers[0].uri, CLIENT_OPTIONS).connect();
    db = client.db('t');
    for (const router of cluster.routers) wires.push(await Wire.connect(router.port));
  });
  after(async () => {
    for (const wire of wires) wire.close();
    await client.close(true);
    await cluster.remove();
  });

  async function sharded() {
    const name = `c${++collections}`;
    await client.db('admin').command({ shardCollection: `t.${name}`, key: { k: 'hashed' } });
    return db.collection(name);
  }

  // The replies of both routers to the same command, sent to both at once under one transaction number, and again later.
  async function everywhere(command) {
    const tagged = { ...command, $db: 't', lsid: { id: new UUID() }, txnNumber: Long.fromNumber(1) };
    const replies = await Promise.all(wires.map((wire) => wire.command(tagged)));
    replies.push(await wires[collections % 2].command(tagged));
    for (const reply of replies) assert.equal(reply.ok, 1, JSON.stringify(reply));
    return replies.map(({ n, nModified, upserted, lastErrorObject, value, writeErrors }) => JSON.stringify({ n, nModified, upserted, lastErrorObject, value, writeErrors }));
  }

  // `check` looks at the collection after each round.
  async function rounds(documents, command, check) {
    const c = await sharded();
    await c.insertMany(documents);
    for (let round = 1; round <= ROUNDS; ++round) {
      const replies = await everywhere(command(c.collectionName, round));
      assert.equal(new Set(replies).size, 1, `round ${round}: ${replies.join('\n')}`);
      await check(c, round);
    }
  }
  const jobs = range(ROUNDS * 2).map((i) => ({ _id: i, k: i, state: 'ready' }));

  it('updateOne without the shard key', () => rounds(jobs,
    (update, round) => ({ update, updates: [{ q: { state: 'ready' }, u: { $set: { state: `taken ${round}` } } }] }),
    async (c, round) => assert.equal(await c.countDocuments({ state: `taken ${round}` }), 1)));

  it('updates of several statements', () => rounds(jobs,
    (update, round) => ({ update, updates: range(2).map(() => ({ q: { state: 'ready' }, u: { $set: { state: `taken ${round}` } } })) }),
    async (c, round) => assert.equal(await c.countDocuments({ state: `taken ${round}` }), 2)));

  it('deleteOne without the shard key', () => rounds(jobs,
    (name) => ({ delete: name, deletes: [{ q: { state: 'ready' }, limit: 1 }] }),
    async (c, round) => assert.equal(await c.countDocuments(), jobs.length - round)));

  it('findAndModify without the shard key', () => rounds(jobs,
    (name, round) => ({ findAndModify: name, query: { state: 'ready' }, sort: { _id: 1 }, update: { $set: { state: `taken ${round}` } }, new: true }),
    async (c, round) => assert.equal(await c.countDocuments({ state: `taken ${round}` }), 1)));

  it('findAndModify that removes', () => rounds(jobs,
    (name) => ({ findAndModify: name, query: { state: 'ready' }, remove: true }),
    async (c, round) => assert.equal(await c.countDocuments(), jobs.length - round)));

  it('upserts that insert, and those that find', () => rounds(jobs,
    (update, round) => ({ update, updates: [{ q: { name: `n${round >> 1}` }, u: { $inc: { n: 1 }, $setOnInsert: { k: round } }, upsert: true }] }),
    async (c, round) => assert.deepEqual((await c.find({ name: `n${round >> 1}` }).toArray()).map((d) => d.n), [round > 1 && round % 2 === 1 ? 2 : 1])));

  it('upserts by findAndModify', () => rounds(jobs,
    (name, round) => ({ findAndModify: name, query: { name: `n${round}` }, update: { $inc: { n: 1 }, $setOnInsert: { k: round } }, upsert: true, new: true }),
    async (c, round) => assert.deepEqual((await c.find({ name: `n${round}` }).toArray()).map((d) => d.n), [1])));

  it('updates that move their document', () => rounds(jobs,
    (update, round) => ({ update, updates: [{ q: { _id: 0 }, u: { $set: { k: 1000 + round }, $inc: { n: 1 } } }] }),
    async (c, round) => assert.deepEqual(await c.find({ _id: 0 }).toArray(), [{ _id: 0, k: 1000 + round, state: 'ready', n: round }])));

  it('upserts of different clients through both insert once', async () => {
    const c = await sharded();
    for (const round of range(ROUNDS)) {
      const upsert = (q) => ({ update: c.collectionName, updates: [{ q, u: { $inc: { n: 1 }, $setOnInsert: { k: Math.floor(Math.random() * 1e9) } }, upsert: true }], $db: 't' });
      for (const filter of [{ _id: `id${round}` }, { name: `name${round}` }]) {
        const replies = await Promise.all(wires.map((wire) => wire.command(upsert(filter))));
        for (const reply of replies) assert.equal(reply.n, 1, JSON.stringify(reply));
        assert.deepEqual((await c.find(filter).toArray()).map((d) => d.n), [2]);
      }
    }
  });

  it('the next number of the session goes on from there', async () => {
    const c = await sharded();
    await c.insertMany(jobs.map((job) => ({ ...job })));
    const lsid = { id: new UUID() };
    const take = (n) => ({ update: c.collectionName, updates: [{ q: { state: 'ready' }, u: { $set: { state: 'taken' } } }], $db: 't', lsid, txnNumber: Long.fromNumber(n) });
    for (const n of range(10)) assert.equal((await wires[n % 2].command(take(n))).nModified, 1);
    assert.equal(await c.countDocuments({ state: 'taken' }), 10);
    assert.equal((await wires[1].command(take(9))).nModified, 1);
    assert.equal(await c.countDocuments({ state: 'taken' }), 10);
  });
});
