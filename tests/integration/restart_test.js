// What is there after the process ends, by SIGTERM and by kill -9.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { useCluster, range } = require('../lib/cluster.js');

describe('restarts', () => {
  const cluster = useCluster();
  const ways = { SIGTERM: async () => assert.equal(await cluster.server.stop(), 0), 'kill -9': () => cluster.server.kill() };

  async function restart(how) {
    await ways[how]();
    await cluster.server.start();
    await cluster.reconnect();
  }

  // Everything that a reader can see of a collection.
  async function picture(name) {
    const c = cluster.db.collection(name);
    return {
      documents: await c.find().sort({ _id: 1 }).toArray(),
      count: await c.estimatedDocumentCount(),
      indexes: (await c.indexes()).map((index) => index.name).sort(),
      byIndex: await c.countDocuments({ n: { $gte: 0 } }, { hint: 'n_1' }),
      valid: (await cluster.db.command({ validate: name, full: true })).valid,
    };
  }

  for (const how of Object.keys(ways)) {
    it(`${how}: documents, counts, indexes and the catalog are as they were`, async () => {
      const names = [cluster.collection().collectionName, (await cluster.sharded()).collectionName, (await cluster.sharded({ n: 'hashed' })).collectionName];
      for (const name of names) {
        const c = cluster.db.collection(name);
        await c.createIndex({ n: 1 });
        await c.insertMany(range(1000).map((i) => ({ _id: i, n: i % 100 })));
        await c.updateMany({ n: { $lt: 50 } }, { $set: { updated: true } });
        await c.deleteMany({ n: 99 });
      }
      const before = await Promise.all(names.map(picture));
      const chunks = await cluster.client.db('config').collection('chunks').find().sort({ _id: 1 }).toArray();
      await restart(how);
      assert.deepEqual(await Promise.all(names.map(picture)), before);
      assert.deepEqual(await cluster.client.db('config').collection('chunks').find().sort({ _id: 1 }).toArray(), chunks);
      for (const name of names) await cluster.db.collection(name).insertOne({ _id: 'new', n: 1 });
    });

    it(`${how}: what was dropped stays away`, async () => {
      const c = await cluster.sharded();
      await c.insertMany(range(2000).map((i) => ({ _id: i, text: 'x'.repeat(200) })));
      await c.drop();
      await restart(how);
      const again = cluster.db.collection(c.collectionName);
      assert.equal(await again.countDocuments(), 0);
      await again.insertOne({ _id: 1 });
      assert.deepEqual(await again.find().toArray(), [{ _id: 1 }]);
    });
  }

  it('several times in a row, with writes in between', async () => {
    const name = (await cluster.sharded()).collectionName;
    for (const round of range(4)) {
      await cluster.db.collection(name).insertMany(range(500).map((i) => ({ _id: round * 500 + i })));
      await restart(round % 2 ? 'SIGTERM' : 'kill -9');
    }
    assert.deepEqual((await cluster.db.collection(name).find().sort({ _id: 1 }).toArray()).map((d) => d._id), range(2000));
  });
});
