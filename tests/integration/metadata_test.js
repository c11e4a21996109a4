// checkMetadataConsistency: nothing in a clean cluster; what was planted is named.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { UUID } = require('mongodb');
const { range, useCluster } = require('../lib/cluster.js');

describe('checkMetadataConsistency', () => {
  const cluster = useCluster();
  const found = async (database, what = 1) => {
    const { cursor } = await cluster.client.db(database).command({ checkMetadataConsistency: what });
    assert.equal(cursor.ns, `${database}.$cmd.aggregate`);
    return cursor.firstBatch;
  };
  const types = async (...args) => (await found(...args)).map((row) => row.type).sort();
  const collections = () => cluster.client.db('config').collection('collections');

  it('a clean cluster has none', async () => {
    assert.deepEqual(await found('admin'), []);
    const sharded = await cluster.sharded({ k: 'hashed' });
    const plain = cluster.collection();
    await Promise.all([sharded, plain].map((collection) => collection.insertMany(range(500).map((i) => ({ _id: i, k: i, v: i })))));
    await sharded.createIndex({ v: 1 });
    await sharded.createIndex({ w: 1 });
    await plain.createIndex({ v: -1 }, { unique: true });
    await cluster.db.createCollection('view', { viewOn: plain.collectionName, pipeline: [] });
    await cluster.admin({ reshardCollection: sharded.namespace, key: { v: 'hashed' } });
    await cluster.admin({ moveCollection: plain.namespace, toShard: 'shard2' });
    await sharded.dropIndex('w_1');
    await cluster.sharded().then((other) => other.drop());
    await plain.rename('renamed');
    assert.deepEqual(await found('admin'), []);
    assert.deepEqual(await found('test'), []);
    assert.deepEqual(await found('test', sharded.collectionName), []);
  });

  it('while collections change there are none either', async () => {
    let going = true;
    const change = async (name) => {
      while (going) {
        const collection = await cluster.sharded();
        await collection.createIndex({ [name]: 1 });
        await collection.drop();
      }
    };
    const changing = [change('a'), change('b')];
    for (let i = 0; i < 20; ++i) assert.deepEqual(await found('admin'), []);
    going = false;
    await Promise.all(changing);
  });

  const planted = [
    ['another UUID', { $set: { uuid: new UUID() } }, 'CollectionUUIDMismatch'],
    ['another shard key', { $set: { key: { other: 'hashed' } } }, 'CollectionMetadataMismatch'],
  ];
  for (const [name, change, type] of planted) {
    it(name, async () => {
      const collection = await cluster.sharded();
      const row = await collections().findOne({ _id: collection.namespace });
      await collections().updateOne({ _id: collection.namespace }, change);
      const [inconsistency, ...others] = await found('admin');
      assert.deepEqual(others, []);
      assert.equal(inconsistency.type, type);
      assert.equal(inconsistency.details.namespace, collection.namespace);
      assert.ok(inconsistency.description.length > 10);
      assert.deepEqual(await types('test'), [type]);
      assert.deepEqual(await types('test', collection.collectionName), [type]);
      assert.deepEqual(await types('test', 'another'), []);
      assert.deepEqual(await types('other'), []);
      await collections().replaceOne({ _id: collection.namespace }, row);
      assert.deepEqual(await found('admin'), []);
    });
  }

  it('a missing row, and one too many', async () => {
    const collection = await cluster.sharded();
    const row = await collections().findOne({ _id: collection.namespace });
    await collections().deleteOne({ _id: collection.namespace });
    await collections().insertOne({ ...row, _id: 'test.nowhere' });
    assert.deepEqual(await types('admin'), ['MissingCollectionMetadata', 'MissingLocalCollection']);
    await collections().deleteOne({ _id: 'test.nowhere' });
    await collections().insertOne(row);
    assert.deepEqual(await found('admin'), []);
  });

  it('comes in batches', async () => {
    const rows = range(5).map((i) => ({ _id: `test.nowhere${i}`, key: { _id: 'hashed' } }));
    await collections().insertMany(rows);
    const cursor = cluster.client.db('admin').runCursorCommand({ checkMetadataConsistency: 1, cursor: { batchSize: 2 } });
    assert.equal((await cursor.toArray()).length, 5);
    await collections().deleteMany({ _id: { $in: rows.map((row) => row._id) } });
  });
});
