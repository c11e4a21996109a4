// A load whose acknowledged statements are recorded here, outside of the cluster: counters, each on a known shard, and inserts.
'use strict';

const assert = require('node:assert/strict');

// What a statement may fail with when a shard cannot be reached: HostUnreachable, HostNotFound, NetworkTimeout, ShutdownInProgress,
// SocketException. Drivers retry all of them.
const RETRYABLE = new Set([6, 7, 89, 91, 9001]);
const PAUSE_MS = 5;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// One document that its one writer increments and reads in turn.
class Counter {
  constructor(collection, id, shard) {
    Object.assign(this, { collection, id, shard, acknowledged: 0, open: 0, failedReads: 0 });
  }

  // Done since the beginning, whatever came of it.
  get failures() { return this.open + this.failedReads; }

  async next() {
    try {
      const { modifiedCount } = await this.collection.updateOne({ _id: this.id }, { $inc: { n: 1 } });
      assert.equal(modifiedCount, 1);
      ++this.acknowledged;
    } catch (error) {
      checkRetryable(error);
      assert.ok(error.hasErrorLabel('RetryableWriteError'), `no label: ${error}`);
      ++this.open;
    }
    try {
      this.check(await this.collection.findOne({ _id: this.id }));
    } catch (error) {
      checkRetryable(error);
      ++this.failedReads;
    }
  }

  // Acknowledged ones are there, the others once at most.
  check(document) {
    const [least, most] = [this.acknowledged, this.acknowledged + this.open];
    assert.ok(document.n >= least && document.n <= most, `${this.id} on ${this.shard}: ${document.n}, not in ${least}…${most}`);
  }
}

// Inserts small batches, whose documents go to all shards.
class Inserter {
  constructor(collection, name) { Object.assign(this, { collection, name, step: 0, acknowledged: [], failures: 0 }); }

  async next() {
    const ids = Array.from({ length: 5 }, (_, i) => `${this.name}-${this.step}-${i}`);
    ++this.step;
    try {
      await this.collection.insertMany(ids.map((_id) => ({ _id, kind: 'insert' })), { ordered: false });
      this.acknowledged.push(...ids);
    } catch (error) {
      checkRetryable(error);
      ++this.failures;
    }
  }
}

function checkRetryable(error) {
  const code = error.code ?? error.cause?.code;
  if (!RETRYABLE.has(code)) throw error;
}

// All writers at once, each one statement at a time, until stop().
class Load {
  constructor(counters, inserters) {
    Object.assign(this, { counters, inserters, stopped: false, problem: null });
    this.done = Promise.all([...counters, ...inserters].map((writer) => this.run(writer)));
  }

  async run(writer) {
    while (!this.stopped) {
      try {
        await writer.next();
      } catch (error) {
        this.problem ??= error;
        return;
      }
      await pause(PAUSE_MS);
    }
  }

  // Waits for an event of the load; what broke a promise ends the wait.
  async until(what, condition, ms) {
    const end = Date.now() + ms;
    while (!condition()) {
      if (this.problem) throw this.problem;
      assert.ok(Date.now() < end, `not after ${ms} ms: ${what}`);
      await pause(50);
    }
  }

  // Every one of these counters has `count` more acknowledged statements.
  progress(what, counters, count, ms) {
    const goals = new Map(counters.map((counter) => [counter, counter.acknowledged + count]));
    return this.until(what, () => counters.every((counter) => counter.acknowledged >= goals.get(counter)), ms);
  }

  async stop() {
    this.stopped = true;
    await this.done;
    if (this.problem) throw this.problem;
  }
}

module.exports = { Counter, Inserter, Load, RETRYABLE };
