// A shard leaves and comes back while clients write: ranges move, and nobody notices.
'use strict';

const assert = require('node:assert/strict');
const { afterEach, describe, it } = require('node:test');
const { Long } = require('mongodb');
const { errorOf, range, useCluster } = require('../lib/cluster.js');
const { MoveLoad } = require('../lib/move_load.js');
const { changedHands, isBalanced, isMoving, move, newestRanges, setDraining, until, widthsOf } = require('../lib/range_moves.js');

const LEAVING = 2;
const ROWS = 3000;
const SNAPSHOT_UNAVAILABLE = 246;

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
  const slowly = (bytes) => cluster.admin({ setParameter: 1, migrationBytesPerSecond: bytes });
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
    const before = await newestRanges(cluster.client);
    await move(cluster.client, LEAVING, true);
    const without = await newestRanges(cluster.client);
    assert.deepEqual(Object.keys(await countsOf(collection)), ['shard0', 'shard1']);
    const left = changedHands(before, without);
    assert.deepEqual([...new Set(left.map(({ from }) => from))], [LEAVING]);
    assert.equal(left.reduce((sum, { width }) => sum + width, 0n), widthsOf(before).get(LEAVING));
    await move(cluster.client, LEAVING, false);
    const back = await newestRanges(cluster.client);
    const returned = changedHands(without, back);
    assert.deepEqual([...new Set(returned.map(({ to }) => to))], [LEAVING]);
    assert.equal(returned.reduce((sum, { width }) => sum + width, 0n), widthsOf(back).get(LEAVING));
    for (const width of widthsOf(back).values()) assert.ok(width - 2n ** 64n / 3n <= 1n && width - 2n ** 64n / 3n >= -1n, `${width}`);
    const counts = await countsOf(collection);
    for (const name of ['shard0', 'shard1', 'shard2']) assert.ok(Math.abs(counts[name] - 20_000 / 3) < 0.02 * 20_000, JSON.stringify(counts));
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

  // Sends the shard away and back, slowly, and meanwhile repeats each of the looks.
  async function whileMoving(collection, looks) {
    for (const away of [true, false]) {
      await slowly(200_000);
      await setDraining(cluster.client, LEAVING, away);
      let moved = false, during = 0;
      const repeat = async (look) => { do await look(); while (!moved); };
      const watching = Promise.all(looks.map(repeat)).finally(() => { moved = true; });
      watching.catch(() => {});
      await until('the move', async () => {
        during += await isMoving(cluster.client, collection.namespace);
        return moved || await isBalanced(cluster.client, LEAVING, !away);
      });
      moved = true;
      await watching;
      assert.ok(during > 0, 'nobody looked while it moved');
    }
    await slowly(0);
  }

  it('tools see where documents are at every moment', async () => {
    const collection = await filled(await cluster.sharded(), 10_000);
    const admin = cluster.client.db('admin'), config = cluster.client.db('config');
    const { uuid } = await config.collection('collections').findOne({ _id: collection.namespace });
    const sumOf = (shards, field) => {
      assert.ok(shards.every((shard) => shard[field] > 0), JSON.stringify(shards));
      return shards.reduce((sum, shard) => sum + shard[field], 0);
    };
    await whileMoving(collection, [
      async () => {
        const shards = await collection.aggregate([{ $collStats: { storageStats: {}, count: {} } }]).toArray();
        assert.equal(sumOf(shards, 'count'), 10_000);
      },
      async () => {
        const stats = await cluster.db.command({ collStats: collection.collectionName });
        assert.deepEqual([stats.count, sumOf(Object.values(stats.shards), 'count')], [10_000, 10_000]);
      },
      async () => {
        const [row] = await admin.aggregate([{ $shardedDataDistribution: {} }, { $match: { ns: collection.namespace } }]).toArray();
        assert.equal(sumOf(row.shards, 'numOwnedDocuments'), 10_000);
      },
      async () => {
        const chunks = await config.collection('chunks').find({ uuid }).sort({ 'min._id': 1 }).toArray();
        assert.deepEqual([chunks[0].min._id._bsontype, chunks.at(-1).max._id._bsontype], ['MinKey', 'MaxKey']);
        for (const [i, chunk] of chunks.entries()) if (i > 0) assert.deepEqual(chunk.min, chunks[i - 1].max);
      },
      async () => {
        const listed = await cluster.db.listCollections({ name: collection.collectionName }).toArray();
        assert.deepEqual(listed.map(({ info }) => info.uuid), [uuid]);
      },
      async () => {
        const [row, ...more] = await admin.aggregate([{ $listClusterCatalog: {} }, { $match: { ns: collection.namespace } }]).toArray();
        assert.deepEqual([row.sharded, more], [true, []]);
      },
    ]);
    await exact(collection, 10_000);
  });

  it('reads are exact at every moment', async () => {
    const collection = await filled(await cluster.sharded({ k: 'hashed' }), 10_000);
    const ids = range(10_000);
    const byNumber = (a, b) => a - b;
    const snapshot = async () => {
      const session = cluster.client.startSession({ snapshot: true });
      try {
        for (let i = 0; i < 3; ++i) {
          const [{ n, sum }] = await collection.aggregate([{ $group: { _id: null, n: { $sum: 1 }, sum: { $sum: '$_id' } } }], { session }).toArray();
          assert.deepEqual([n, sum], [10_000, 49_995_000]);
          assert.deepEqual((await collection.distinct('k', {}, { session })).sort(byNumber), range(97));
        }
      } catch (error) {
        if (error.code !== SNAPSHOT_UNAVAILABLE) throw error;  // one from before the switch
      } finally {
        await session.endSession();
      }
    };
    await whileMoving(collection, [
      snapshot,
      async () => assert.equal(await collection.countDocuments({}), 10_000),
      async () => assert.equal(await collection.estimatedDocumentCount(), 10_000),
      async () => assert.equal(await collection.countDocuments({ k: 7 }), ids.filter((i) => i % 97 === 7).length),
      async () => assert.deepEqual((await collection.distinct('_id')).sort(byNumber), ids),
      async () => assert.deepEqual((await collection.find().sort({ _id: 1 }).project({ _id: 1 }).toArray()).map(({ _id }) => _id), ids),
      async () => {
        const groups = await collection.aggregate([{ $group: { _id: '$k', n: { $sum: 1 } } }]).toArray();
        assert.deepEqual(groups.sort((a, b) => a._id - b._id), range(97).map((k) => ({ _id: k, n: ids.filter((i) => i % 97 === k).length })));
      },
    ]);
    await exact(collection, 10_000);
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

  it('a logical partition stays whole under writes, unsharded collections leave too', async () => {
    const [one, plain] = [await cluster.sharded({ k: 'hashed' }), cluster.collection()];
    const placeOf = async (k) => (await one.find({ k }).explain()).queryPlanner.winningPlan.shards[0].shardName;
    let k = 0;
    while (await placeOf(k) !== `shard${LEAVING}`) ++k;
    await one.insertMany(range(50_000).map((i) => ({ _id: i, k })));
    await plain.insertMany(range(100).map((i) => ({ _id: i })));
    await cluster.admin({ moveCollection: plain.namespace, toShard: `shard${LEAVING}` });
    const load = await new MoveLoad(cluster.server.uri, one.namespace, { place: () => k }).start();
    await load.progress(200);
    const whole = async () => assert.equal(Object.values(await countsOf(one)).filter((count) => count > 0).length, 1);
    await setDraining(cluster.client, LEAVING, true);
    await until('everything gone', async () => {
      await whole();
      return (await cluster.admin({ shardDrainingStatus: `shard${LEAVING}` })).state !== 'ongoing';
    });
    assert.notEqual(await placeOf(k), `shard${LEAVING}`);
    assert.equal(await plain.countDocuments(), 100);
    await load.progress(200);
    await load.finish();
    await exact(one, 50_000);
    await one.deleteMany({ _id: { $type: 'number', $gte: 5000 } });
    await move(cluster.client, LEAVING, false);
    await whole();
    await exact(one, 5000);
  });

  it('changes of a collection do not wait for the balancer', async () => {
    const collections = [];
    for (let i = 0; i < 4; ++i) collections.push(await filled(await cluster.sharded(), 20_000));
    const [indexed, dropped, renamed, resharded] = collections;
    const { _id: older } = await newestRanges(cluster.client);
    const rangesOf = async (ns) => (await cluster.client.db('config').collection('catalog').findOne({ _id: ns }))?.assignment;
    const hasMoved = (ns) => cluster.server.stderr.split('\n').some((line) => line.includes(`a move has ended kind=balancing ns=${ns} `) && line.includes('outcome=OK'));
    // Its move had begun, and did not end before the command did.
    const givesWay = async (collection, command, ns = collection.namespace) => {
      await until(`a move of ${collection.namespace}`, () => isMoving(cluster.client, collection.namespace));
      assert.ok(!hasMoved(collection.namespace));
      await command();
      assert.ok(!hasMoved(collection.namespace));
      assert.equal(await rangesOf(ns), ns ? older : undefined);
    };
    await slowly(100_000);
    await setDraining(cluster.client, LEAVING, true);
    await givesWay(indexed, () => indexed.createIndex({ k: 1 }));
    await givesWay(dropped, () => dropped.drop(), null);
    await givesWay(renamed, () => renamed.rename(`${renamed.collectionName}_renamed`), `${renamed.namespace}_renamed`);
    // What the move has brought in vain is removed while the collection is copied: the copy must not take that for removals.
    await until(`a move of ${resharded.namespace}`, () => isMoving(cluster.client, resharded.namespace));
    await slowly(2_000_000);
    let done = false;
    const cleaning = (async () => { while (!done) await cluster.admin({ cleanupOrphaned: resharded.namespace }).catch(() => {}); })();
    await cluster.admin({ reshardCollection: resharded.namespace, key: { k: 'hashed' } });
    done = true;
    await cleaning;
    await slowly(0);
    await until('all moved', () => isBalanced(cluster.client, LEAVING, false));
    await exact(indexed, 20_000);
    await exact(resharded, 20_000);
    await exact(cluster.db.collection(`${renamed.collectionName}_renamed`), 20_000);
    await move(cluster.client, LEAVING, false);
    await exact(indexed, 20_000);
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
