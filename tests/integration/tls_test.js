// TLS: between clients and servers in every mode, between routers and shards, and certificates that are exchanged.
'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const tls = require('node:tls');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { Authority } = require('../lib/certificates.js');
const { CLIENT_OPTIONS, errorOf, range } = require('../lib/cluster.js');
const { ProcessCluster, RouterProcess } = require('../lib/processes.js');
const { Server, binary } = require('../lib/server.js');

const authorities = [];
let ours;
let theirs;
before(() => {
  ours = new Authority('ours');
  theirs = new Authority('theirs');
  authorities.push(ours, theirs);
});
after(() => authorities.forEach((authority) => authority.remove()));

// Connects, calls `work` with the client, closes. One that is not let in fails after a second.
async function withClient(uri, options, work) {
  const client = new MongoClient(uri, { ...CLIENT_OPTIONS, ...options });
  try {
    return await work(await client.connect());
  } finally {
    await client.close(true);
  }
}
const plainUri = (server) => `mongodb://127.0.0.1:${server.port}/`;
const ping = (client) => client.db('admin').command({ ping: 1 });
const refused = { serverSelectionTimeoutMS: 1_000 };

describe('a server that requires TLS', () => {
  let server;
  before(async () => {
    server = await new Server({ args: ['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', ours.issue()] }).start();
  });
  after(() => server.remove());

  it('says so in its address', () => assert.match(server.uri, /\?tls=true$/));

  it('takes clients that trust its authority', async () => {
    await withClient(server.uri, { tlsCAFile: ours.ca }, async (client) => {
      assert.equal((await ping(client)).ok, 1);
      const hello = await client.db('admin').command({ hello: 1 });
      assert.equal(hello.msg, 'isdbgrid');
      assert.equal((await client.db('admin').command({ getCmdLineOpts: 1 })).parsed.net.tls.mode, 'requireTLS');
    });
  });

  it('is refused by clients of another authority', async () => {
    const error = await errorOf(withClient(server.uri, { ...refused, tlsCAFile: theirs.ca }, ping));
    assert.match(error.message, /certificate|signed/);
  });

  it('refuses plain connections', async () => {
    assert.ok(await errorOf(withClient(plainUri(server), refused, ping)));
  });

  it('speaks 1.2 and 1.3, nothing older', async () => {
    for (const [version, good] of [['TLSv1.1', false], ['TLSv1.2', true], ['TLSv1.3', true]]) {
      const connected = new Promise((resolve) => {
        const socket = tls.connect({ port: server.port, host: '127.0.0.1', ca: fs.readFileSync(ours.ca), minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' });
        socket.once('secureConnect', () => { resolve(socket.getProtocol()); socket.destroy(); }).once('error', () => resolve(null));
      });
      assert.equal(await connected, good ? version : null, version);
    }
  });

  for (const compressors of [undefined, ['zlib'], ['snappy']]) {
    it(`large documents, batches and cursors, ${compressors ?? 'not'} compressed`, async () => {
      await withClient(server.uri, { tlsCAFile: ours.ca, compressors }, async (client) => {
        const rows = client.db('test').collection(`large_${compressors ?? 'plain'}`);
        const big = Buffer.alloc(12_000_000, 'text that is long ');
        await rows.insertOne({ _id: -1, big });
        assert.ok((await rows.findOne({ _id: -1 })).big.buffer.equals(big));
        await rows.insertMany(range(20_000).map((i) => ({ _id: i, text: `${i} `.repeat(200) })));
        const found = await rows.find({ _id: { $gte: 0 } }).sort({ _id: 1 }).batchSize(3_000).toArray();
        assert.equal(found.length, 20_000);
        assert.equal(found[12_345].text, '12345 '.repeat(200));
      });
    });
  }

  it('many connections at once', async () => {
    await withClient(server.uri, { tlsCAFile: ours.ca, maxPoolSize: 20 }, async (client) => {
      const replies = await Promise.all(range(200).map(() => ping(client)));
      assert.ok(replies.every((reply) => reply.ok === 1));
    });
  });
});

describe('a server that prefers TLS', () => {
  let server;
  before(async () => {
    server = await new Server({ args: ['--tlsMode', 'preferTLS', '--tlsCertificateKeyFile', ours.issue()] }).start();
  });
  after(() => server.remove());

  it('takes both on one port', async () => {
    await withClient(plainUri(server), {}, (client) => client.db('test').collection('both').insertOne({ _id: 1 }));
    const found = await withClient(plainUri(server), { tls: true, tlsCAFile: ours.ca }, (client) => client.db('test').collection('both').findOne());
    assert.deepEqual(found, { _id: 1 });
  });

  it('reads its certificates again when it is told to', async () => {
    const file = server.args.at(-1);
    const kept = await new MongoClient(plainUri(server), { ...CLIENT_OPTIONS, tls: true, tlsCAFile: ours.ca, maxPoolSize: 1 }).connect();
    try {
      fs.copyFileSync(theirs.issue(), file);
      assert.equal((await kept.db('admin').command({ rotateCertificates: 1, message: 'new ones' })).ok, 1);
      assert.equal((await ping(kept)).ok, 1, 'connections go on with what they began with');
      await withClient(plainUri(server), { tls: true, tlsCAFile: theirs.ca }, ping);
      fs.writeFileSync(file, 'damaged');
      const error = await errorOf(kept.db('admin').command({ rotateCertificates: 1 }));
      assert.equal(error.code, 72);
      assert.ok(error.message.includes(file), error.message);
      await withClient(plainUri(server), { tls: true, tlsCAFile: theirs.ca }, ping);
    } finally {
      await kept.close(true);
    }
  });
});

describe('a server with a CA file', () => {
  const start = (...args) => new Server({ args: ['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', ours.issue(), '--tlsCAFile', ours.ca, ...args] }).start();

  it('wants a certificate of its clients', async () => {
    const server = await start();
    try {
      await withClient(server.uri, { tlsCAFile: ours.ca, tlsCertificateKeyFile: ours.issue() }, ping);
      assert.ok(await errorOf(withClient(server.uri, { ...refused, tlsCAFile: ours.ca }, ping)));
      assert.ok(await errorOf(withClient(server.uri, { ...refused, tlsCAFile: ours.ca, tlsCertificateKeyFile: theirs.issue() }, ping)));
    } finally {
      await server.remove();
    }
  });

  it('does without if it is told to, but takes no wrong one', async () => {
    const server = await start('--tlsAllowConnectionsWithoutCertificates');
    try {
      await withClient(server.uri, { tlsCAFile: ours.ca }, ping);
      assert.ok(await errorOf(withClient(server.uri, { ...refused, tlsCAFile: ours.ca, tlsCertificateKeyFile: theirs.issue() }, ping)));
    } finally {
      await server.remove();
    }
  });

  it('takes its options from a configuration file', async () => {
    const config = ours.path('start.yaml');
    fs.writeFileSync(config, `tls:\n  mode: requireTLS\n  certificateKeyFile: ${ours.issue()}\n  CAFile: ${ours.ca}\n  allowConnectionsWithoutCertificates: true\n`);
    const server = await new Server({ args: ['--config', config] }).start();
    try {
      await withClient(server.uri, { tlsCAFile: ours.ca }, ping);
    } finally {
      await server.remove();
    }
  });
});

describe('options that cannot be', () => {
  const run = (...args) => spawnSync(binary(), ['start', '--port', '0', '--data', ours.path('data'), ...args], { encoding: 'utf8', timeout: 60_000 });

  it('are wrong options, or files that are named', () => {
    const pem = ours.issue();
    const text = ours.path('text');
    fs.writeFileSync(text, 'some text\n');
    for (const [args, status, wanted] of [
      [['--tlsMode', 'requireSSL'], 2, /tlsMode/],
      [['--tlsMode', 'requireTLS'], 2, /--tlsMode requireTLS needs --tlsCertificateKeyFile/],
      [['--tlsCAFile', ours.ca], 2, /need --tlsMode/],
      [['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', pem, '--tlsDisabledProtocols', 'TLS1_2,TLS1_3'], 2, /leaves no version/],
      [['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', '/nowhere/a.pem'], 1, /--tlsCertificateKeyFile: cannot use \/nowhere\/a.pem: No such file/],
      [['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', ours.ca], 1, /--tlsCertificateKeyFile: cannot use \S+: .*private key/],
      [['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', pem, '--tlsCAFile', text], 1, /--tlsCAFile: cannot use \S+: it must hold certificates/],
    ]) {
      const { status: got, stderr } = run(...args);
      assert.equal(got, status, `${args.join(' ')}\n${stderr}`);
      assert.match(stderr, wanted);
    }
  });
});

describe('router and shards over TLS', () => {
  const tlsLines = (pem, ca) => `tls:\n  certificateKeyFile: ${pem}\n  caFile: ${ca}\n`;
  let cluster;
  let pem;
  before(async () => {
    cluster = await ProcessCluster.create({ shards: 2, routers: 1 });
    pem = ours.issue();
    fs.appendFileSync(cluster.file, tlsLines(pem, ours.ca));
    await cluster.start();
  });
  after(() => cluster.remove());

  it('works', async () => {
    await withClient(cluster.routers[0].uri, {}, async (client) => {
      await client.db('admin').command({ shardCollection: 'test.rows', key: { _id: 'hashed' } });
      const rows = client.db('test').collection('rows');
      await rows.insertMany(range(5_000).map((i) => ({ _id: i, text: 'x'.repeat(500) })));
      assert.equal((await rows.find().toArray()).length, 5_000);
    });
  });

  it('shards speak nothing else', async () => {
    const file = `${cluster.file}.plain`;
    fs.writeFileSync(file, fs.readFileSync(cluster.file, 'utf8').replace(/^tls:[^]*/m, ''));
    const router = new RouterProcess({ file });
    const starting = errorOf(router.start());
    while (!/waiting for a shard/.test(router.stderr)) await new Promise((resolve) => setTimeout(resolve, 20));
    await router.kill();
    assert.ok(await starting);
    assert.match(cluster.shards[0].stderr, /only TLS connections/);
  });

  it('a router whose certificate is of another authority, or that trusts another, is not let in', async () => {
    for (const [name, lines, wanted] of [
      ['foreign', tlsLines(theirs.issue(), ours.ca), /unknown ca/],
      ['distrustful', tlsLines(ours.issue(), theirs.ca), /certificate verify failed/],
    ]) {
      const file = `${cluster.file}.${name}`;
      fs.writeFileSync(file, fs.readFileSync(cluster.file, 'utf8').replace(/^tls:[^]*/m, lines));
      const router = new RouterProcess({ file });
      const starting = errorOf(router.start());
      while (!wanted.test(router.stderr) && router.child) await new Promise((resolve) => setTimeout(resolve, 20));
      assert.match(router.stderr, wanted);
      await router.kill();
      assert.ok(await starting);
    }
  });

  it('rotateCertificates reaches the shards, and names the one that cannot', async () => {
    await withClient(cluster.routers[0].uri, {}, async (client) => {
      const admin = client.db('admin');
      const before = fs.readFileSync(pem);
      fs.copyFileSync(ours.issue(), pem);
      assert.equal((await admin.command({ rotateCertificates: 1 })).ok, 1);
      // What a process writes arrives here a little later than its answer.
      for (const shard of cluster.shards) {
        for (let wait = 0; wait < 500 && !/certificates were read again/.test(shard.stderr); ++wait) await new Promise((resolve) => setTimeout(resolve, 20));
        assert.match(shard.stderr, /certificates were read again/);
      }
      fs.writeFileSync(pem, 'damaged');
      const error = await errorOf(admin.command({ rotateCertificates: 1 }));
      assert.ok(error.message.includes(pem), error.message);
      fs.writeFileSync(pem, before);
      assert.equal(await client.db('test').collection('rows').countDocuments(), 5_000);
    });
  });

  for (const [name, lines, wanted] of [
    ['an unknown key', 'tls:\n  certificateKeyfile: x\n', /line 5: unknown key 'certificateKeyfile'/],
    ['no CA', 'tls:\n  certificateKeyFile: x\n', /'caFile' is missing/],
    ['a file that is not there', 'tls:\n  certificateKeyFile: /nowhere\n  caFile: /nowhere\n', /line 5: 'certificateKeyFile': cannot use \/nowhere: No such file/],
    ['no map', 'tls: yes\n', /line 4: 'tls' must hold certificateKeyFile and caFile/],
  ]) {
    it(`a cluster file with ${name}`, () => {
      const file = `${cluster.file}.bad`;
      fs.writeFileSync(file, `key: "0123456789abcdef"\nshards:\n  - {id: shard0, address: "h:1"}\n${lines}`);
      const run = spawnSync(binary(), ['router', '--cluster', file, '--port', '0'], { encoding: 'utf8', timeout: 60_000 });
      assert.equal(run.status, 1);
      assert.match(run.stderr, wanted);
      assert.ok(run.stderr.includes(file), run.stderr);
    });
  }
});
