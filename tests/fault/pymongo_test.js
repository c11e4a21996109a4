// PyMongo's helper for transactions while routers and shards are killed and stopped: the bank of the torture, from another driver.
'use strict';

const assert = require('node:assert/strict');
const { spawn, spawnSync } = require('node:child_process');
const path = require('node:path');
const { it } = require('node:test');
const { ACCOUNTS, START, Torture } = require('./torture/torture.js');
const { ROOT } = require('../lib/server.js');

const SECONDS = 25;

// {environment} of the driver as tests/drivers pins it, or {skip: why}.
function pymongo() {
  const code = 'import json, prepare\ntry:\n  print(json.dumps({"environment": prepare.pip("pymongo4", "python/requirements.txt", "python/checks.py")[1]}))\nexcept prepare.Skip as why:\n  print(json.dumps({"skip": str(why)}))';
  const { stdout, stderr, error } = spawnSync('python3', ['-c', code], { cwd: path.join(ROOT, 'tests', 'drivers'), encoding: 'utf8' });
  return error || !stdout ? { skip: `no python3 that can prepare PyMongo: ${error ?? stderr.trim().split('\n').pop()}` } : JSON.parse(stdout);
}

// Runs the client to its end and returns what it says in its last line.
async function bank(torture, environment) {
  const hosts = torture.cluster.routers.map((router) => `127.0.0.1:${router.port}`).join(',');
  const args = [path.join(__dirname, 'torture', 'bank.py'), `mongodb://${hosts}/`, SECONDS, ACCOUNTS, ACCOUNTS * START, torture.settings.seed];
  const child = spawn('python3', args.map(String), { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => { output += text; });
  // Faults go on as long as the client works, so that its last transactions meet some too.
  const faults = torture.faults();
  const code = await new Promise((resolve) => child.once('close', resolve));
  torture.stopping = true;
  await faults;
  assert.equal(code, 0, `the client ended with ${code}`);
  return JSON.parse(output.trim().split('\n').pop());
}

const { environment, skip } = pymongo();

it('PyMongo moves money while routers and shards die', { skip }, async () => {
  const seed = 1 + Math.floor(Math.random() * 2 ** 31);
  const torture = new Torture({ seconds: SECONDS, seed });
  await torture.prepare();
  const told = await bank(torture, environment);
  console.log(JSON.stringify({ seed, ...told, kills: torture.counts.kills, stops: torture.counts.stops, points: torture.counts.points }));
  await torture.check();
  assert.deepEqual([...told.problems, ...torture.problems], [], `seed ${seed}, data in ${torture.cluster.folder}`);
  assert.ok(told.transfers > 0 && told.sums > 0 && torture.counts.kills > 0, JSON.stringify({ ...told, ...torture.counts }));
  await torture.remove();
});
