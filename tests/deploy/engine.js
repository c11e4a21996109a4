// A Docker engine for one test: dockerd started by hand with a folder of its own, which goes with it, and no rules in the machine's
// firewall. Debian's packages; needs root.
'use strict';

const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const PACKAGES = ['docker.io', 'docker-compose', 'debootstrap'];
const START_MS_MAX = 60_000;
const STEP_MS_MAX = 600_000;

// Runs a step and returns what it printed; rejects with it when it fails. Without blocking: the driver's heartbeats go on.
function run(command, args, { env = {}, input } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: [input ?? 'ignore', 'pipe', 'pipe'], timeout: STEP_MS_MAX });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { output += text; });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`${command} ${args.join(' ')}: ${code}\n${output.slice(-4000)}`))));
  });
}

class Engine {
  constructor(folder) {
    this.folder = folder;
    this.env = { DOCKER_HOST: `unix://${folder}/docker.sock`, DOCKER_BUILDKIT: '0', COMPOSE_DOCKER_CLI_BUILD: '0', COMPOSE_PROJECT_NAME: 'evenkeel-test' };
  }

  // Why there can be no engine here, or null. Installs what is missing where that is possible.
  static async missing() {
    if (process.getuid() !== 0) return 'a Docker engine needs root';
    const known = (name) => spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name]).stdout?.toString() === 'installed';
    if (!PACKAGES.every(known)) {
      await run('apt-get', ['update', '-q']).catch(() => {});
      const install = run('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...PACKAGES], { env: { DEBIAN_FRONTEND: 'noninteractive' } });
      const failed = await install.then(() => false, (error) => error.message.split('\n')[0]);
      if (failed) return `Debian's packages ${PACKAGES.join(', ')} cannot be installed: ${failed}`;
    }
    return null;
  }

  // Starts dockerd. Rejects with the end of its log when it does not come up.
  async start() {
    const at = (name) => path.join(this.folder, name);
    const log = fs.openSync(at('log'), 'w');
    this.child = spawn('dockerd', ['--data-root', at('data'), '--exec-root', at('exec'), '--pidfile', at('pid'), '--host', this.env.DOCKER_HOST,
      '--iptables=false', '--ip6tables=false', '--ip-masq=false', '--bridge=none'], { stdio: ['ignore', log, log] });
    this.exited = new Promise((resolve) => { this.child.once('close', resolve); this.child.once('error', resolve); });
    const end = Date.now() + START_MS_MAX;
    while (!(await this.docker('version').then(() => true, () => false))) {
      if (this.child.exitCode !== null || Date.now() > end) {
        throw new Error(`dockerd does not run here: ${fs.readFileSync(at('log'), 'utf8').trim().split('\n').slice(-3).join(' ')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  // Ends dockerd, by its pid, and what it started with it.
  async stop() {
    if (!this.child) return;
    this.child.kill('SIGTERM');
    await this.exited;
  }

  docker(...args) { return run('docker', args, { env: this.env }); }
  compose(file, env, ...args) { return run('docker-compose', ['-f', file, ...args], { env: { ...this.env, ...env } }); }

  // Makes a base image named `name` of Debian's `release` with `packages`, since none can be pulled here.
  async makeBase(name, release, packages) {
    const root = path.join(this.folder, 'base');
    await run('debootstrap', ['--variant=minbase', `--include=${packages.join(',')}`, release, root]);
    const tar = path.join(this.folder, 'base.tar');
    await run('tar', ['-C', root, '-cf', tar, '.']);
    fs.rmSync(root, { recursive: true });
    await this.docker('import', tar, name);
    fs.rmSync(tar);
  }
}

module.exports = { Engine, run };
