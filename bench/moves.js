#!/usr/bin/env node
// What moves of data cost: MB/s, the throughput of clients while data are moved against before, the longest statement.
//
// usage: moves.js [--gigabytes N] [--clients N] [--moves N] [--rate BYTES]     [1 GB of 1 KB rows, 8 clients, 20 moves, no limit]
// One process with three shards. The big collection lies on two of them; then the third joins, leaves and joins again, and the
// collection is resharded. Then a small collection is moved many times: how long do writes wait at the switch?
// The server is EVENKEEL_BINARY, else the release build; its folder is removed at the end.
'use strict';

const path = require('node:path');
const { parseArgs } = require('node:util');
const { MongoClient } = require('mongodb');

process.env.EVENKEEL_BINARY ??= path.resolve(__dirname, '..', 'build', 'release', 'cli', 'evenkeel');
const { Server } = require('../tests/lib/server.js');

const ROW_BYTES = 1000;
const BATCH = 1000;
const BEFORE_SECONDS = 10;
const SMALL_ROWS = 20_000;
const POLL_MS = 100;
const JOINING = 'shard2';
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const seconds = (since) => Number(process.hrtime.bigint() - since) / 1e9;
const share = (part, all) => Math.min(Math.floor(part * all), all - 1);

function makeRow(_id) {
  return { _id, n: 0, v: (_id * 2_654_435_761) % 4_294_967_296, pad: `${_id}`.padEnd(ROW_BYTES - 60, 'abcdefghijklmnopqrstuvwxyz') };
}

async function load(client, collection, rows) {
  await client.db('admin').command({ shardCollection: collection.namespace, key: { _id: 'hashed' } });
  let next = 0;
  await Promise.all(Array.from({ length: 4 }, async () => {
    while (next < rows) {
      const begin = next;
      next += BATCH;
      await collection.insertMany(Array.from({ length: Math.min(BATCH, rows - begin) }, (_, i) => makeRow(begin + i)), { ordered: false });
    }
  }));
}

// Clients that read and update rows in turn, and how long their statements take.
class Clients {
  constructor(collection, rows, count) {
    this.running = true;
    this.times = [];
    this.done = Promise.all(Array.from({ length: count }, () => this.run(collection, rows)));
  }

  async run(collection, rows) {
    for (let i = 0; this.running; ++i) {
      const _id = Math.floor(Math.random() * rows);
      const begin = process.hrtime.bigint();
      if (i % 2) await collection.findOne({ _id });
      else await collection.updateOne({ _id }, { $inc: { n: 1 } });
      this.times.push(seconds(begin) * 1000);
    }
  }

  // Statements per second, and the longest in milliseconds, while `work` runs.
  async during(work) {
    this.times = [];
    const begin = process.hrtime.bigint();
    await work();
    const took = seconds(begin);
    return { took, perSecond: this.times.length / took, longest: this.times.reduce((a, b) => Math.max(a, b), 0) };
  }

  async stop() {
    this.running = false;
    await this.done;
  }
}

async function setDraining(client, on) {
  await client.db('admin').command(on ? { startShardDraining: JOINING } : { stopShardDraining: JOINING });
}

// Until every collection has the newest ranges, and these are new.
async function balanced(client, versionBefore) {
  const config = client.db('config');
  while (true) {
    const [newest] = await config.collection('assignments').find().sort({ version: -1 }).limit(1).toArray();
    const left = await config.collection('catalog').countDocuments({ assignment: { $exists: true, $ne: newest._id } });
    if (Number(newest.version) > versionBefore && left === 0) return;
    await sleep(POLL_MS);
  }
}

async function newestVersion(client) {
  const [newest] = await client.db('config').collection('assignments').find().sort({ version: -1 }).limit(1).toArray();
  return Number(newest.version);
}

// From the command to the end; the balancer looks every three seconds.
async function move(client, draining) {
  const before = await newestVersion(client);
  await setDraining(client, draining);
  await balanced(client, before);
}

function report(name, before, during, megabytes) {
  console.log(`${name}: ${megabytes.toFixed(0)} MB in ${during.took.toFixed(1)} s, ${(megabytes / during.took).toFixed(1)} MB/s; `
    + `clients ${before.perSecond.toFixed(0)}/s before, ${during.perSecond.toFixed(0)}/s during, ratio ${(during.perSecond / before.perSecond).toFixed(2)}; `
    + `longest statement ${during.longest.toFixed(0)} ms (before ${before.longest.toFixed(0)} ms)`);
}

async function bigMoves(client, rows, clients) {
  const collection = client.db('bench').collection('big');
  await load(client, collection, rows);
  const load8 = new Clients(collection, rows, clients);
  const megabytes = rows * ROW_BYTES / 1e6;
  const steps = [
    ['two to three shards', megabytes / 3, () => move(client, false)],
    ['three to two shards', megabytes / 3, () => move(client, true)],
    ['reshardCollection', megabytes, () => client.db('admin').command({ reshardCollection: collection.namespace, key: { v: 'hashed' } })],
  ];
  for (const [name, moved, work] of steps) {
    const before = await load8.during(() => sleep(BEFORE_SECONDS * 1000));
    report(name, before, await load8.during(work), moved);
  }
  await load8.stop();
  const count = await collection.countDocuments({});
  if (count !== rows) throw new Error(`${count} documents instead of ${rows}`);
  await collection.drop();
}

async function smallMoves(client, clients, moves) {
  const collection = client.db('bench').collection('small');
  await load(client, collection, SMALL_ROWS);
  const writers = new Clients(collection, SMALL_ROWS, clients);
  const longest = [];
  for (let i = 0; i < moves; ++i) {
    longest.push((await writers.during(() => move(client, i % 2 === 1))).longest);
  }
  await writers.stop();
  longest.sort((a, b) => a - b);
  console.log(`${moves} moves of ranges of ${SMALL_ROWS} rows, ${clients} clients: longest statement of a move: `
    + `median ${longest[share(0.5, moves)].toFixed(0)} ms, 95th percentile ${longest[share(0.95, moves)].toFixed(0)} ms, most ${longest[moves - 1].toFixed(0)} ms`);
}

async function main() {
  const { values } = parseArgs({ options: {
    gigabytes: { type: 'string', default: '1' },
    clients: { type: 'string', default: '8' },
    moves: { type: 'string', default: '20' },
    rate: { type: 'string', default: '0' },
  } });
  const server = await new Server({ shards: 3, args: ['--move-rate', values.rate] }).start();
  const client = await new MongoClient(server.uri).connect();
  try {
    await move(client, true);
    await bigMoves(client, Number(values.gigabytes) * 1e9 / ROW_BYTES, Number(values.clients));
    await move(client, false);
    await move(client, true);
    await smallMoves(client, Number(values.clients), Number(values.moves));
  } finally {
    await client.close(true);
    await server.stop();
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
