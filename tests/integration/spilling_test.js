// Sorts and groups that outgrow their memory go to disk, give the same, and leave nothing behind.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { describe, it, before } = require('node:test');
const { useCluster, errorOf, range } = require('../lib/cluster.js');
const { TINY_MEMORY } = require('../lib/memory.js');

const ROWS = 6000;
const WAIT_MS_MAX = 60_000;

// The files for spilling that a process holds open. They have no names any more.
function openSpillFiles(pid) {
  const folder = `/proc/${pid}/fd`;
  return fs.readdirSync(folder).filter((fd) => {
    try {
      return fs.readlinkSync(path.join(folder, fd)).includes('.spill (deleted)');
    } catch {
      return false;  // closed meanwhile
    }
  }).length;
}

async function until(condition, what) {
  const end = Date.now() + WAIT_MS_MAX;
  while (!condition()) {
    assert.ok(Date.now() < end, `waited in vain: ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  }
}

describe('spilling', () => {
  const cluster = useCluster({ shards: 3, args: TINY_MEMORY });
  const rows = range(ROWS).map((i) => ({ _id: i, k: (i * 7919) % ROWS, g: i % 1500, pad: 'x'.repeat(i % 300) }));
  let single, spread;

  before(async () => {
    single = cluster.collection();
    spread = await cluster.sharded();
    for (const collection of [single, spread]) await collection.insertMany(rows);
  });

  for (const where of ['one shard', 'three shards']) {
    const target = () => (where === 'one shard' ? single : spread);

    it(`sorts on ${where}`, async () => {
      const expected = [...rows].sort((a, b) => a.k - b.k).map((row) => row._id);
      assert.deepEqual((await target().find().sort({ k: 1 }).toArray()).map((row) => row._id), expected);
      const page = await target().aggregate([{ $sort: { k: 1 } }, { $skip: 3000 }, { $limit: 2500 }]).toArray();
      assert.deepEqual(page.map((row) => row._id), expected.slice(3000, 5500));
      await until(() => openSpillFiles(cluster.server.pid) === 0, 'files of finished sorts');
    });

    it(`groups on ${where}`, async () => {
      const groups = await target().aggregate([{ $group: { _id: '$g', n: { $sum: 1 }, least: { $min: '$k' }, all: { $push: '$_id' } } }]).toArray();
      assert.equal(groups.length, 1500);
      for (const { _id, n, least, all } of groups) {
        const members = rows.filter((row) => row.g === _id);
        assert.equal(n, members.length);
        assert.equal(least, Math.min(...members.map((row) => row.k)));
        assert.deepEqual(all.sort((a, b) => a - b), members.map((row) => row._id));
      }
      await until(() => openSpillFiles(cluster.server.pid) === 0, 'files of finished groups');
    });

    it(`without allowDiskUse fails with 292 on ${where}`, async () => {
      const options = { allowDiskUse: false };
      assert.equal((await errorOf(target().aggregate([{ $sort: { k: 1 } }], options).toArray())).code, 292);
      assert.equal((await errorOf(target().aggregate([{ $group: { _id: '$_id', p: { $push: '$pad' } } }], options).toArray())).code, 292);
      assert.equal((await errorOf(target().find({}, options).sort({ k: 1 }).toArray())).code, 292);
    });

    it(`a killed cursor gives its file back on ${where}`, async () => {
      const cursor = target().find().sort({ k: 1 }).batchSize(2);
      await cursor.next();
      assert.ok(openSpillFiles(cluster.server.pid) > 0);
      await cursor.close();
      await until(() => openSpillFiles(cluster.server.pid) === 0, 'the file of a killed cursor');
    });
  }

  it('memory limits are parameters', async () => {
    const name = 'internalQueryMaxBlockingSortMemoryUsageBytes';
    const admin = cluster.client.db('admin');
    assert.equal(Number((await admin.command({ getParameter: 1, [name]: 1 }))[name]), 65_536);
    const { was } = await admin.command({ setParameter: 1, [name]: 100 * 1024 * 1024 });
    assert.equal(Number(was), 65_536);
    const rest = await single.aggregate([{ $sort: { k: 1 } }], { allowDiskUse: false }).toArray();
    assert.equal(rest.length, ROWS);
    await admin.command({ setParameter: 1, [name]: 65_536 });
    assert.equal((await errorOf(admin.command({ setParameter: 1, [name]: 0 }))).code, 2);
    assert.equal((await errorOf(admin.command({ setParameter: 1, noSuchParameter: 1 }))).code, 72);
    assert.equal((await errorOf(admin.command({ setParameter: 1 }))).code, 72);
  });

  it('a disk with too little room is an error of the command, nothing else', async () => {
    const name = 'internalQuerySpillingMinAvailableDiskSpaceBytes';
    const admin = cluster.client.db('admin');
    const { was } = await admin.command({ setParameter: 1, [name]: Number.MAX_SAFE_INTEGER });
    assert.equal((await errorOf(spread.aggregate([{ $sort: { k: 1 } }]).toArray())).code, 14031);
    await admin.command({ setParameter: 1, [name]: was });
    assert.equal((await spread.aggregate([{ $sort: { k: 1 } }]).toArray()).length, ROWS);
  });

  it('what a crash has left is removed at the start', async () => {
    const left = path.join(cluster.server.data, 'spill', '1-1.spill');
    fs.writeFileSync(left, 'left');
    await cluster.server.kill();
    await cluster.server.start();
    await cluster.reconnect();
    assert.ok(!fs.existsSync(left));
    assert.equal(await cluster.db.collection(single.collectionName).countDocuments(), ROWS);  // of the new connection
  });
});
