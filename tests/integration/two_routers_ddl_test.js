// Two routers change the catalog at once: every change is there once, or refused for a reason, and the catalog agrees with the shards.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { ProcessCluster } = require('../lib/processes.js');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');

const ROUNDS = 15;
const ROWS = 100;

describe('two routers that change the catalog at once', () => {
  let cluster, clients;
  before(async () => {
    cluster = await (await ProcessCluster.create()).start();
    clients = await Promise.all(cluster.routers.map(({ uri }) => new MongoClient(uri, CLIENT_OPTIONS).connect()));
  });
  after(async () => {
    for (const client of clients) await client.close(true);
    await cluster.remove();
  });

  // The collection through router `i`.
  const through = (i, name) => clients[i % 2].db('ddl').collection(name);
  const admin = (i, command) => clients[i % 2].db('admin').command(command);
  const rows = () => range(ROWS).map((i) => ({ _id: i, a: i % 5, b: i % 7 }));
  const codeOf = (promise) => promise.then(() => 0, ({ code }) => code);

  async function check() {
    assert.equal(await clients[0].db('config').collection('jobs').countDocuments(), 0);
    for (const client of clients) {
      const { cursor } = await client.db('admin').command({ checkMetadataConsistency: 1 });
      assert.deepEqual(cursor.firstBatch, []);
    }
    for (const { name, type } of await clients[0].db('ddl').listCollections().toArray()) {
      if (type !== 'collection') continue;
      const { valid, errors } = await clients[1].db('ddl').command({ validate: name, full: true });
      assert.ok(valid, `${name}: ${JSON.stringify(errors)}`);
    }
  }

  for (const kind of ['unsharded', 'sharded']) {
    it(`${kind}: indexes of one collection`, async () => {
      const name = `indexes_${kind}`;
      if (kind === 'sharded') await admin(0, { shardCollection: `ddl.${name}`, key: { _id: 'hashed' } });
      await through(0, name).insertMany(rows());
      for (const round of range(ROUNDS)) {
        await Promise.all(range(4).map((i) => through(i, name).createIndex({ [`f${round}_${i}`]: 1 })));
        const there = (await through(round, name).indexes()).map((index) => index.name);
        for (const i of range(4)) assert.ok(there.includes(`f${round}_${i}_1`), `${round}: ${there}`);
        // Some go while others come.
        await Promise.all([...range(4).map((i) => through(i, name).dropIndex(`f${round}_${i}_1`)), through(round, name).createIndex({ a: 1, [`g${round}`]: 1 })]);
        const left = (await through(round + 1, name).indexes()).map((index) => index.name);
        assert.equal(left.length, round + 2 + (kind === 'sharded' ? left.filter((one) => one === '_id_hashed').length : 0), `${left}`);
      }
      await check();
    });
  }

  it('a collection that is made by both is made once', async () => {
    for (const round of range(ROUNDS)) {
      const name = `made${round}`;
      const codes = await Promise.all(range(2).map((i) => codeOf(admin(i, { shardCollection: `ddl.${name}`, key: { a: 'hashed' } }))));
      assert.deepEqual(codes, [0, 0]);
      await Promise.all(range(4).map((i) => through(i, name).insertOne({ _id: i, a: i })));
      assert.equal(await through(round, name).countDocuments(), 4);
      await Promise.all(range(4).map((i) => through(i, `implicit${round}`).insertOne({ _id: i })));
      assert.equal(await through(round, `implicit${round}`).countDocuments(), 4);
    }
    await check();
  });

  it('a collection that is dropped by one and changed by the other', async () => {
    for (const round of range(ROUNDS)) {
      const name = `dropped${round}`;
      await admin(round, { shardCollection: `ddl.${name}`, key: { _id: 'hashed' } });
      await through(round, name).insertMany(rows());
      const [, indexed] = await Promise.all([
        through(round, name).drop(),
        codeOf(through(round + 1, name).createIndex({ a: 1 })),
        codeOf(admin(round + 1, { reshardCollection: `ddl.${name}`, key: { b: 'hashed' } })),
        through(round, name).insertOne({ _id: -1 }),
      ]);
      assert.ok([0, 26].includes(indexed), `${indexed}`);  // NamespaceNotFound: gone while it was at it
      // Whatever came last: all see the same.
      const counts = await Promise.all(range(2).map((i) => through(i, name).countDocuments()));
      assert.equal(counts[0], counts[1]);
      assert.ok([0, 1].includes(counts[0]), `${counts}`);
    }
    await check();
  });

  it('names that change hands', async () => {
    for (const round of range(ROUNDS)) {
      const [from, to] = [`from${round}`, `to${round}`];
      await admin(round, { shardCollection: `ddl.${from}`, key: { _id: 'hashed' } });
      await through(round, from).insertMany(rows());
      const [renamed, made, inserted] = await Promise.all([
        codeOf(through(round, from).rename(to)),
        codeOf(clients[(round + 1) % 2].db('ddl').createCollection(to)),
        codeOf(through(round + 1, to).insertOne({ _id: 'x' })),
      ]);
      assert.ok([0, 48].includes(renamed), `${renamed}`);  // NamespaceExists
      assert.ok([0, 48].includes(made), `${made}`);
      assert.equal(inserted, 0);
      const counts = await Promise.all([from, to].flatMap((name) => range(2).map((i) => through(i, name).countDocuments())));
      assert.deepEqual(counts, renamed === 0 ? [0, 0, ROWS + 1, ROWS + 1] : [ROWS, ROWS, 1, 1]);
    }
    // To and fro between three names by both.
    const names = ['x', 'y', 'z'];
    await through(0, 'x').insertMany(rows());
    await Promise.all(range(2).map(async (i) => {
      for (const round of range(ROUNDS * 3)) await codeOf(through(i, names[(round + i) % 3]).rename(names[(round + i + 1 + (round % 2)) % 3]));
    }));
    const counts = await Promise.all(names.map((name) => through(0, name).countDocuments()));
    assert.deepEqual(counts.sort((a, b) => a - b), [0, 0, ROWS]);
    await check();
  });
});
