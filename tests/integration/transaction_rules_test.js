// What a transaction may not do, whose its cursors are, and how its ends answer when they come at the wrong time.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { Long, UUID } = require('mongodb');
const { useCluster, range } = require('../lib/cluster.js');
const { Wire } = require('../lib/wire.js');

const NOT_SUPPORTED = 263, TOO_OLD = 225, COMMITTED = 256, NO_SUCH = 251, NOT_FOUND = 43;

describe('rules of transactions', () => {
  const cluster = useCluster();

  // A session of our own, so that every field is ours.
  async function newSession() {
    const wire = await Wire.connect(cluster.server.port);
    const lsid = { id: new UUID() };
    let number = 0;
    const session = {
      // A command outside transactions.
      run: (command) => wire.command({ ...command, lsid, $db: command.$db ?? 'test' }),
      begin: (command, n = ++number) => { number = n; return session.go({ ...command, startTransaction: true }, n); },
      // The next statement.
      go: (command, n = number) => wire.command({ ...command, lsid, txnNumber: Long.fromNumber(n), autocommit: false, $db: command.$db ?? 'test' }),
      end: (name, more = {}) => session.go({ [name]: 1, $db: 'admin', ...more }),
      close: () => wire.close(),
    };
    return session;
  }
  const code = (reply) => reply.code ?? reply.writeErrors?.[0].code ?? 0;

  for (const kind of ['unsharded', 'sharded']) {
    it(`${kind}: a cursor belongs to its transaction`, async () => {
      const c = kind === 'sharded' ? await cluster.sharded() : cluster.collection();
      await c.insertMany(range(30).map((i) => ({ _id: i })));
      const session = await newSession(), other = await newSession();
      const find = { find: c.collectionName, batchSize: 2 };
      const getMore = (reply) => ({ getMore: Long.fromValue(reply.cursor.id), collection: c.collectionName, batchSize: 2 });
      const outside = await session.run(find);
      const inside = await session.begin(find);
      assert.equal(code(await session.run(getMore(inside))), 50740);
      assert.equal(code(await other.run(getMore(inside))), 50738);
      assert.equal(code(await other.begin(getMore(inside))), 50738);
      assert.equal((await session.go(getMore(inside))).cursor.nextBatch.length, 2);
      // Aggregations have cursors too.
      const rows = await session.go({ aggregate: c.collectionName, pipeline: [{ $match: { _id: { $gte: 0 } } }], cursor: { batchSize: 1 } });
      assert.equal(code(await session.run(getMore(rows))), 50740);
      assert.equal((await session.go(getMore(rows))).cursor.nextBatch.length, 2);
      const open = async () => (await cluster.admin({ serverStatus: 1 })).metrics.cursor.open.total;
      const before = Number(await open());
      assert.equal(code(await session.end('commitTransaction')), 0);
      assert.equal(Number(await open()), before - 2);
      for (const run of [session.run, session.go, session.begin]) assert.notEqual(code(await run(getMore(inside))), 0);
      assert.equal(code(await session.run(getMore(inside))), NOT_FOUND);
      // Nor does a transaction take one from outside; the attempt ends it.
      assert.equal(code(await session.begin(find)), 0);
      assert.equal(code(await session.go(getMore(outside))), 50739);
      assert.equal(code(await session.go(find)), NO_SUCH);
      assert.equal((await session.run(getMore(outside))).cursor.nextBatch.length, 2);
      // Every end closes them: an abort, an error, the next transaction, the end of the session.
      for (const end of [() => session.end('abortTransaction'), () => session.go({ find: c.collectionName, filter: { $bad: 1 } }),
        () => session.begin({ find: c.collectionName }), () => cluster.admin({ killAllSessions: [] })]) {
        const cursor = await session.begin(find);
        assert.equal(code(cursor), 0);
        await end();
        assert.equal(code(await session.run(getMore(cursor))), NOT_FOUND, String(end));
      }
      session.close();
      other.close();
    });
  }

  it('the results of bulkWrite have a cursor of the transaction', async () => {
    const c = await cluster.sharded();
    const session = await newSession();
    const ops = range(5).map((i) => ({ insert: 0, document: { _id: i } }));
    const { cursor } = await session.begin({ bulkWrite: 1, ops, nsInfo: [{ ns: c.namespace }], cursor: { batchSize: 2 }, $db: 'admin' });
    assert.equal(cursor.firstBatch.length, 2);
    const getMore = { getMore: Long.fromValue(cursor.id), collection: '$cmd.bulkWrite', $db: 'admin' };
    assert.equal(code(await session.run(getMore)), 50740);
    assert.equal((await session.go(getMore)).cursor.nextBatch.length, 3);
    assert.equal(code(await session.end('commitTransaction')), 0);
    assert.equal(await c.countDocuments(), 5);
    session.close();
  });

  it('killCursors works within a transaction, but does not begin one', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(30).map((i) => ({ _id: i })));
    const session = await newSession();
    const { cursor } = await session.begin({ find: c.collectionName, batchSize: 2 });
    assert.equal((await session.go({ killCursors: c.collectionName, cursors: [Long.fromValue(cursor.id)] })).cursorsKilled.length, 1);
    assert.equal(code(await session.begin({ killCursors: c.collectionName, cursors: [Long.fromValue(cursor.id)] })), NOT_SUPPORTED);
    session.close();
  });

  it('commands and stages that are refused', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(3).map((i) => ({ _id: i })));
    const name = c.collectionName;
    const aggregate = (...pipeline) => ({ aggregate: name, pipeline, cursor: {} });
    const database = (stage, $db = 'admin') => ({ aggregate: 1, pipeline: [stage], cursor: {}, $db });
    const refused = [
      { count: name }, { listCollections: 1 }, { listIndexes: name }, { explain: { find: name } }, { drop: name }, { dropIndexes: name, index: '*' },
      { dropDatabase: 1 }, { collStats: name }, { dbStats: 1 }, { validate: name }, { dataSize: `test.${name}` },
      { listDatabases: 1, $db: 'admin' }, { renameCollection: `test.${name}`, to: 'test.x', $db: 'admin' }, { currentOp: 1, $db: 'admin' },
      { shardCollection: 'test.y', key: { _id: 'hashed' }, $db: 'admin' }, { killOp: 1, op: 1, $db: 'admin' }, { serverStatus: 1 },
      { create: 'some_view', viewOn: name, pipeline: [] },
      { createIndexes: name, indexes: [{ key: { a: 1 }, name: 'a_1' }] },
      { ...aggregate({ $match: {} }), explain: true },
      aggregate({ $collStats: { count: {} } }), aggregate({ $indexStats: {} }), aggregate({ $planCacheStats: {} }), aggregate({ $out: 'x' }), aggregate({ $merge: 'x' }),
      aggregate({ $unionWith: { coll: name, pipeline: [{ $collStats: { count: {} } }] } }),
      aggregate({ $lookup: { from: name, pipeline: [{ $indexStats: {} }], as: 'x' } }),
      aggregate({ $facet: { x: [{ $merge: 'x' }] } }),
      database({ $currentOp: {} }), database({ $listLocalSessions: {} }), database({ $listSessions: {} }, 'config'),
      database({ $listLocalSessions: {} }, 'test'),
      { find: 'shards', $db: 'config' }, { find: 'x', $db: 'admin' }, { distinct: 'x', key: 'a', $db: 'local' },
      { insert: 'settings', documents: [{}], $db: 'config' }, { update: 'x', updates: [{ q: {}, u: { a: 1 } }], $db: 'admin' },
      { delete: 'x', deletes: [{ q: {}, limit: 1 }], $db: 'local' }, { findAndModify: 'x', query: {}, remove: true, $db: 'admin' },
      { insert: 'system.x', documents: [{}] }, { delete: 'system.x', deletes: [{ q: {}, limit: 1 }] },
      { bulkWrite: 1, ops: [{ insert: 0, document: {} }], nsInfo: [{ ns: 'config.settings' }], $db: 'admin' },
    ];
    const session = await newSession();
    for (const command of refused) {
      assert.equal(code(await session.begin({ find: name })), 0);
      const reply = await session.go(command);
      assert.equal(code(reply), NOT_SUPPORTED, `${JSON.stringify(command)}: ${JSON.stringify(reply)}`);
    }
    for (const command of [{ commitTransaction: 1, $db: 'admin' }, { abortTransaction: 1, $db: 'admin' }]) {
      assert.equal(code(await session.begin(command)), NOT_SUPPORTED, JSON.stringify(command));
    }
    const allowed = [
      { find: name }, { distinct: name, key: '_id' }, aggregate({ $group: { _id: null, n: { $sum: 1 } } }), aggregate({ $unionWith: name }),
      aggregate({ $lookup: { from: name, localField: '_id', foreignField: '_id', as: 'x' } }), aggregate({ $facet: { x: [{ $match: {} }] } }),
      { insert: name, documents: [{ _id: 9 }] }, { update: name, updates: [{ q: { _id: 9 }, u: { $set: { x: 1 } } }] },
      { delete: name, deletes: [{ q: { _id: 9 }, limit: 1 }] }, { findAndModify: name, query: { _id: 1 }, update: { $set: { x: 1 } } },
      { hello: 1, $db: 'admin' }, { ping: 1 }, { buildInfo: 1, $db: 'admin' }, { connectionStatus: 1 },
      { createIndexes: name, indexes: [{ key: { _id: 1 }, name: '_id_' }] },
    ];
    assert.equal(code(await session.begin({ find: name })), 0);
    for (const command of allowed) assert.equal((await session.go(command)).ok, 1, JSON.stringify(command));
    assert.equal(code(await session.end('commitTransaction')), 0);
    session.close();
  });

  it('indexes come with collections of the transaction while these are empty', async () => {
    const session = await newSession();
    const indexes = [{ key: { a: 1 }, name: 'a_1' }];
    const names = range(3).map(() => cluster.collection().collectionName);
    assert.equal(code(await session.begin({ create: names[0] })), 0);
    assert.equal(code(await session.go({ createIndexes: names[0], indexes })), 0);
    assert.equal(code(await session.go({ createIndexes: names[1], indexes })), 0);
    assert.equal(code(await session.go({ createIndexes: names[1], indexes: [{ key: { b: 1 }, name: 'b_1' }] })), 0);
    assert.equal(code(await session.go({ insert: names[1], documents: [{ _id: 1, a: 1 }] })), 0);
    // What is there already is no change.
    assert.equal((await session.go({ createIndexes: names[1], indexes })).note, 'all indexes already exist');
    assert.equal(code(await session.end('commitTransaction')), 0);
    assert.equal(await cluster.db.collection(names[1]).countDocuments({ a: 1 }), 1);
    assert.equal(code(await session.begin({ insert: names[2], documents: [{ a: 1 }] })), 0);
    assert.equal(code(await session.go({ createIndexes: names[2], indexes })), NOT_SUPPORTED);
    session.close();
  });

  it('ends that come twice, too late or to the wrong router say what has become of it', async () => {
    const c = await cluster.sharded();
    const session = await newSession();
    const insert = (from) => ({ insert: c.collectionName, documents: range(6).map((i) => ({ _id: from + i })) });
    await session.begin(insert(0));
    assert.equal(code(await session.end('commitTransaction')), 0);
    assert.equal(code(await session.end('commitTransaction')), 0);
    assert.equal(code(await session.end('abortTransaction')), COMMITTED);
    assert.equal(code(await session.go({ find: c.collectionName })), COMMITTED);
    const { recoveryToken } = await session.begin(insert(10));
    assert.equal(code(await session.end('abortTransaction')), 0);
    assert.equal(code(await session.end('abortTransaction')), NO_SUCH);
    assert.equal(code(await session.end('commitTransaction')), NO_SUCH);
    assert.equal(code(await session.go({ commitTransaction: 1, $db: 'admin' }, 1)), TOO_OLD);
    assert.equal(code(await session.end('abortTransaction', { recoveryToken })), NO_SUCH);
    // A read-only one.
    await session.begin({ find: c.collectionName });
    assert.equal(code(await session.end('commitTransaction')), 0);
    assert.equal(code(await session.end('abortTransaction')), COMMITTED);
    assert.equal(await c.countDocuments(), 6);
    session.close();
  });

  it('an upsert that waits for a key does not keep others of its collection', async () => {
    for (const kind of ['unsharded', 'sharded']) {
      const c = kind === 'sharded' ? await cluster.sharded() : cluster.collection();
      if (kind === 'unsharded') await c.createIndex({ email: 1 }, { unique: true });
      const session = cluster.client.startSession();
      session.startTransaction();
      await c.insertOne({ _id: 1, email: 'a' }, { session });
      let waits = true;
      const waiting = c.updateOne({ email: 'a' }, { $set: { x: 1 }, $setOnInsert: { _id: 1 } }, { upsert: true }).finally(() => { waits = false; });
      // Others go on, whether they look for the same or not; so does the transaction itself.
      assert.equal((await c.updateOne({ email: 'b' }, { $set: { x: 1 } }, { upsert: true })).upsertedCount, 1);
      assert.equal((await c.updateOne({ email: 'c' }, { $set: { x: 1 } }, { upsert: true, session })).upsertedCount, 1);
      assert.equal((await c.findOneAndUpdate({ email: 'd' }, { $set: { x: 1 } }, { upsert: true, returnDocument: 'after' })).email, 'd');
      assert.ok(waits, 'the key is held');
      await session.commitTransaction();
      const done = await waiting;
      assert.deepEqual([done.matchedCount, done.upsertedCount], [1, 0]);
      assert.equal(await c.countDocuments(), 4);
      await session.endSession();
    }
  });

  it('upserts at the same time insert once', async () => {
    for (const kind of ['unsharded', 'sharded', 'sharded by k']) {
      const c = kind === 'unsharded' ? cluster.collection() : await cluster.sharded(kind === 'sharded' ? { _id: 'hashed' } : { k: 'hashed' });
      await Promise.all(range(24).map((i) => c.updateOne({ name: `n${i % 3}` }, { $inc: { n: 1 }, $setOnInsert: { k: i } }, { upsert: true })));
      const found = await c.find().sort({ name: 1 }).toArray();
      assert.deepEqual(found.map((d) => [d.name, d.n]), [['n0', 8], ['n1', 8], ['n2', 8]]);
      // By _id, where the shard key is another one.
      await Promise.all(range(12).map((i) => c.updateOne({ _id: 'x' }, { $inc: { n: 1 }, $setOnInsert: { k: 100 + i } }, { upsert: true })));
      assert.deepEqual((await c.find({ _id: 'x' }).toArray()).map((d) => d.n), [12]);
    }
  });
});
