// The command line: ready line, options, exit codes, what is refused at the start.
'use strict';

const assert = require('node:assert/strict');
const { describe, it, after } = require('node:test');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { MongoClient } = require('mongodb');
const { Server, binary, temporaryFolder } = require('../lib/server.js');
const { CLIENT_OPTIONS, errorOf, range } = require('../lib/cluster.js');

describe('command line', () => {
  const folder = temporaryFolder('start-stop');
  const servers = [];
  after(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    fs.rmSync(folder, { recursive: true, force: true });
  });
  // A server that ends with the tests, whatever becomes of them.
  function newServer(options) {
    servers.push(new Server(options));
    return servers.at(-1);
  }
  const run = (...args) => spawnSync(binary(), args, { encoding: 'utf8', timeout: 20_000 });

  it('--help and --version', () => {
    const help = run('--help');
    assert.equal(help.status, 0);
    assert.match(help.stdout, /start/);
    assert.match(help.stdout, /--config/);
    const start = run('start', '--help');
    assert.equal(start.status, 0);
    for (const option of ['--shards', '--data', '--port', '--bind']) assert.ok(start.stdout.includes(option), option);
    assert.match(run('--version').stdout, /\d+\.\d+\.\d+/);
  });

  const bad = [
    ['an unknown option', ['start', '--nonsense']], ['an unknown command', ['nonsense']],
    ['no shard', ['start', '--shards', '0', '--data', folder]], ['a port that is none', ['start', '--data', folder, '--port', '70000']],
    ['an address other than loopback without a word on logins', ['start', '--data', folder, '--bind', '0.0.0.0', '--port', '0']],
    ['a configuration file that is missing', ['start', '--data', folder, '--config', path.join(folder, 'missing.yaml')]],
  ];
  for (const [what, args] of bad) {
    it(`exit 2 for ${what}`, () => {
      const { status, stderr, stdout } = run(...args);
      assert.equal(status, 2, stderr);
      assert.ok((stderr + stdout).length > 10, 'a message');
    });
  }

  it('one ready line on stdout, logs on stderr, exit 0 on SIGTERM', async () => {
    const server = await newServer({ data: path.join(folder, 'ready') }).start();
    assert.equal(server.stdout.trimEnd().split('\n').length, 1);
    assert.match(server.stdout, /\(3 shards, data in /);
    assert.equal(await server.stop(), 0);
    assert.equal(server.stdout.trimEnd().split('\n').length, 1);
  });

  it('SIGTERM under load ends cleanly and keeps what was acknowledged', async () => {
    const server = await newServer({ data: path.join(folder, 'load') }).start();
    const client = await new MongoClient(server.uri, { ...CLIENT_OPTIONS, retryWrites: false }).connect();
    const acknowledged = [];
    const writers = range(8).map(async (w) => {
      try {
        for (let i = 0; ; ++i) {
          await client.db('test').collection('c').insertOne({ _id: `${w}-${i}` });
          acknowledged.push(`${w}-${i}`);
        }
      } catch { /* the server is gone */ }
    });
    await new Promise((resolve) => { setTimeout(resolve, 500); });
    assert.equal(await server.stop(), 0);
    await client.close(true);
    await Promise.all(writers);
    await server.start();
    const again = await new MongoClient(server.uri, CLIENT_OPTIONS).connect();
    const there = new Set((await again.db('test').collection('c').find().toArray()).map((d) => d._id));
    assert.ok(acknowledged.length > 0);
    assert.deepEqual(acknowledged.filter((id) => !there.has(id)), []);
    await again.close();
    await server.stop();
  });

  it('exit 1 when the port is taken', async () => {
    const first = await newServer({ data: path.join(folder, 'first') }).start();
    const second = newServer({ data: path.join(folder, 'second'), port: first.port });
    const error = await errorOf(second.start());
    assert.equal(error.exitCode, 1);
    assert.match(error.message, new RegExp(String(first.port)));
    await first.stop();
  });

  it('exit 1 when another process uses the folder', async () => {
    const first = await newServer({ data: path.join(folder, 'shared') }).start();
    const error = await errorOf(newServer({ data: first.data }).start());
    assert.equal(error.exitCode, 1);
    await first.stop();
  });

  it('exit 1 when the folder cannot be written', async () => {
    const file = path.join(folder, 'file');
    fs.writeFileSync(file, 'no folder');
    const error = await errorOf(newServer({ data: path.join(file, 'data') }).start());
    assert.equal(error.exitCode, 1);
    assert.ok(error.message.includes(file), error.message);
  });

  it('exit 1 when the folder belongs to a cluster of another size', async () => {
    const server = await newServer({ data: path.join(folder, 'size') }).start();
    await server.stop();
    const error = await errorOf(newServer({ data: server.data, shards: 2 }).start());
    assert.equal(error.exitCode, 1);
  });

  it('options from a YAML file; the command line wins', async () => {
    const config = path.join(folder, 'evenkeel.yaml');
    fs.writeFileSync(config, `shards: 2\ndata: ${path.join(folder, 'yaml')}\nport: 1\n`);
    const server = newServer({ data: path.join(folder, 'yaml-wins'), shards: 2, args: ['--config', config] });
    await server.start();
    assert.notEqual(server.port, 1);
    await server.stop();
    fs.writeFileSync(config, 'nonsense: 1\n');
    assert.equal(run('start', '--data', folder, '--config', config).status, 2);
  });

  it('logs as JSON lines', async () => {
    const server = await newServer({ data: path.join(folder, 'json'), args: ['--log-format', 'json'] }).start();
    await server.stop();
    const lines = server.stderr.trimEnd().split('\n').filter((line) => line !== '');
    assert.ok(lines.length > 0);
    for (const line of lines) JSON.parse(line);
  });
});
