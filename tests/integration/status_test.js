// evenkeel status: what it shows, its JSON, its exit codes; and the command behind it.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { Authority } = require('../lib/certificates.js');
const { run } = require('../lib/cli.js');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');
const { ProcessCluster, RouterProcess } = require('../lib/processes.js');
const { Server } = require('../lib/server.js');

const status = (...args) => run('status', ...args);
// Without it nobody knows the ranges.
const CATALOG_SHARD = 0;
const number = (value) => Number(value?.$numberLong ?? value);

describe('status of many processes', () => {
  let cluster;
  let uri;
  const json = async () => {
    const { code, stdout, stderr } = await status('--uri', uri, '--json');
    return { code, stderr, ...JSON.parse(stdout) };
  };
  before(async () => {
    cluster = await (await ProcessCluster.create({ shards: 3, routers: 2 })).start();
    uri = cluster.routers[0].uri;
    const client = await new MongoClient(uri, CLIENT_OPTIONS).connect();
    await client.db('admin').command({ shardCollection: 'test.rows', key: { _id: 'hashed' } });
    await client.db('test').collection('rows').insertMany(range(3_000).map((i) => ({ _id: i, x: i, text: 'x'.repeat(100) })));
    await client.db('test').collection('rows').createIndex({ x: 1 });
    await client.close();
  });
  after(() => cluster.remove());

  it('shows all in tables', async () => {
    const { code, stdout, stderr } = await status('--port', String(cluster.routers[0].port));
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^ROUTER +STATE +VERSION +UPTIME$/m);
    assert.match(stdout, /^SHARD +ADDRESS +STATE +VERSION +UPTIME +RANGES +SHARE +DOCUMENTS +DATA +INDEXES +FILE +LAG$/m);
    for (const router of cluster.routers) assert.match(stdout, new RegExp(`^127.0.0.1:${router.port} +up +\\d`, 'm'));
    for (const shard of cluster.shards) assert.match(stdout, new RegExp(`^${shard.id} +127.0.0.1:${shard.port} +up +\\d.* 1 +33.3 % +\\d+ `, 'm'));
    assert.match(stdout, /^ok$/m);
  });

  it('and as JSON', async () => {
    const found = await json();
    assert.equal(found.code, 0);
    assert.equal(found.state, 'ok');
    assert.deepEqual(found.problems, []);
    assert.equal(found.routers.length, 2);
    assert.equal(found.shards.length, 3);
    for (const shard of found.shards) {
      assert.match(shard.version, /^\d+\.\d+\.\d+$/);
      assert.ok(number(shard.documents) >= 500);
      for (const field of ['uptimeSecs', 'dataBytes', 'indexBytes', 'fileBytes', 'lagBytes']) assert.ok(number(shard[field]) >= 0, field);
      assert.ok(number(shard.dataBytes) > 100 * 500);
      assert.ok(number(shard.indexBytes) > 0);
    }
    const documents = found.shards.reduce((sum, shard) => sum + number(shard.documents), 0);
    assert.ok(documents >= 3_000);
    assert.ok(Math.abs(found.shards.reduce((sum, shard) => sum + shard.share, 0) - 1) < 1e-9);
  });

  it('a shard that is down is named, and the exit code is 1', async () => {
    for (const number of [2, 0]) {
      await cluster.shards[number].kill();
      const found = await json();
      assert.equal(found.code, 1, found.stderr);
      assert.equal(found.state, 'degraded');
      assert.equal(found.shards[number].state, 'down');
      assert.ok(found.problems.some((problem) => problem.startsWith(`shard${number} does not answer`)), found.problems);
      const ranges = number === CATALOG_SHARD ? '' : ' +1 +33.3 %';
      assert.match((await status('--uri', uri)).stdout, new RegExp(`^shard${number} +127.0.0.1:\\d+ +down${ranges}$`, 'm'));
      await cluster.shards[number].start();
      for (let last = found; last.code !== 0;) last = await json();
    }
  });

  it('a router that was stopped is not missed', async () => {
    const router = await new RouterProcess({ file: cluster.file }).start();
    assert.equal((await json()).routers.length, 3);
    assert.equal(await router.stop(), 0);
    const found = await json();
    assert.equal(found.routers.length, 2);
    assert.equal(found.code, 0);
  });
});

describe('status of one process', () => {
  let authority;
  let server;
  before(async () => {
    authority = new Authority();
    server = await new Server({ shards: 2, args: ['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', authority.issue()] }).start();
  });
  after(async () => {
    await server.remove();
    authority.remove();
  });

  it('over TLS', async () => {
    for (const args of [
      ['--port', String(server.port), '--tls', '--tlsCAFile', authority.ca],
      ['--uri', `${server.uri}&tlsCAFile=${encodeURIComponent(authority.ca)}`],
    ]) {
      const { code, stdout, stderr } = await status(...args);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^shard1 /m);
    }
  });

  it('what cannot be asked: exit code 2 and a reason', async () => {
    for (const [args, wanted] of [
      [['--port', String(server.port)], /the router at 127.0.0.1/],
      [['--port', String(server.port), '--tls'], /TLS handshake failed/],
      [['--port', String(server.port), '--tlsCAFile', '/nowhere'], /--tlsCAFile: cannot use \/nowhere/],
      [['--port', '1'], /refused/],
      [['--uri', 'mongodb+srv://host/'], /must begin with mongodb:\/\//],
      [['--uri', 'mongodb://user:secret@host/'], /no authentication yet/],
      [['--uri', 'mongodb://host:99999/'], /port/],
      [['--uri', 'mongodb://host/', '--port', '5'], /excludes/],
      [['--nonsense'], /--nonsense/],
    ]) {
      const { code, stdout, stderr } = await status(...args);
      assert.equal(code, 2, `${args.join(' ')}\n${stdout}${stderr}`);
      assert.match(stderr, wanted);
    }
  });
});
