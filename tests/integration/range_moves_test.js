// A shard leaves and comes back while clients write: ranges move, and nobody notices.
'use strict';

const assert = require('node:assert/strict');
const { afterEach, describe, it } = require('node:test');
const { Long } = require('mongodb');
const { errorOf, range, useCluster } = require('../lib/cluster.js');
const { MoveLoad } = require('../lib/move_load.js');
const { move, newestRanges, setDraining, until, isBalanced } = require('../lib/range_moves.js');

const LEAVING = 2;
const ROWS = 3000;

describe('ranges move when a shard leaves and comes back', () => {
  const cluster = useCluster();
  const filled = async (collection, count = ROWS) => {
    await collection.insertMany(range(count).map((i) => ({ _id: i, k: i % 97, text: 'x'.repeat(100) })));
    return collection;
  };
  const validate = async (collection) => {
    const { valid, errors } = await cluster.db.command({ validate: collection.collectionName, full: true });
    assert.ok(valid, JSON.stringify(errors));
  };
  const countsOf = async (collection) => {
    const { shards } = await cluster.db.command({ collStats: collection.collectionName });
    return Object.fromEntries(Object.entries(shards).map(([name, figures]) => [name, figures.count]));
  };
  const consistent = async () => {
    const { cursor } = await cluster.admin({ checkMetadataConsistency: 1 });
    assert.deepEqual(cursor.firstBatch, []);
  };
  const exact = async (collection, rows) => {
    assert.equal(await collection.countDocuments({ _id: { $type: 'number' } }), rows);
    assert.equal(await collection.estimatedDocumentCount(), await collection.countDocuments({}));
    await validate(collection);
  };
  // A move moves all there is.
  afterEach(() => cluster.db.dropDatabase());

  for (const key of [{ _id: 'hashed' }, { k: 'hashed' }]) {
    it(`under load, ${JSON.stringify(key)}`, async () => {
      const collection = await filled(await cluster.sharded(key));
      await collection.createIndex({ v: 1 });
      await collection.createIndex({ text: 1, k: 1 });
      const load = await new MoveLoad(cluster.server.uri, collection.namespace, { clients: 8 }).start();
      await load.progress(200);
      for (const away of [true, false]) {
        await move(cluster.client, LEAVING, away);
        await load.progress(200);
        assert.equal(Object.keys(await countsOf(collection)).includes(`shard${LEAVING}`), !away);
      }
      await load.finish();
      await exact(collection, ROWS);
      await consistent();
    });
  }

  it('only what has to', async () => {
    const collection = await filled(await cluster.sharded(), 20_000);
    const owners = (row) => Object.fromEntries(row.ranges.map(({ min, shard }) => [String(min), shard]));
    const before = await countsOf(collection), ranges = owners(await newestRanges(cluster.client));
    await move(cluster.client, LEAVING, true);
    const without = await countsOf(collection);
    assert.deepEqual(Object.keys(without), ['shard0', 'shard1']);
    // What the others had they have still: their ranges only grew.
    const left = owners(await newestRanges(cluster.client));
    for (const [min, shard] of Object.entries(ranges)) if (shard !== LEAVING) assert.equal(left[min] ?? shard, shard, `the range from ${min}`);
    for (const name of Object.keys(without)) assert.ok(without[name] > before[name]);
    await move(cluster.client, LEAVING, false);
    const back = await countsOf(collection);
    for (const name of ['shard0', 'shard1', 'shard2']) assert.ok(Math.abs(back[name] / (20_000 / 3) - 1) < 0.05, JSON.stringify(back));
    await exact(collection, 20_000);
  });

  it('tools see where they are', async () => {
    const collection = await filled(await cluster.sharded());
    for (const away of [true, false]) {
      await move(cluster.client, LEAVING, away);
      const { uuid } = await cluster.client.db('config').collection('collections').findOne({ _id: collection.namespace });
      const chunks = await cluster.client.db('config').collection('chunks').find({ uuid }).sort({ 'min._id': 1 }).toArray();
      assert.deepEqual([...new Set(chunks.map((chunk) => chunk.shard))].sort(), away ? ['shard0', 'shard1'] : ['shard0', 'shard1', 'shard2']);
      for (const [i, chunk] of chunks.entries()) if (i > 0) assert.deepEqual(chunk.min, chunks[i - 1].max);
      const [row] = await cluster.client.db('admin').aggregate([{ $shardedDataDistribution: {} }, { $match: { ns: collection.namespace } }]).toArray();
      assert.equal(row.shards.reduce((sum, shard) => sum + shard.numOwnedDocuments, 0), ROWS);
      const status = await cluster.admin({ balancerCollectionStatus: collection.namespace });
      assert.equal(status.balancerCompliant, true);
    }
  });

  it('cursors go on and see every document once', async () => {
    const collection = await filled(await cluster.sharded({ k: 'hashed' }));
    await collection.createIndex({ text: 1 });
    const cursors = [
      collection.find().batchSize(50), collection.find().sort({ k: 1 }).batchSize(50), collection.find({ text: { $gt: '' } }).hint('text_1').batchSize(50),
      collection.aggregate([{ $match: { k: { $gte: 0 } } }, { $project: { k: 1 } }], { batchSize: 50 }),
    ];
    const seen = await Promise.all(cursors.map(async (cursor) => { const ids = []; for (let i = 0; i < 120; ++i) ids.push((await cursor.next())._id); return ids; }));
    await move(cluster.client, LEAVING, true);
    await collection.updateMany({}, { $set: { moved: true } });
    for (const [i, cursor] of cursors.entries()) {
      for await (const row of cursor) seen[i].push(row._id);
      assert.equal(seen[i].length, ROWS, `cursor ${i}`);
      assert.equal(new Set(seen[i]).size, ROWS, `cursor ${i}`);
    }
    // Behind the last cursor orphans may go at once: what a move back needs is free.
    const { removed } = await cluster.admin({ cleanupOrphaned: collection.namespace });
    assert.ok(removed >= 0);
    await move(cluster.client, LEAVING, false);
    assert.equal(await collection.countDocuments({ moved: true }), ROWS);
    await exact(collection, ROWS);
  });

  it('what lies orphaned is in no answer and takes no unique value', async () => {
    const collection = await filled(await cluster.sharded({ k: 'hashed' }));
    const cursor = collection.find().batchSize(10);
    await cursor.next();
    await move(cluster.client, LEAVING, true);
    const stats = await cluster.db.command({ collStats: collection.collectionName });
    assert.equal(stats.count, ROWS);
    assert.equal((await collection.aggregate([{ $group: { _id: '$k', n: { $sum: 1 } } }]).toArray()).reduce((sum, row) => sum + row.n, 0), ROWS);
    // The move back, while orphans lie where the documents come to: the cursor that could read them ends.
    await move(cluster.client, LEAVING, false);
    await exact(collection, ROWS);
    for (const row of range(ROWS).filter((i) => i % 300 === 0)) {
      await collection.deleteOne({ _id: row, k: row % 97 });
      await collection.insertOne({ _id: row, k: (row + 1) % 97 });
    }
    await exact(collection, ROWS);
    await cursor.close();
  });

  it('an index that was made while the shard owned nothing', async () => {
    const collection = await filled(await cluster.sharded());
    const cursor = collection.find().batchSize(10);
    await cursor.next();
    await move(cluster.client, LEAVING, true);
    await collection.updateMany({}, { $inc: { n: 1 } });
    await collection.createIndex({ n: 1 });
    await move(cluster.client, LEAVING, false);
    assert.equal(await collection.countDocuments({ n: 1 }), ROWS, 'documents that lay here before are not taken for those that come');
    assert.equal((await collection.find({ n: 1 }).hint('n_1').toArray()).length, ROWS);
    await exact(collection, ROWS);
    await cursor.close();
  });

  it('retried writes find their results', async () => {
    const collection = await filled(await cluster.sharded(), 10);
    const session = cluster.client.startSession();
    const inserts = { insert: collection.collectionName, documents: range(200).map((i) => ({ _id: 1000 + i, k: 1 })), lsid: session.id, txnNumber: Long.fromNumber(1_000_000) };
    assert.equal((await cluster.db.command(inserts)).n, 200);
    for (const away of [true, false]) {
      await move(cluster.client, LEAVING, away);
      const again = await cluster.db.command(inserts);
      assert.deepEqual([again.n, again.writeErrors], [200, undefined]);
    }
    assert.equal(await collection.countDocuments(), 210);
    await session.endSession();
  });

  it('a logical partition stays whole, unsharded collections leave too', async () => {
    const [one, plain] = [await cluster.sharded({ k: 'hashed' }), cluster.collection()];
    await one.insertMany(range(5000).map((i) => ({ _id: i, k: 'one' })));
    await plain.insertMany(range(100).map((i) => ({ _id: i })));
    await cluster.admin({ moveCollection: plain.namespace, toShard: `shard${LEAVING}` });
    await setDraining(cluster.client, LEAVING, true);
    await until('everything gone', async () => (await cluster.admin({ shardDrainingStatus: `shard${LEAVING}` })).state !== 'ongoing');
    assert.deepEqual(Object.values(await countsOf(one)).filter((count) => count > 0), [5000]);
    assert.equal(await plain.countDocuments(), 100);
    await move(cluster.client, LEAVING, false);
    assert.deepEqual(Object.values(await countsOf(one)).filter((count) => count > 0), [5000]);
    await exact(one, 5000);
  });

  it('changes of a collection do not wait for the balancer', async () => {
    const collections = [];
    for (let i = 0; i < 4; ++i) collections.push(await filled(await cluster.sharded(), 20_000));
    await cluster.admin({ setParameter: 1, migrationBytesPerSecond: 100_000 });
    await setDraining(cluster.client, LEAVING, true);
    await until('a move', async () => await cluster.client.db('config').collection('jobs').countDocuments({ kind: 'balancing' }) > 0);
    await collections[0].createIndex({ k: 1 });
    await collections[1].drop();
    await collections[3].rename(`${collections[3].collectionName}_renamed`);
    await until('a move of the third', async () => await cluster.client.db('config').collection('jobs').countDocuments({ kind: 'balancing', _id: collections[2].namespace }) > 0);
    await until('its first documents', async () => (await cluster.admin({ clusterMoves: 1 })).moves.some((row) => Number(row.documents) > 0));
    await cluster.admin({ setParameter: 1, migrationBytesPerSecond: 2_000_000 });
    // What the move has brought in vain is removed while the collection is copied: the copy must not take that for removals.
    let done = false;
    const cleaning = (async () => { while (!done) await cluster.admin({ cleanupOrphaned: collections[2].namespace }).catch(() => {}); })();
    await cluster.admin({ reshardCollection: collections[2].namespace, key: { k: 'hashed' } });
    done = true;
    await cleaning;
    await cluster.admin({ setParameter: 1, migrationBytesPerSecond: 0 });
    await until('all moved', () => isBalanced(cluster.client, LEAVING, false));
    await exact(collections[0], 20_000);
    await exact(collections[2], 20_000);
    assert.equal(await cluster.db.collection(`${collections[3].collectionName}_renamed`).countDocuments(), 20_000);
    await move(cluster.client, LEAVING, false);
    await exact(collections[0], 20_000);
  });

  it('equal _ids that would meet keep their collection where it is, others go on', async () => {
    const stuck = await cluster.sharded({ k: 'hashed' });
    for (let k = 0; k < 40; ++k) await stuck.insertOne({ _id: 'same', k }).catch((error) => assert.equal(error.code, 11000));
    const kept = await stuck.countDocuments();
    assert.equal(kept, 3, 'one on each shard');
    const free = await filled(await cluster.sharded(), 500);
    await setDraining(cluster.client, LEAVING, true);
    await until('the others', async () => !Object.keys(await countsOf(free)).includes(`shard${LEAVING}`));
    await exact(free, 500);
    assert.equal(await stuck.countDocuments(), kept);
    await stuck.drop();
    await move(cluster.client, LEAVING, false);
    assert.equal((await errorOf(cluster.admin({ cleanupOrphaned: 5 }))).code, 14);
    await consistent();
  });
});
