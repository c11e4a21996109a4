// Starts, stops and kills real evenkeel processes for tests, the crash test and the demo.
//
// A server object stands for one data folder; its process may be started, killed and started again on the same port.
// The binary is EVENKEEL_BINARY, else what ./dev build made. Everything that is still running ends with this process.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..');
const READY = /^evenkeel is ready: (\S*?[\d.]+:(\d+)(?:\/\S*)?) \(.+\)(?:\. Next: mongosh \S+)?$/;
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 60_000;
const LOG_LINES_SHOWN = 30;

// The thread sanitizer leaves no address space for maps of a terabyte.
const MAP_OPTIONS = process.env.EVENKEEL_SANITIZER === 'tsan' ? ['--map-size-gb', '4'] : [];

const running = new Set();
process.on('exit', () => { for (const child of running) child.kill('SIGKILL'); });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

function binary() {
  return process.env.EVENKEEL_BINARY ?? path.join(ROOT, 'build', 'dev', 'cli', 'evenkeel');
}

// A new empty folder on the project's disk (the system's folder for temporary files may be in memory).
function temporaryFolder(prefix) {
  const parent = path.join(process.env.EVENKEEL_BUILD ?? path.join(ROOT, 'build'), 'test-data');
  fs.mkdirSync(parent, { recursive: true });
  return fs.mkdtempSync(path.join(parent, `${prefix}-`));
}

class Server {
  // options: shards (3), port (0 takes a free one at the first start), data (a new folder), args (further ones), env,
  // launcher (a command line that runs the one behind it).
  constructor(options = {}) {
    this.shards = options.shards ?? 3;
    this.port = options.port ?? 0;
    this.ownsData = options.data === undefined;
    this.data = options.data ?? temporaryFolder('data');
    this.args = options.args ?? [];
    this.env = options.env ?? {};
    this.launcher = options.launcher ?? [];
    this.child = null;
    this.uri = null;
    this.stdout = '';
    this.stderr = '';
  }

  get pid() { return this.child?.pid; }

  // The command line before this.args: a whole cluster in one process. Other roles: processes.js.
  command() { return ['start', '--shards', String(this.shards), '--data', this.data, '--port', String(this.port), ...MAP_OPTIONS]; }

  // Starts the process and waits for its ready line. extra.env is added for this start only.
  // Rejects with the end of the log when it exits first; the error has exitCode.
  async start(extra = {}) {
    const [program, ...args] = [...this.launcher, binary(), ...this.command(), ...this.args];
    this.stdout = '';
    this.stderr = '';
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...this.env, ...extra.env } });
    this.child = child;
    running.add(child);
    this.exited = new Promise((resolve) => child.once('close', (code, signal) => {
      running.delete(child);
      if (this.child === child) this.child = null;
      resolve({ code, signal });
    }));
    child.stderr.setEncoding('utf8').on('data', (text) => { this.stderr = (this.stderr + text).slice(-200_000); });
    const ready = await this.waitForReady(child);
    [, this.uri] = ready;
    this.port = Number(ready[2]);
    return this;
  }

  waitForReady(child) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`no ready line after ${START_MS_MAX} ms\n${this.logTail()}`));
      }, START_MS_MAX);
      child.once('error', reject);
      this.exited.then(({ code, signal }) => {
        clearTimeout(timer);
        reject(Object.assign(new Error(`evenkeel ended with ${code ?? signal} before it was ready\n${this.logTail()}`), { exitCode: code, signal }));
      });
      child.stdout.setEncoding('utf8').on('data', (text) => {
        this.stdout += text;
        const match = READY.exec(this.stdout.split('\n')[0]);
        if (!match || !this.stdout.includes('\n')) return;
        clearTimeout(timer);
        resolve(match);
      });
    });
  }

  // Asks the process to end (SIGTERM) and returns its exit code.
  async stop() {
    if (!this.child) return 0;
    const child = this.child;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    const { code, signal } = await this.exited;
    clearTimeout(timer);
    if (signal) throw new Error(`evenkeel ended by ${signal} instead of stopping\n${this.logTail()}`);
    return code;
  }

  // kill -9; resolves when the process is gone.
  async kill() {
    if (!this.child) return;
    this.child.kill('SIGKILL');
    await this.exited;
  }

  // SIGSTOP; resolves when every thread stands still. thaw() lets them go on.
  async freeze() {
    this.child.kill('SIGSTOP');
    const tasks = `/proc/${this.pid}/task`;
    const runs = (task) => !/\) [tT] /.test(fs.readFileSync(`${tasks}/${task}/stat`, 'utf8'));
    while (fs.readdirSync(tasks).some(runs)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  thaw() { this.child?.kill('SIGCONT'); }

  // Kills what runs and removes the data folder if this object made it.
  async remove() {
    await this.kill();
    if (this.ownsData) fs.rmSync(this.data, { recursive: true, force: true });
  }

  logTail() { return this.stderr.trimEnd().split('\n').slice(-LOG_LINES_SHOWN).join('\n'); }
}

module.exports = { MAP_OPTIONS, ROOT, Server, binary, temporaryFolder };
