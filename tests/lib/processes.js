// A cluster of several processes: routers and shards, each a Server of its own.
'use strict';

const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const { MAP_OPTIONS, Server, temporaryFolder } = require('./server.js');

const KEY = 'a key for tests, 24 bytes';

// Free ports; another process might take one before it is used, which shows as a failed start.
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => net.createServer());
  await Promise.all(servers.map((server) => new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

class ShardProcess extends Server {
  constructor({ file, number, ...options }) {
    super(options);
    this.file = file;
    this.id = `shard${number}`;
  }

  command() { return ['shard', '--cluster', this.file, '--id', this.id, '--data', this.data, ...MAP_OPTIONS]; }
}

// A shard that the cluster file does not name: addShard tells it its number.
class NewShardProcess extends Server {
  constructor({ file, ...options }) {
    super(options);
    this.file = file;
  }

  command() { return ['shard', '--cluster', this.file, '--data', this.data, '--port', String(this.port), ...MAP_OPTIONS]; }
  get address() { return `127.0.0.1:${this.port}`; }
}

class RouterProcess extends Server {
  constructor({ file, ...options }) {
    super({ data: '', ...options });
    this.file = file;
  }

  command() { return ['router', '--cluster', this.file, '--port', String(this.port)]; }
}

class ProcessCluster {
  // Writes the cluster file; starts nothing. network (network.js): shards run on its hosts shard0, shard1, …, routers on `router`;
  // else all on loopback.
  static async create({ shards = 3, routers = 2, key = KEY, network = null } = {}) {
    const cluster = new ProcessCluster();
    cluster.added = [];
    cluster.folder = temporaryFolder('processes');
    cluster.file = path.join(cluster.folder, 'cluster.yaml');
    const on = (host) => (network ? { launcher: network.on(host, []) } : {});
    const addresses = network ? Array.from({ length: shards }, (_, n) => `${network.address(`shard${n}`)}:27018`)
      : (await freePorts(shards)).map((port) => `127.0.0.1:${port}`);
    const lines = addresses.map((address, number) => `  - {id: shard${number}, address: "${address}"}`);
    fs.writeFileSync(cluster.file, `key: "${key}"\nshards:\n${lines.join('\n')}\n`);
    cluster.shards = addresses.map((_, number) => new ShardProcess({
      file: cluster.file, number, data: path.join(cluster.folder, `data${number}`), ...on(`shard${number}`),
    }));
    const args = network ? ['--bind', network.address('router'), '--no-auth'] : [];
    cluster.routers = Array.from({ length: routers }, () => new RouterProcess({ file: cluster.file, args, ...on('router') }));
    return cluster;
  }

  async start() {
    await Promise.all([...this.shards, ...this.routers].map((server) => server.start()));
    return this;
  }

  // A new shard that runs and waits to be added; env is for its first start only.
  async newShard(env = {}) {
    const shard = new NewShardProcess({ file: this.file, data: path.join(this.folder, `new${this.added.length}`) });
    this.added.push(shard);
    return shard.start({ env });
  }

  async remove() {
    for (const server of this.shards) server.thaw();
    await Promise.all([...this.shards, ...this.added, ...this.routers].map((server) => server.kill()));
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

module.exports = { NewShardProcess, ProcessCluster, RouterProcess, ShardProcess };
