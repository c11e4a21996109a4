#!/usr/bin/env node
// Speeds of pipelines as ratios within one run, costs per operator, and the long run of sorts and groups that go to disk.
//
// usage: aggregate.js [--rows N]               goals and costs per row [1,000,000 rows of 1 KB]
//        aggregate.js --spill GB --memory MB   sorts and groups GB of rows with MB of memory per operator
// The server is EVENKEEL_BINARY, else the release build; its folder is removed at the end.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { MongoClient } = require('mongodb');

process.env.EVENKEEL_BINARY ??= path.resolve(__dirname, '..', 'build', 'release', 'cli', 'evenkeel');
const { Server } = require('../tests/lib/server.js');

const ROW_BYTES = 1000;
const BATCH = 2000;
const LOADERS = 4;
const RUNS = 3;
const TICKS_PER_SECOND = 100;
const GROUPS = 20;
const MB = 1024 * 1024;
const ROUTE = { _id: 'hashed' };

const COUNT = [{ $match: { g: { $gte: 0 } } }, { $count: 'n' }];
const COSTS = {
  '$match, $count': COUNT,
  '$group by 20 values, $sum': [{ $group: { _id: '$g', n: { $sum: 1 } } }],
  '$group by 20 values, four accumulators': [{ $group: { _id: '$g', n: { $sum: 1 }, a: { $avg: '$v' }, l: { $min: '$v' }, m: { $max: '$v' } } }],
  '$group by a value per row': [{ $group: { _id: '$v', n: { $sum: 1 } } }, { $count: 'n' }],
  '$sort, $limit 100': [{ $sort: { v: 1 } }, { $limit: 100 }],
  '$sort of two fields, $group': [{ $sort: { v: 1 } }, { $group: { _id: '$g', p: { $push: '$h' } } }, { $project: { n: { $size: '$p' } } }],
  '$project of two fields, $count': [{ $project: { g: 1, x: { $add: ['$v', 1] } } }, { $match: { x: { $gt: 0 } } }, { $count: 'n' }],
  '$unwind of three, $count': [{ $unwind: '$list' }, { $count: 'n' }],
  '$bucketAuto': [{ $bucketAuto: { groupBy: '$v', buckets: 10 } }],
  '$setWindowFields, running sum': [{ $project: { g: 1, v: 1 } }, { $setWindowFields: { partitionBy: '$v', sortBy: { v: 1 }, output: { r: { $sum: '$g', window: { documents: ['unbounded', 'current'] } } } } }, { $count: 'n' }],
};

function makeRow(_id) {
  const v = (_id * 2_654_435_761) % 4_294_967_296;
  const row = { _id, g: _id % GROUPS, h: v % 1000, v, list: [_id % 3, _id % 5, _id % 7], pad: '' };
  row.pad = `${v}`.padEnd(ROW_BYTES - 110, 'abcdefghijklmnopqrstuvwxyz');
  return row;
}

async function load(client, collection, rows) {
  await client.db('admin').command({ shardCollection: collection.namespace, key: ROUTE });
  let next = 0;
  await Promise.all(Array.from({ length: LOADERS }, async () => {
    while (next < rows) {
      const begin = next;
      next += BATCH;
      await collection.insertMany(Array.from({ length: Math.min(BATCH, rows - begin) }, (_, i) => makeRow(begin + i)), { ordered: false });
    }
  }));
}

// Seconds of a pipeline that is run to its end.
async function time(collection, pipeline) {
  const start = process.hrtime.bigint();
  let rows = 0;
  for await (const row of collection.aggregate(pipeline, { allowDiskUse: true })) rows += row ? 1 : 0;
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9, rows };
}

// Seconds of processor time that a process has used.
function processorOf(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

// The best of several runs: seconds, and processor time of the server, which other work on the machine disturbs less.
async function best(collection, pipeline, server) {
  let [seconds, processor] = [Infinity, Infinity];
  for (let i = 0; i < RUNS; ++i) {
    const before = processorOf(server.pid);
    seconds = Math.min(seconds, (await time(collection, pipeline)).seconds);
    processor = Math.min(processor, processorOf(server.pid) - before);
  }
  return { seconds, processor };
}

async function withServer(options, body) {
  const server = await new Server(options).start();
  const client = await new MongoClient(server.uri).connect();
  try {
    return await body(client.db('bench').collection('rows'), client, server);
  } finally {
    await client.close(true);
    await server.stop();
    await server.remove();
  }
}

function goal(text, ratio, wanted, fits) {
  console.log(`${fits ? 'ok   ' : 'SHORT'} ${text}: ${ratio.toFixed(2)}, wanted ${wanted}`);
}

async function measureGoals(rows) {
  const three = await withServer({ shards: 3 }, async (collection, client, server) => {
    await load(client, collection, rows);
    const costs = {};
    for (const [name, pipeline] of Object.entries(COSTS)) {
      costs[name] = await best(collection, pipeline, server);
      const { seconds, processor } = costs[name];
      console.log(`${name.padEnd(45)} ${seconds.toFixed(2)} s, ${((processor * 1e9) / rows).toFixed(0)} ns of processor time a row`);
    }
    return costs;
  });
  const one = await withServer({ shards: 1, args: ['--pool-threads', '1'] }, async (collection, client, server) => {
    await load(client, collection, rows);
    return best(collection, COSTS['$group by 20 values, $sum'], server);
  });
  const [count, group, sort] = ['$match, $count', '$group by 20 values, $sum', '$sort, $limit 100'].map((name) => three[name]);
  goal('$group by few values over the count by scan', group.processor / count.processor, '≤ 4', group.processor / count.processor <= 4);
  goal('$sort and $limit 100 over the count by scan', sort.processor / count.processor, '≤ 2', sort.processor / count.processor <= 2);
  goal('three shards with a scan thread per core over one shard with one', one.seconds / group.seconds, '≥ 1.5', one.seconds / group.seconds >= 1.5);
}

function memoryOf(pid) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)[1]) / 1024;
}

async function measureSpilling(gigabytes, megabytes) {
  const names = ['internalQueryMaxBlockingSortMemoryUsageBytes', 'internalDocumentSourceGroupMaxMemoryBytes'];
  const args = names.flatMap((name) => ['--setParameter', `${name}=${megabytes * MB}`]);
  const rows = Math.round((gigabytes * 1024 * MB) / ROW_BYTES);
  await withServer({ shards: 1, args }, async (collection, client, server) => {
    await load(client, collection, rows);
    const pipelines = {
      $sort: [{ $sort: { v: 1 } }],
      $group: [{ $group: { _id: '$v', row: { $first: '$pad' }, n: { $sum: 1 } } }],
    };
    for (const [name, pipeline] of Object.entries(pipelines)) {
      let peak = 0;
      const watch = setInterval(() => { peak = Math.max(peak, memoryOf(server.pid)); }, 200);
      const { seconds, rows: given } = await time(collection, pipeline);
      clearInterval(watch);
      console.log(`${name} of ${gigabytes} GB with ${megabytes} MB: ${seconds.toFixed(1)} s, ${given} rows, ${peak.toFixed(0)} MB of anonymous memory at most`);
    }
  });
}

async function main() {
  const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' }, spill: { type: 'string' }, memory: { type: 'string', default: '1024' } } });
  if (values.spill) return measureSpilling(Number(values.spill), Number(values.memory));
  return measureGoals(Number(values.rows));
}

main().catch((error) => {
  console.error(error.stack);
  process.exit(1);
});
