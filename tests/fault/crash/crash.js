#!/usr/bin/env node
// The crash test: a real server under a mixed load is ended at a random moment, again and again, by kill -9 or at a fail point
// inside it; after each restart everything acknowledged must be there.
//
// usage: crash.js [--rounds N | --minutes N] [--seed S] [--clients N] [--shards N]
// The seed is printed; it fixes the load and the kinds of crash, not the moment a kill hits. The data folder of a failed run stays.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { MongoClient } = require('mongodb');
const { ROOT, Server } = require('../../lib/server.js');
const { Random } = require('../../lib/random.js');
const { Documents, Switches, UniqueValues } = require('./model.js');
const { SchemaChanger, Writer } = require('./load.js');
const { check } = require('./check.js');

const CRASH_EXIT = 137;
const CLIENT_OPTIONS = { serverSelectionTimeoutMS: 60_000, heartbeatFrequencyMS: 500, maxPoolSize: 64 };

const delay = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

function options() {
  const text = { type: 'string' };
  const { values } = parseArgs({ options: { rounds: text, minutes: text, seed: text, clients: text, shards: text } });
  const number = (name, otherwise) => {
    const value = values[name] === undefined ? otherwise : Number(values[name]);
    if (value !== null && !(value > 0)) throw new Error(`--${name} must be a number above 0`);
    return value;
  };
  const minutes = number('minutes', null);
  return { minutes, rounds: number('rounds', minutes === null ? 20 : Infinity), seed: number('seed', 1 + Math.floor(Math.random() * 2 ** 31)),
    clients: number('clients', 12), shards: number('shards', 3) };
}

// The names of the points where a crash means something for what is built.
function crashPoints() {
  const table = fs.readFileSync(path.join(ROOT, 'base', 'fail_points.inc'), 'utf8');
  return [...table.matchAll(/EVENKEEL_FAIL_POINT_ROW\((\w+)/g)].map((m) => m[1])
    .filter((name) => /^(storage|catalog|shard_write|shard_build|router_before)/.test(name) && name !== 'storage_freeze_now');
}

class CrashTest {
  constructor(settings) {
    this.settings = settings;
    this.random = new Random(settings.seed);
    this.server = new Server({ shards: settings.shards });
    this.points = crashPoints();
    this.totals = { kills: 0, points: 0, recoveries: 0, acknowledged: 0 };
  }

  // Collections, their models and the clients of the whole run. Half of the clients retry writes as drivers do, half do not.
  async prepare() {
    await this.server.start();
    this.retrying = await new MongoClient(this.server.uri, CLIENT_OPTIONS).connect();
    this.plain = await new MongoClient(this.server.uri, { ...CLIENT_OPTIONS, retryWrites: false }).connect();
    const admin = this.plain.db('admin');
    await admin.command({ shardCollection: 'crash.byId', key: { _id: 'hashed' } });
    await admin.command({ shardCollection: 'crash.byKey', key: { k: 'hashed' } });
    await this.plain.db('crash').createCollection('plain');
    await this.plain.db('crash').collection('unique').createIndex({ u: 1 }, { unique: true });
    const models = { plain: new Documents(), byId: new Documents(), byKey: new Documents() };
    this.switches = new Switches();
    this.unique = new UniqueValues();
    const bind = (client) => {
      const db = client.db('crash');
      return {
        collections: Object.fromEntries(Object.entries(models).map(([name, documents]) => [name, { collection: db.collection(name), documents }])),
        unique: { collection: db.collection('unique'), values: this.unique },
        switches: this.switches,
      };
    };
    this.model = bind(this.plain);
    this.clients = Array.from({ length: this.settings.clients }, (_, i) => {
      const { collections, unique } = bind(i % 2 ? this.retrying : this.plain);
      return new Writer(`c${i}`, collections, unique, new Random(this.settings.seed + i + 1));
    });
    this.clients.push(new SchemaChanger(this.plain.db('crash'), this.model.collections, this.switches, new Random(this.settings.seed + 1000)));
  }

  // How this round ends, and what the environment of the server's next start shall be.
  plan() {
    const freeze = `storage_freeze_now=probability:${this.random.pick([0.002, 0.02, 0.1])}:${this.random.below(1000)}`;
    const kind = this.random.pick(['kill', 'kill', 'kill', 'point', 'point', 'recovery']);
    const point = this.random.pick(this.points);
    const nth = Math.ceil(10 ** (this.random.next() * 3));
    const spec = kind === 'point' ? `${freeze};${point}=crash:${nth}` : freeze;
    return { kind, point, nth, env: { EVENKEEL_FAIL_POINTS: spec }, loadMs: this.random.between(150, 1500) };
  }

  async round(number) {
    const plan = this.plan();
    await (this.random.chance(0.3) ? this.server.stop() : this.server.kill());
    if (!await this.startUnlessItCrashes(plan.env)) await this.server.start();
    let stopping = false;
    const failures = [];
    const loads = this.clients.map(async (client) => {
      try {
        client.stuck = false;
        while (!stopping && !client.stuck) await client.next(number);
      } catch (error) {
        failures.push(`${client.owner ?? 'schema changer'}: ${error.stack}`);
        stopping = true;
      }
    });
    const ended = await Promise.race([this.server.exited, delay(plan.loadMs)]);
    stopping = true;
    if (ended) this.countEnd(ended, plan, failures);
    else await this.server.kill();
    this.totals.kills += ended ? 0 : 1;
    if (plan.kind === 'recovery') await this.crashInRecovery(plan);
    await this.server.start();
    await Promise.all(loads);  // retried statements end now, on the new process
    failures.push(...await check(this.plain.db('crash'), this.model));
    return { plan, failures };
  }

  countEnd({ code, signal }, plan, failures) {
    if (code === CRASH_EXIT) ++this.totals.points;
    else failures.push(`the server ended with ${code ?? signal}\n${this.server.logTail()}`);
    if (code === CRASH_EXIT && plan.kind !== 'point') failures.push('a crash point was hit that was not set');
  }

  // Starts with these fail points. False when one of them ended the process before it was ready.
  async startUnlessItCrashes(env) {
    try {
      await this.server.start({ env });
      return true;
    } catch (error) {
      if (error.exitCode !== CRASH_EXIT) throw error;
      ++this.totals.points;
      return false;
    }
  }

  // A start that ends in the middle of replaying the log; whether the point was reached does not matter.
  async crashInRecovery({ nth }) {
    const point = this.random.pick(['storage_replay_record', 'storage_checkpoint_before_commit', 'storage_checkpoint_before_position']);
    if (await this.startUnlessItCrashes({ EVENKEEL_FAIL_POINTS: `${point}=crash:${nth}` })) await this.server.kill();
    ++this.totals.recoveries;
  }

  async run() {
    const { rounds, minutes, seed } = this.settings;
    console.log(`seed ${seed}`);
    await this.prepare();
    const end = minutes === null ? Infinity : Date.now() + minutes * 60_000;
    let passed = 0;
    for (let number = 1; number <= rounds && Date.now() < end; ++number) {
      const started = Date.now();
      const { plan, failures } = await this.round(number);
      this.totals.acknowledged = this.clients.reduce((sum, client) => sum + client.acknowledged, 0);
      if (failures.length > 0) return this.fail(number, plan, failures, passed);
      ++passed;
      console.log(`round ${number}: ${plan.kind}, ${Date.now() - started} ms; ${this.summary()}`);
    }
    await this.close();
    console.log(`${this.summary()}\n${passed} passed, 0 failed`);
    return 0;
  }

  summary() {
    const { kills, points, recoveries, acknowledged } = this.totals;
    return `${kills} kills, ${points} crash points hit, ${recoveries} ended recoveries, ${acknowledged} acknowledged statements`;
  }

  async fail(number, plan, failures, passed) {
    console.log(`round ${number} failed (seed ${this.settings.seed}, ${JSON.stringify(plan)}):`);
    for (const failure of failures.slice(0, 20)) console.log(`  ${failure}`);
    if (failures.length > 20) console.log(`  and ${failures.length - 20} more`);
    console.log(`the data is left in ${path.relative(ROOT, this.server.data)}\n${this.summary()}\n${passed} passed, 1 failed`);
    await this.server.kill();
    return 1;
  }

  async close() {
    await this.plain.close(true);
    await this.retrying.close(true);
    await this.server.stop();
    await this.server.remove();
  }
}

async function main() {
  let settings;
  try {
    settings = options();
  } catch (error) {
    console.error(`crash.js: ${error.message}`);
    return 2;
  }
  return new CrashTest(settings).run();
}

main().then((code) => process.exit(code), (error) => {
  console.error(error.stack);
  console.log('0 passed, 1 failed');
  process.exit(1);
});
