// A network of hosts on this machine: a network namespace per host, joined by a bridge in one more namespace, so that the machine's
// own network is left alone but for one interface of the test. Links can be cut, made to lose one direction, slowed down, and healed.
// Needs root and iproute2.
'use strict';

const { spawnSync } = require('node:child_process');

const PREFIX = '198.18.77';  // from the range that RFC 2544 keeps for tests of networks
const TEST_HOST = 254;       // the test itself
const NOWHERE = '02:00:00:00:00:01';  // a hardware address that no host has

function ip(...args) {
  const run = spawnSync('ip', args, { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`ip ${args.join(' ')}: ${run.error?.message ?? run.stderr.trim()}`);
  return run.stdout;
}

// Why there can be no such network here, or false. Tries it, since containers may allow less than root usually may.
function networkMissing() {
  if (process.getuid() !== 0) return 'network namespaces need root';
  const network = new Network(['probe']);
  try {
    network.create();
    return false;
  } catch (error) {
    return `no network namespaces here: ${error.message}`;
  } finally {
    network.remove();
  }
}

class Network {
  constructor(hosts) {
    this.hosts = hosts;
    this.name = `ek${process.pid}`;
    this.removeAtExit = () => this.remove();
  }

  namespace(host) { return `${this.name}-${host}`; }
  address(host) { return `${PREFIX}.${this.hosts.indexOf(host) + 1}`; }
  // The command line that runs `command` on a host.
  on(host, command) { return ['ip', 'netns', 'exec', this.namespace(host), ...command]; }

  create() {
    process.once('exit', this.removeAtExit);
    const bridge = this.namespace('switch');
    ip('netns', 'add', bridge);
    ip('-n', bridge, 'link', 'add', 'br0', 'type', 'bridge');
    ip('-n', bridge, 'link', 'set', 'br0', 'up');
    for (const host of this.hosts) {
      ip('netns', 'add', this.namespace(host));
      this.plugIn(host, ['-n', this.namespace(host)], 'eth0', this.address(host));
      ip('-n', this.namespace(host), 'link', 'set', 'lo', 'up');
    }
    this.plugIn('test', [], this.name, `${PREFIX}.${TEST_HOST}`);
    return this;
  }

  // One cable: an interface with an address in the namespace `where`, the other end in the bridge, named after the host.
  plugIn(host, where, interfaceName, address) {
    const bridge = this.namespace('switch');
    ip(...where, 'link', 'add', interfaceName, 'type', 'veth', 'peer', 'name', host, 'netns', bridge);
    ip('-n', bridge, 'link', 'set', 'dev', host, 'master', 'br0', 'up');
    ip(...where, 'addr', 'add', `${address}/24`, 'dev', interfaceName);
    ip(...where, 'link', 'set', 'dev', interfaceName, 'up');
  }

  // The cable is pulled: nothing passes, and the host can see that.
  cut(host) { ip('-n', this.namespace('switch'), 'link', 'set', 'dev', host, 'down'); }

  // What `host` sends to `other` is lost, silently; what it receives is not.
  loseFrom(host, other) {
    ip('-n', this.namespace(host), 'neigh', 'replace', this.address(other), 'lladdr', NOWHERE, 'nud', 'permanent', 'dev', 'eth0');
  }

  // Every packet of `host` waits `ms` where the kernel can do that (netem); else the link gets narrow (tbf). Returns which it is.
  slow(host, ms) {
    const add = (...qdisc) => spawnSync('tc', ['-n', this.namespace(host), 'qdisc', 'replace', 'dev', 'eth0', 'root', ...qdisc]).status === 0;
    if (add('netem', 'delay', `${ms}ms`)) return 'delayed';
    if (add('tbf', 'rate', '256kbit', 'burst', '4kb', 'latency', '5s')) return 'narrow';
    return null;
  }

  heal(host) {
    ip('-n', this.namespace('switch'), 'link', 'set', 'dev', host, 'up');
    ip('-n', this.namespace(host), 'neigh', 'flush', 'dev', 'eth0', 'nud', 'permanent');
    spawnSync('tc', ['-n', this.namespace(host), 'qdisc', 'del', 'dev', 'eth0', 'root']);
  }

  // Interfaces go with their namespaces, or with the other end of their cable. Does nothing where nothing was made.
  remove() {
    process.off('exit', this.removeAtExit);
    spawnSync('ip', ['link', 'del', this.name]);
    for (const host of [...this.hosts, 'switch']) spawnSync('ip', ['netns', 'del', this.namespace(host)]);
  }
}

module.exports = { Network, networkMissing };
