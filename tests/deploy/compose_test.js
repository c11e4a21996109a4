// deploy/Dockerfile and deploy/docker-compose.yml in a Docker engine of the test's own: built, brought up, used, one shard restarted.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { ROOT, binary, temporaryFolder } = require('../lib/server.js');
const { range } = require('../lib/cluster.js');
const { Engine, run } = require('./engine.js');

const COMPOSE = path.join(ROOT, 'deploy', 'docker-compose.yml');
const SHARD3 = path.join(ROOT, 'deploy', 'docker-compose.shard3.yml');
const DOCKERFILE = path.join(ROOT, 'deploy', 'Dockerfile');
const PORTS = { EVENKEEL_PORT0: '27917', EVENKEEL_PORT1: '27918' };
const UP_MS_MAX = 180_000;
const USER = '900';

// The packages that the Dockerfile installs: put into the base image, since a build has no network here.
function packagesOfImage() {
  const [, list] = /apt-get install -y --no-install-recommends ([^&]*)&&/.exec(fs.readFileSync(DOCKERFILE, 'utf8'));
  return list.split(/[\s\\]+/).filter(Boolean);
}

describe('docker-compose.yml', async () => {
  const folder = temporaryFolder('docker');
  const engine = new Engine(folder);
  const missing = await Engine.missing() ?? await engine.start().then(() => null, (error) => error.message);
  const env = { ...PORTS, EVENKEEL_CONTEXT: path.join(folder, 'context'), EVENKEEL_KEY_FILE: path.join(folder, 'cluster.key') };
  const clients = [];

  // What a release would pack: the binary without debug information, and the Dockerfile.
  async function makeContext() {
    const at = (...names) => path.join(env.EVENKEEL_CONTEXT, ...names);
    fs.mkdirSync(at('build', 'release', 'cli'), { recursive: true });
    fs.mkdirSync(at('deploy'));
    await run('strip', ['-o', at('build', 'release', 'cli', 'evenkeel'), binary()]);
    fs.copyFileSync(DOCKERFILE, at('deploy', 'Dockerfile'));
    fs.writeFileSync(env.EVENKEEL_KEY_FILE, 'a key for the test of the containers\n', { mode: 0o444 });
  }

  async function client(port) {
    const connected = await new MongoClient(`mongodb://127.0.0.1:${port}/`, { serverSelectionTimeoutMS: UP_MS_MAX }).connect();
    clients.push(connected);
    return connected;
  }

  describe('in an engine', { skip: missing ?? false }, () => {
    before(async () => {
      await makeContext();
      await engine.makeBase('debian:12', 'bookworm', packagesOfImage());
      await engine.compose(COMPOSE, env, 'up', '--build', '--detach');
    });
    after(async () => {
      await Promise.all(clients.map((connected) => connected.close(true)));
      await engine.compose(COMPOSE, env, 'down', '--volumes', '--timeout', '60').catch(() => {});
    });

    it('two routers serve one cluster of three shards', async () => {
      const [a, b] = [await client(PORTS.EVENKEEL_PORT0), await client(PORTS.EVENKEEL_PORT1)];
      assert.equal(await a.db('config').collection('shards').countDocuments(), 3);
      await a.db('admin').command({ shardCollection: 'test.rows', key: { _id: 'hashed' } });
      await a.db('test').collection('rows').insertMany(range(1000).map((i) => ({ _id: i, group: i % 7 })));
      assert.equal(await b.db('test').collection('rows').countDocuments({ group: 3 }), 143);
    });

    it('a shard that is restarted has its data; the others were not touched', async () => {
      const rows = clients[0].db('test').collection('rows');
      await engine.compose(COMPOSE, env, 'restart', 'shard1');
      assert.equal((await rows.updateMany({}, { $set: { seen: true } })).modifiedCount, 1000);
      assert.equal(await clients[1].db('test').collection('rows').countDocuments({ seen: true }), 1000);
    });

    it('one more shard is added, and removed again', async () => {
      await engine.compose(COMPOSE, env, '-f', SHARD3, 'up', '--detach', 'shard3');
      const admin = clients[0].db('admin');
      assert.equal((await admin.command({ addShard: 'shard3:27018' })).shardAdded, 'shard3');
      await admin.command({ balancerStop: 1 });
      await clients[0].db('test').createCollection('small');
      await admin.command({ moveCollection: 'test.small', toShard: 'shard3' });
      assert.equal((await clients[1].db('test').collection('small').insertOne({ _id: 1 })).insertedId, 1);
      assert.equal((await admin.command({ removeShard: 'shard3' })).state, 'started');
      await admin.command({ moveCollection: 'test.small', toShard: 'shard1' });
      assert.equal((await admin.command({ removeShard: 'shard3' })).state, 'completed');
      await engine.compose(COMPOSE, env, '-f', SHARD3, 'rm', '--stop', '--force', 'shard3');
      assert.equal(await clients[1].db('test').collection('small').countDocuments(), 1);
      await admin.command({ balancerStart: 1 });
    });

    it('nothing runs as root, and the health checks pass', async () => {
      for (const service of ['router0', 'shard0']) {
        assert.equal((await engine.compose(COMPOSE, env, 'exec', '-T', service, 'id', '-u')).trim(), USER);
      }
      const end = Date.now() + UP_MS_MAX;
      let states;
      do {
        const ids = (await engine.docker('ps', '--quiet')).trim().split('\n');
        states = await Promise.all(ids.map(async (id) => (await engine.docker('inspect', '--format', '{{.State.Health.Status}}', id)).trim()));
        await new Promise((resolve) => setTimeout(resolve, 1000));
      } while (states.some((state) => state !== 'healthy') && Date.now() < end);
      assert.deepEqual(states, Array(5).fill('healthy'));
    });
  });

  after(async () => {
    await engine.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });
});
