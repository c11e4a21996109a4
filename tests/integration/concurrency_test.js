// Many clients at once: each document is given out once, counters lose nothing, upserts without the key make one document.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { useCluster, range } = require('../lib/cluster.js');

const CLIENTS = 24;

describe('many clients at once', () => {
  const cluster = useCluster({ client: { maxPoolSize: CLIENTS } });
  const kinds = { unsharded: () => cluster.collection(), sharded: () => cluster.sharded(), 'sharded by k': () => cluster.sharded({ k: 'hashed' }) };

  for (const kind of Object.keys(kinds)) {
    it(`${kind}: findOneAndUpdate gives each job to one worker`, async () => {
      const c = await kinds[kind]();
      const JOBS = 400;
      await c.insertMany(range(JOBS).map((i) => ({ _id: i, k: i, state: 'new', rank: (i * 37) % JOBS })));
      const taken = [];
      await Promise.all(range(CLIENTS).map(async (worker) => {
        for (;;) {
          const job = await c.findOneAndUpdate({ state: 'new' }, { $set: { state: 'taken', worker } }, { sort: { rank: 1 } });
          if (job === null) return;
          taken.push(job._id);
        }
      }));
      assert.deepEqual(taken.sort((a, b) => a - b), range(JOBS));
      assert.equal(await c.countDocuments({ state: 'taken' }), JOBS);
    });

    it(`${kind}: increments of one document all count`, async () => {
      const c = await kinds[kind]();
      await c.insertOne({ _id: 1, k: 1, n: 0 });
      await Promise.all(range(CLIENTS).map(async () => {
        for (const _ of range(20)) await c.updateOne({ _id: 1 }, { $inc: { n: 1 } });
      }));
      assert.equal((await c.findOne({ _id: 1 })).n, CLIENTS * 20);
    });

    it(`${kind}: upserts without the shard key make one document`, async () => {
      const c = await kinds[kind]();
      const results = await Promise.all(range(CLIENTS).map(() => c.updateOne({ name: 'one' }, { $inc: { n: 1 } }, { upsert: true })));
      assert.equal(results.reduce((sum, r) => sum + r.upsertedCount, 0), 1);
      const found = await c.find({ name: 'one' }).toArray();
      assert.equal(found.length, 1);
      assert.equal(found[0].n, CLIENTS);
    });

    it(`${kind}: deleteOne deletes each document once`, async () => {
      const c = await kinds[kind]();
      await c.insertMany(range(200).map((i) => ({ _id: i, k: i, x: 1 })));
      const counts = await Promise.all(range(CLIENTS).map(async () => {
        let deleted = 0;
        while ((await c.deleteOne({ x: 1 })).deletedCount === 1) ++deleted;
        return deleted;
      }));
      assert.equal(counts.reduce((a, b) => a + b), 200);
      assert.equal(await c.countDocuments(), 0);
    });
  }

  it('a unique index lets one of many equal inserts through', async () => {
    const c = cluster.collection();
    await c.createIndex({ u: 1 }, { unique: true });
    for (const u of range(10)) {
      const outcomes = await Promise.all(range(CLIENTS).map((i) => c.insertOne({ u, i }).then(() => 'in', (e) => e.code)));
      assert.equal(outcomes.filter((o) => o === 'in').length, 1);
      assert.ok(outcomes.every((o) => o === 'in' || o === 11000), outcomes.join());
    }
    assert.equal(await c.countDocuments(), 10);
  });

  it('an index built under load has every document', async () => {
    const c = await cluster.sharded();
    let done = false;
    const writers = range(8).map(async (w) => {
      for (let i = 0; !done; ++i) {
        await c.insertOne({ _id: `${w}-${i}`, n: i % 50 });
        if (i % 3 === 0) await c.updateOne({ _id: `${w}-${i - 1}` }, { $inc: { n: 7 } });
        if (i % 5 === 0) await c.deleteOne({ _id: `${w}-${i - 2}` });
      }
    });
    await new Promise((resolve) => { setTimeout(resolve, 300); });
    await c.createIndex({ n: 1 });
    done = true;
    await Promise.all(writers);
    assert.equal(await c.countDocuments({ n: { $gte: 0 } }, { hint: { n: 1 } }), await c.countDocuments({}, { hint: { _id: 1 } }));
    assert.equal((await cluster.db.command({ validate: c.collectionName, full: true })).valid, true);
  });
});
