#!/usr/bin/env node
// The torture of transactions: routers and shards in processes of their own are killed, stopped and made to die inside commits,
// while clients move money, append to lists, swap around a ring and take unique numbers. Then everything must add up.
//
// usage: torture.js [--seconds N | --minutes N | --hours N] [--seed S] [--plant POINT]
// The seed is printed; it fixes the load and the kinds of faults, not the moment they hit. --plant arms a fail point that breaks a
// promise: the run has to fail then. The folder of a failed run stays.
'use strict';

const { parseArgs } = require('node:util');
const { MongoClient } = require('mongodb');
const { ProcessCluster } = require('../../lib/processes.js');
const { Random } = require('../../lib/random.js');
const { History } = require('./history.js');

const CRASHED = 137;  // the exit status of a process that ended itself at a point
const ACCOUNTS = 30, START = 100, LISTS = 12, RING = 9;
const CLIENT_OPTIONS = { serverSelectionTimeoutMS: 30_000, heartbeatFrequencyMS: 500, maxPoolSize: 64, socketTimeoutMS: 20_000, connectTimeoutMS: 2_000 };
// Where a shard dies inside a commit.
const POINTS = ['txn_participant_before_prepare', 'txn_participant_after_prepare', 'txn_coordinator_before_decision',
  'txn_coordinator_after_decision', 'txn_participant_before_outcome', 'txn_participant_after_outcome',
  'txn_coordinator_before_forget', 'txn_coordinator_after_forget', 'storage_log_before_write', 'storage_log_before_write'];

const delay = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

function options() {
  const text = { type: 'string' };
  const { values } = parseArgs({ options: { seconds: text, minutes: text, hours: text, seed: text, plant: text } });
  const seconds = Number(values.seconds ?? 0) + 60 * Number(values.minutes ?? 0) + 3600 * Number(values.hours ?? 0);
  return { seconds: seconds || 60, seed: Number(values.seed ?? 1 + Math.floor(Math.random() * 2 ** 31)), plant: values.plant };
}

class Torture {
  constructor(settings) {
    this.settings = settings;
    this.random = new Random(settings.seed);
    this.history = new History();
    this.counts = { transfers: 0, sums: 0, appends: 0, swaps: 0, numbers: 0, kills: 0, stops: 0, points: 0, unknown: 0 };
    this.problems = [];
    this.numbers = [];
    this.stopping = false;
  }

  // As the environment wants it; `more` is armed beside it.
  planted(...more) {
    const { plant } = this.settings;
    return [...(plant ? [`${plant}=${plant === 'txn_plant_no_prepare' ? 'probability:0.3:7' : 'always'}`] : []), ...more].join(';');
  }

  async prepare() {
    const env = this.settings.plant ? { EVENKEEL_FAIL_POINTS: this.planted() } : {};
    this.cluster = await ProcessCluster.create({ shards: 3, routers: 2 });
    for (const server of [...this.cluster.shards, ...this.cluster.routers]) server.env = env;
    await this.cluster.start();
    const hosts = this.cluster.routers.map((router) => `127.0.0.1:${router.port}`).join(',');
    this.client = await new MongoClient(`mongodb://${hosts}/`, CLIENT_OPTIONS).connect();
    const db = this.client.db('torture');
    const documents = { bank: [ACCOUNTS, (i) => ({ _id: i, n: START })], lists: [LISTS, (i) => ({ _id: `l${i}`, list: [] })],
      ring: [RING, (i) => ({ _id: i, at: i })], counter: [1, () => ({ _id: 'next', n: 0 })] };
    for (const [name, [count, make]] of Object.entries(documents)) {
      await this.client.db('admin').command({ shardCollection: `torture.${name}`, key: { _id: 'hashed' } });
      await db.collection(name).insertMany(Array.from({ length: count }, (_, i) => make(i)));
      this[name] = db.collection(name);
    }
  }

  // Runs the body as the driver's helper does. Returns false when the outcome is unknown or a retry was not worth it.
  async inTransaction(body) {
    const session = this.client.startSession();
    try {
      await session.withTransaction(body.bind(null, session), { maxCommitTimeMS: 10_000 });
      return true;
    } catch (error) {
      this.lastError = error;
      this.counts.unknown += 1;
      return false;
    } finally {
      await session.endSession().catch(() => {});
    }
  }

  async transfer(random) {
    const from = random.below(ACCOUNTS), to = (from + 1 + random.below(ACCOUNTS - 1)) % ACCOUNTS;
    const done = await this.inTransaction(async (session) => {
      const { n } = await this.bank.findOne({ _id: from }, { session });
      await this.bank.updateOne({ _id: from }, { $set: { n: n - 1 } }, { session });
      await this.bank.updateOne({ _id: to }, { $inc: { n: 1 } }, { session });
    });
    if (done) this.counts.transfers += 1;
  }

  async sum() {
    let sum = null;
    await this.inTransaction(async (session) => {
      const rows = await this.bank.find({}, { session, batchSize: 7 }).toArray();
      sum = rows.reduce((all, row) => all + row.n, 0);
      if (rows.length !== ACCOUNTS) this.problems.push(`a snapshot of the bank has ${rows.length} accounts`);
    });
    if (sum === null) return;
    this.counts.sums += 1;
    if (sum !== ACCOUNTS * START) this.problems.push(`a snapshot of the bank adds up to ${sum}`);
  }

  // Every attempt of the helper is a transaction of its own in the history.
  async append(random) {
    const keys = [...new Set([0, 1, 2].map(() => `l${random.below(LISTS)}`))];
    const appends = keys.slice(0, random.below(keys.length + 1));
    let attempt = null;
    const done = await this.inTransaction(async (session) => {
      if (attempt) attempt.outcome = 'aborted';
      attempt = this.history.begin(appends);
      const mine = attempt;
      for (const key of keys) mine.reads.set(key, (await this.lists.findOne({ _id: key }, { session })).list);
      for (const key of appends) {
        await this.lists.updateOne({ _id: key }, { $set: { list: [...mine.reads.get(key), mine.number] } }, { session });
      }
    });
    if (done) attempt.outcome = 'committed';
    if (done) this.counts.appends += 1;
  }

  // Two places of the ring change what is at them: afterwards each thing is still there once.
  async swap(random) {
    const a = random.below(RING), b = (a + 1) % RING;
    const done = await this.inTransaction(async (session) => {
      const first = await this.ring.findOne({ _id: a }, { session }), second = await this.ring.findOne({ _id: b }, { session });
      await this.ring.updateOne({ _id: a }, { $set: { at: second.at } }, { session });
      await this.ring.updateOne({ _id: b }, { $set: { at: first.at } }, { session });
    });
    if (done) this.counts.swaps += 1;
  }

  async takeNumber() {
    let number = null;
    const done = await this.inTransaction(async (session) => {
      ({ n: number } = await this.counter.findOneAndUpdate({ _id: 'next' }, { $inc: { n: 1 } }, { session, returnDocument: 'after' }));
    });
    if (!done) return;
    this.counts.numbers += 1;
    this.numbers.push(number);
  }

  async worker(kind, seed) {
    const random = new Random(seed);
    while (!this.stopping) await this[kind](random);
  }

  // One fault after another, each undone before the next.
  async faults() {
    while (!this.stopping) {
      await delay(300 + this.random.below(1200));
      if (this.stopping) return;
      const server = this.random.pick([...this.cluster.shards, ...this.cluster.shards, ...this.cluster.routers]);
      const kind = this.random.below(4);
      if (kind === 0) {
        await server.freeze();
        await delay(200 + this.random.below(2500));
        server.thaw();
        this.counts.stops += 1;
      } else if (kind < 3 || this.cluster.routers.includes(server)) {
        await server.kill();
        await delay(this.random.below(800));
        await server.start();
        this.counts.kills += 1;
      } else {
        await this.dieAt(server, this.random.pick(POINTS));
      }
    }
  }

  // Lets a shard end itself at a point of a commit, and starts it again without.
  async dieAt(shard, point) {
    await shard.kill();
    const env = { EVENKEEL_FAIL_POINTS: this.planted(`${point}=crash:${1 + this.random.below(point.startsWith('storage') ? 40 : 4)}`) };
    // Routers that find it back may let it meet the point before it says that it is ready.
    const early = await shard.start({ env }).then(() => false, (error) => error.exitCode === CRASHED || Promise.reject(error));
    const died = early || await Promise.race([shard.exited.then(() => true), delay(4000).then(() => false)]);
    if (died) this.counts.points += 1;
    await shard.kill();
    await shard.start();
  }

  async check() {
    // Whatever is in doubt is decided once everybody is up: every document can be written then.
    for (const name of ['bank', 'lists', 'ring', 'counter']) await this[name].updateMany({}, { $set: { seen: 1 } }, { maxTimeMS: 30_000 });
    const sum = (await this.bank.find().toArray()).reduce((all, row) => all + row.n, 0);
    if (sum !== ACCOUNTS * START) this.problems.push(`the bank adds up to ${sum}`);
    const ring = (await this.ring.find().toArray()).map((row) => row.at).sort((a, b) => a - b);
    if (ring.join() !== [...ring.keys()].join()) this.problems.push(`the ring has ${ring}`);
    const { n } = await this.counter.findOne({ _id: 'next' });
    if (new Set(this.numbers).size !== this.numbers.length) this.problems.push('a unique number was given twice');
    if (this.numbers.length > n || this.numbers.some((number) => number > n)) this.problems.push(`the counter stands at ${n} after ${this.numbers.length} numbers`);
    const lists = new Map((await this.lists.find().toArray()).map((row) => [row._id, row.list]));
    this.problems.push(...this.history.anomalies(lists));
    for (const name of ['bank', 'lists', 'ring', 'counter']) {
      const { valid, errors } = await this.client.db('torture').command({ validate: name });
      if (!valid) this.problems.push(`${name} is not valid: ${errors}`);
    }
  }

  async run() {
    await this.prepare();
    const kinds = ['transfer', 'transfer', 'transfer', 'sum', 'sum', 'sum', 'append', 'append', 'append', 'append', 'swap', 'takeNumber'];
    const workers = kinds.map((kind, i) => this.worker(kind, this.settings.seed + i));
    const faults = this.faults();
    await delay(this.settings.seconds * 1000);
    this.stopping = true;
    await faults;
    await Promise.all(workers);
    await this.check();
    return this.problems;
  }

  async remove() {
    await this.client?.close(true);
    await this.cluster.remove();
  }
}

async function main() {
  const settings = options();
  console.log(`seed ${settings.seed}, ${settings.seconds} s`);
  const torture = new Torture(settings);
  const problems = await torture.run();
  console.log(JSON.stringify(torture.counts));
  for (const problem of problems.slice(0, 20)) console.log(`problem: ${problem}`);
  if (problems.length === 0) await torture.remove();
  console.log(problems.length === 0 ? 'nothing lost, doubled, torn or half-done' : `${problems.length} problems, seed ${settings.seed}, data in ${torture.cluster.folder}`);
  process.exit(problems.length === 0 ? 0 : 1);
}

if (require.main === module) main().catch((error) => { console.error(error); process.exit(2); });

module.exports = { ACCOUNTS, START, Torture };
