// Cursors: many batches, sorted merges over shards, their end and their errors.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { setTimeout } = require('node:timers/promises');
const { describe, it, before } = require('node:test');
const { Long } = require('mongodb');
const { useCluster, errorOf, range } = require('../lib/cluster.js');

const COUNT = 10_000;

describe('cursors', () => {
  const cluster = useCluster();
  const collections = {};

  before(async () => {
    collections.unsharded = cluster.collection();
    collections.sharded = await cluster.sharded();
    for (const c of Object.values(collections)) {
      await c.insertMany(range(COUNT).map((i) => ({ _id: i, shuffled: (i * 7919) % COUNT, text: 'some text' })));
    }
  });

  const skip = process.env.EVENKEEL_SANITIZER && 'sanitizers keep what is freed';
  it('the memory of sorted cursors goes back to the system when they are closed', { skip }, async () => {
    const c = cluster.collection();
    await c.insertMany(range(2000).map((i) => ({ _id: i, text: 'x'.repeat(1000) })));
    const residentMegabytes = () => Number(/RssAnon:\s+(\d+)/.exec(fs.readFileSync(`/proc/${cluster.server.pid}/status`, 'utf8'))[1]) >> 10;
    const before = residentMegabytes();
    const cursors = [];
    for (let i = 0; i < 60; ++i) {
      const { cursor } = await cluster.db.command({ find: c.collectionName, sort: { text: 1 }, batchSize: 1 });
      cursors.push(Long.fromValue(cursor.id));
    }
    const open = residentMegabytes();
    await cluster.db.command({ killCursors: c.collectionName, cursors });
    const deadline = Date.now() + 60_000;
    const half = () => before + (open - before) / 2;
    while (residentMegabytes() > half() && Date.now() < deadline) await setTimeout(500);
    assert.ok(residentMegabytes() <= half(), `${before} MB before, ${open} MB with open cursors, ${residentMegabytes()} MB after`);
  });

  for (const kind of ['unsharded', 'sharded']) {
    it(`${kind}: every document exactly once, whatever the batch size`, async () => {
      for (const batchSize of [undefined, 1000, 333]) {
        const seen = new Set();
        for await (const document of collections[kind].find({}, { batchSize })) seen.add(document._id);
        assert.equal(seen.size, COUNT);
      }
    });

    it(`${kind}: sorted`, async () => {
      const values = (await collections[kind].find({}, { batchSize: 777 }).sort({ shuffled: -1 }).toArray()).map((d) => d.shuffled);
      assert.deepEqual(values, range(COUNT).reverse());
    });

    it(`${kind}: limit and negative limit end the cursor`, async () => {
      assert.equal((await collections[kind].find().limit(250).batchSize(100).toArray()).length, 250);
      assert.equal((await collections[kind].find().limit(-5).toArray()).length, 5);
    });

    it(`${kind}: an aggregation's cursor`, async () => {
      const rows = await collections[kind].aggregate([{ $match: { _id: { $lt: 5000 } } }, { $sort: { _id: 1 } }], { batchSize: 100 }).toArray();
      assert.deepEqual(rows.map((d) => d._id), range(5000));
    });

    it(`${kind}: getMore by hand, killCursors, and getMore on a cursor that is gone`, async () => {
      const name = collections[kind].collectionName;
      const { cursor } = await cluster.db.command({ find: name, batchSize: 2 });
      assert.equal(cursor.firstBatch.length, 2);
      assert.equal(cursor.ns, `test.${name}`);
      const id = Long.fromValue(cursor.id);  // a small one comes as a number
      const more = await cluster.db.command({ getMore: id, collection: name, batchSize: 3 }, { promoteLongs: false });
      assert.equal(more.cursor.nextBatch.length, 3);
      const killed = await cluster.db.command({ killCursors: name, cursors: [id] });
      assert.equal(killed.cursorsKilled.length, 1);
      const again = await cluster.db.command({ killCursors: name, cursors: [id] });
      assert.equal(again.cursorsNotFound.length, 1);
      assert.equal((await errorOf(cluster.db.command({ getMore: id, collection: name }))).code, 43);
    });
  }

  it('a batch size of zero returns a cursor and no document', async () => {
    const { cursor } = await cluster.db.command({ find: collections.sharded.collectionName, batchSize: 0 });
    assert.equal(cursor.firstBatch.length, 0);
    assert.notEqual(cursor.id.toString(), '0');
    await cluster.db.command({ killCursors: collections.sharded.collectionName, cursors: [Long.fromValue(cursor.id)] });
  });

  it('a single batch leaves no cursor', async () => {
    const { cursor } = await cluster.db.command({ find: collections.sharded.collectionName, batchSize: 3, singleBatch: true });
    assert.equal(cursor.firstBatch.length, 3);
    assert.equal(cursor.id.toString(), '0');
  });

  it('batches end below 16 MB', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(12).map((i) => ({ _id: i, text: 'z'.repeat(4 << 20) })));
    const found = await c.find().toArray();
    assert.equal(found.length, 12);
  });

  it('writes during a scan: what was there all the time is seen exactly once', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(3000).map((i) => ({ _id: i, stays: true })));
    const seen = new Map();
    for await (const document of c.find({ stays: true }, { batchSize: 50 })) {
      seen.set(document._id, (seen.get(document._id) ?? 0) + 1);
      if (seen.size % 100 === 0) await c.updateMany({ _id: { $lt: 3000 } }, { $inc: { touched: 1 } });
      if (seen.size % 500 === 0) await c.insertMany(range(10).map((i) => ({ _id: 10_000 + seen.size * 10 + i })));
    }
    assert.equal(seen.size, 3000);
    assert.ok([...seen.values()].every((times) => times === 1));
  });
});
