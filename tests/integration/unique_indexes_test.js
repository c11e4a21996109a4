// Unique indexes and shard keys: what shards can keep unique is allowed and kept, the rest is refused.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { errorOf, range, useCluster } = require('../lib/cluster.js');

const CANNOT_CREATE = 67, INVALID_OPTIONS = 72, DUPLICATE = 11000, BAD_VALUE = 2;
const IGNORES_CASE = { locale: 'en', strength: 2 };

describe('unique indexes of sharded collections', () => {
  const cluster = useCluster();
  const codeOf = async (promise) => (await errorOf(promise)).code;
  const shard = (c, key, more = {}) => cluster.admin({ shardCollection: c.namespace, key, ...more });

  it('start with the shard key', async () => {
    for (const [key, good, bad] of [
      [{ k: 'hashed' }, [{ k: 1 }, { k: 1, x: 1 }, { k: -1, y: 1 }], [{ x: 1 }, { x: 1, k: 1 }]],
      [{ k: 'hashed', 'a.b': 1 }, [{ k: 1, 'a.b': 1 }, { k: 1, 'a.b': -1, x: 1 }], [{ k: 1 }, { 'a.b': 1, k: 1 }, { _id: 1, x: 1 }]],
    ]) {
      const c = await cluster.sharded(key);
      for (const index of good) await c.createIndex(index, { unique: true });
      for (const index of bad) assert.equal(await codeOf(c.createIndex(index, { unique: true })), CANNOT_CREATE, JSON.stringify(index));
      assert.equal((await c.indexes()).filter(({ unique }) => unique).length, good.length);
    }
  });

  it('are there before the collection is sharded, and hold afterwards', async () => {
    const c = cluster.collection();
    await c.createIndex({ k: 1, x: 1 }, { unique: true });
    await c.insertMany(range(200).map((_id) => ({ _id, k: _id % 20, x: _id })));
    await shard(c, { k: 'hashed' });
    assert.equal(await c.countDocuments(), 200);
    for (const i of range(20)) assert.equal(await codeOf(c.insertOne({ _id: 1000 + i, k: i, x: i })), DUPLICATE);
    await c.insertOne({ _id: 2000, k: 0, x: 1 });
    // Another key that the index starts with, and one that it does not.
    await cluster.admin({ reshardCollection: c.namespace, key: { k: 'hashed', x: 1 } });
    for (const i of range(20)) assert.equal(await codeOf(c.insertOne({ _id: 1000 + i, k: i, x: i })), DUPLICATE);
    assert.equal(await codeOf(cluster.admin({ reshardCollection: c.namespace, key: { x: 'hashed' } })), INVALID_OPTIONS);
    const other = cluster.collection();
    await other.createIndex({ x: 1, k: 1 }, { unique: true });
    assert.equal(await codeOf(shard(other, { k: 'hashed' })), INVALID_OPTIONS);
    assert.equal(await codeOf(shard(other, { k: 'hashed' }, { unique: true })), INVALID_OPTIONS);
  });

  it('default collations do not shard', async () => {
    const c = cluster.collection();
    await cluster.db.createCollection(c.collectionName, { collation: IGNORES_CASE });
    await c.insertMany([{ _id: 1, k: 'a' }, { _id: 2, k: 'A' }]);
    assert.equal(await codeOf(shard(c, { k: 'hashed' })), BAD_VALUE);
    assert.equal(await codeOf(shard(c, { k: 'hashed' }, { collation: IGNORES_CASE })), BAD_VALUE);
    await shard(c, { k: 'hashed' }, { collation: { locale: 'simple' } });
    assert.equal(await c.countDocuments({ k: 'a' }), 2);
    await c.createIndex({ k: 1, x: 1 }, { unique: true, collation: { locale: 'simple' } });
    assert.equal(await codeOf(c.insertOne({ k: 'a' })), DUPLICATE);
  });
});
