// A full disk: writes fail clearly, reads and deletes go on, and writes go on when there is space again.
//
// Runs on a small file system in memory, which only root may mount; elsewhere the test is skipped.
'use strict';

const assert = require('node:assert/strict');
const { describe, it, before, after } = require('node:test');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { MongoClient } = require('mongodb');
const { Server, temporaryFolder } = require('../lib/server.js');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');

const DISK_MB = 1024;
const BALLAST_MB = 256;  // removed later: the space that comes back
const OUT_OF_DISK_SPACE = 14031;

const folder = temporaryFolder('small-disk');
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', folder]).status === 0;

describe('a full disk', { skip: mounted ? false : 'a file system can only be mounted as root' }, () => {
  let server;
  let client;
  let collection;
  const ballast = path.join(folder, 'ballast');

  before(async () => {
    fs.writeFileSync(ballast, Buffer.alloc(BALLAST_MB << 20));
    server = await new Server({ shards: 1, data: path.join(folder, 'data') }).start();
    client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect();
    collection = client.db('test').collection('c');
  });
  after(async () => {
    await client?.close(true);
    await server?.kill();
  });

  // Inserts until the server refuses. Returns the ids that were acknowledged and the refusal.
  async function fill() {
    const acknowledged = [];
    for (let i = 0; i < 4 * DISK_MB; ++i) {
      const ids = range(4).map((n) => `${i}-${n}`);
      try {
        await collection.insertMany(ids.map((_id) => ({ _id, text: String(Math.random()).repeat(14_000) })));
        acknowledged.push(...ids);
      } catch (error) {
        const partly = ids.slice(0, error.result?.insertedCount ?? 0);
        return { acknowledged: [...acknowledged, ...partly], error };
      }
    }
    throw new Error('the disk did not fill up');
  }

  it('writes fail with OutOfDiskSpace, reads and deletes go on, freed space is used again', async () => {
    const { acknowledged, error } = await fill();
    assert.equal(error.code, OUT_OF_DISK_SPACE, error.message);
    assert.equal(await collection.countDocuments(), acknowledged.length);
    assert.ok((await collection.findOne({ _id: acknowledged[0] })).text.length > 0);
    for (const _id of acknowledged.slice(0, 50)) assert.equal((await collection.deleteOne({ _id })).deletedCount, 1);
    assert.equal(await collection.countDocuments(), acknowledged.length - 50);

    fs.rmSync(ballast);
    const deadline = Date.now() + 60_000;
    for (;;) {  // the server looks for space again by and by
      try {
        await collection.insertOne({ _id: 'after', text: 'x' });
        break;
      } catch (refused) {
        assert.equal(refused.code, OUT_OF_DISK_SPACE);
        assert.ok(Date.now() < deadline, 'writes do not go on');
        await new Promise((resolve) => { setTimeout(resolve, 200); });
      }
    }
    const left = new Set((await collection.find({}, { projection: { _id: 1 } }).toArray()).map((d) => d._id));
    assert.deepEqual(left, new Set([...acknowledged.slice(50), 'after']));

    await server.kill();
    await server.start();
    assert.equal(await collection.countDocuments(), left.size);
    assert.equal((await client.db('test').command({ validate: 'c', full: true })).valid, true);
  });
});

after(() => {
  if (mounted) spawnSync('umount', [folder]);
  fs.rmSync(folder, { recursive: true, force: true });
});
