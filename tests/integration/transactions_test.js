// Transactions over three shards: atomic, one snapshot, first writer wins, errors that drivers retry.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { Timestamp } = require('mongodb');
const { useCluster, errorOf } = require('../lib/cluster.js');

function range(from, to) { return to === undefined ? range(0, from) : Array.from({ length: to - from }, (_, i) => from + i); }

const TRANSIENT = 'TransientTransactionError';

describe('transactions', () => {
  const cluster = useCluster();
  const make = { unsharded: () => cluster.collection(), sharded: () => cluster.sharded(), 'sharded by k': () => cluster.sharded({ k: 'hashed' }) };

  // Runs `body` with a session in a transaction that the caller ends.
  async function begun(options = {}) {
    const session = cluster.client.startSession(options.session);
    session.startTransaction(options.transaction);
    return session;
  }

  for (const kind of Object.keys(make)) {
    describe(kind, () => {
      it('shows its writes to itself, to others after the commit', async () => {
        const c = await make[kind]();
        await c.insertMany(range(10).map((i) => ({ _id: i, k: i, n: 0 })));
        const session = await begun();
        await c.insertMany(range(10, 20).map((i) => ({ _id: i, k: i, n: 1 })), { session });
        await c.updateMany({ n: 0 }, { $inc: { n: 5 } }, { session });
        await c.deleteOne({ _id: 3, k: 3 }, { session });
        await c.updateOne({ _id: 12 }, { $set: { n: 7 } }, { session });
        const ids = (await c.find({}, { session, sort: { _id: 1 } }).toArray()).map((d) => d._id);
        assert.deepEqual(ids, range(20).filter((i) => i !== 3));
        assert.equal((await c.findOne({ _id: 12 }, { session })).n, 7);
        assert.deepEqual((await c.distinct('n', {}, { session })).sort(), [1, 5, 7]);
        const [{ sum }] = await c.aggregate([{ $group: { _id: null, sum: { $sum: '$n' } } }], { session }).toArray();
        assert.equal(sum, 9 * 5 + 9 + 7);
        assert.equal(await c.countDocuments(), 10);
        assert.equal((await c.find({ n: 0 }).toArray()).length, 10);
        await session.commitTransaction();
        await session.endSession();
        assert.equal(await c.countDocuments(), 19);
        assert.equal(await c.estimatedDocumentCount(), 19);
        assert.equal(await c.countDocuments({ n: 5 }), 9);
        assert.ok((await cluster.db.command({ validate: c.collectionName })).valid);
      });

      it('leaves nothing behind when it is aborted', async () => {
        const c = await make[kind]();
        await c.insertOne({ _id: 1, k: 1, n: 0 });
        const session = await begun();
        await c.updateOne({ _id: 1, k: 1 }, { $set: { n: 1 } }, { session });
        await c.insertMany(range(100, 130).map((i) => ({ _id: i, k: i })), { session });
        await session.abortTransaction();
        assert.deepEqual(await c.find().toArray(), [{ _id: 1, k: 1, n: 0 }]);
        assert.equal(await c.estimatedDocumentCount(), 1);
        // Its keys are free.
        await c.updateOne({ _id: 1, k: 1 }, { $set: { n: 2 } });
        await c.insertOne({ _id: 100, k: 100 });
        assert.ok((await cluster.db.command({ validate: c.collectionName })).valid);
      });

      it('reads one snapshot', async () => {
        const c = await make[kind]();
        await c.insertMany(range(30).map((i) => ({ _id: i, k: i, n: 0 })));
        const session = await begun();
        assert.equal((await c.find({}, { session }).toArray()).length, 30);
        await c.updateMany({}, { $inc: { n: 1 } });
        await c.insertOne({ _id: 99, k: 99, n: 0 });
        await c.deleteOne({ _id: 5, k: 5 });
        const seen = await c.find({}, { session, batchSize: 7, sort: { _id: 1 } }).toArray();
        assert.deepEqual(seen, range(30).map((i) => ({ _id: i, k: i, n: 0 })));
        await session.commitTransaction();
        assert.equal(await c.countDocuments({ n: 1 }), 29);
      });

      it('lets the first writer win', async () => {
        const c = await make[kind]();
        await c.insertOne({ _id: 1, k: 1, n: 0 });
        const first = await begun(), second = await begun();
        await c.updateOne({ _id: 1, k: 1 }, { $inc: { n: 1 } }, { session: first });
        const error = await errorOf(c.updateOne({ _id: 1, k: 1 }, { $inc: { n: 1 } }, { session: second }));
        assert.equal(error.code, 112);
        assert.ok(error.hasErrorLabel(TRANSIENT));
        await first.commitTransaction();
        const ended = await errorOf(second.commitTransaction());
        assert.equal(ended.code, 251);
        await second.endSession();
        // A version newer than the snapshot conflicts too.
        const late = await begun();
        await c.findOne({ _id: 1 }, { session: late });
        await c.updateOne({ _id: 1, k: 1 }, { $inc: { n: 1 } });
        assert.equal((await errorOf(c.deleteOne({ _id: 1, k: 1 }, { session: late }))).code, 112);
        await late.abortTransaction();
        assert.equal((await c.findOne({ _id: 1 })).n, 2);
      });

      it('makes plain writes wait', async () => {
        const c = await make[kind]();
        await c.insertOne({ _id: 1, k: 1, n: 0 });
        const session = await begun();
        await c.updateOne({ _id: 1, k: 1 }, { $inc: { n: 1 } }, { session });
        await c.insertOne({ _id: 2, k: 2 }, { session });
        const update = c.updateOne({ _id: 1, k: 1 }, { $inc: { n: 10 } });
        const insert = errorOf(c.insertOne({ _id: 2, k: 2 }));
        const timed = await errorOf(cluster.db.command({ update: c.collectionName, updates: [{ q: { _id: 1, k: 1 }, u: { $inc: { n: 100 } } }], maxTimeMS: 50 }));
        assert.equal(timed.code, 50);
        assert.equal(await Promise.race([update, 'waits']), 'waits');
        await session.commitTransaction();
        assert.equal((await update).modifiedCount, 1);
        assert.equal((await insert).code, 11000);
        assert.equal((await c.findOne({ _id: 1 })).n, 11);
      });
    });
  }

  it('keeps unique values apart', async () => {
    const c = await cluster.collection();
    await c.createIndex({ u: 1 }, { unique: true });
    await c.insertOne({ _id: 1, u: 'a' });
    const first = await begun(), second = await begun();
    await c.insertOne({ _id: 2, u: 'b' }, { session: first });
    assert.equal((await errorOf(c.insertOne({ _id: 3, u: 'b' }, { session: second }))).code, 112);
    await second.abortTransaction();
    const duplicate = await errorOf(c.insertOne({ _id: 4, u: 'a' }, { session: first }));
    assert.equal(duplicate.code, 11000);
    assert.equal((await errorOf(c.findOne({}, { session: first }))).code, 251);
    await first.abortTransaction();
    // A value that a transaction gives up is not free before it commits.
    const third = await begun();
    await c.updateOne({ _id: 1 }, { $set: { u: 'z' } }, { session: third });
    const waiting = c.insertOne({ _id: 5, u: 'a' });
    assert.equal(await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))]), 'waits');
    await third.commitTransaction();
    await waiting;
    assert.deepEqual((await c.find({}, { sort: { _id: 1 } }).toArray()), [{ _id: 1, u: 'z' }, { _id: 5, u: 'a' }]);
  });

  it('uses indexes over its own writes', async () => {
    const c = await cluster.sharded();
    await c.createIndex({ a: 1 });
    await c.insertMany(range(50).map((i) => ({ _id: i, a: i % 10 })));
    const session = await begun();
    await c.updateMany({ a: 3 }, { $set: { a: 4 } }, { session });
    await c.insertOne({ _id: 'x', a: [4, 5] }, { session });
    await c.deleteMany({ a: 5 }, { session });
    assert.equal((await c.find({ a: 4 }, { session, hint: 'a_1' }).toArray()).length, 10);
    assert.equal((await c.find({ a: { $gte: 3, $lte: 5 } }, { session, hint: 'a_1' }).toArray()).length, 10);
    assert.equal((await c.find({ a: 3 }, { session, hint: 'a_1' }).toArray()).length, 0);
    assert.equal((await c.find({ a: 3 }, { hint: 'a_1' }).toArray()).length, 5);
    const sorted = await c.find({ a: { $lt: 6 } }, { session, hint: 'a_1', sort: { a: -1 } }).toArray();
    assert.deepEqual(sorted.map((d) => d.a), [...Array(10).fill(4), ...Array(5).fill(2), ...Array(5).fill(1), ...Array(5).fill(0)]);
    await session.commitTransaction();
    assert.ok((await cluster.db.command({ validate: c.collectionName })).valid);
  });

  describe('a change of the shard key', () => {
    const moved = async (c) => (await c.find({}, { sort: { _id: 1 } }).toArray()).map((d) => d.k);

    it('moves the document', async () => {
      const c = await cluster.sharded({ k: 'hashed' });
      await c.insertMany(range(40).map((i) => ({ _id: i, k: i })));
      for (const i of range(10)) assert.equal((await c.updateOne({ _id: i, k: i }, { $set: { k: i + 100 } })).modifiedCount, 1);
      for (const i of range(10, 20)) assert.equal((await c.updateOne({ _id: i }, { $inc: { k: 100 } })).modifiedCount, 1);
      for (const i of range(20, 30)) {
        const after = await c.findOneAndUpdate({ k: i }, { $inc: { k: 100 } }, { returnDocument: 'after' });
        assert.deepEqual(after, { _id: i, k: i + 100 });
      }
      const bulk = await c.bulkWrite(range(30, 40).map((i) => ({ replaceOne: { filter: { _id: i, k: i }, replacement: { k: i + 100 } } })));
      assert.equal(bulk.modifiedCount, 10);
      assert.deepEqual(await moved(c), range(40).map((i) => i + 100));
      for (const i of range(40)) assert.equal((await c.find({ k: i + 100 }).toArray()).length, 1);
      assert.equal(await c.estimatedDocumentCount(), 40);
      assert.ok((await cluster.db.command({ validate: c.collectionName })).valid);
    });

    it('is a part of a transaction', async () => {
      const c = await cluster.sharded({ k: 'hashed' });
      await c.insertMany(range(20).map((i) => ({ _id: i, k: i })));
      for (const commits of [false, true]) {
        const session = await begun();
        for (const i of range(20)) await c.updateOne({ k: i }, { $inc: { k: 100 } }, { session });
        assert.equal((await c.find({ k: { $gte: 100 } }, { session }).toArray()).length, 20);
        await (commits ? session.commitTransaction() : session.abortTransaction());
        assert.deepEqual(await moved(c), range(20).map((i) => (commits ? i + 100 : i)));
      }
      assert.equal(await c.estimatedDocumentCount(), 20);
    });

    it('is refused for several documents at once', async () => {
      const c = await cluster.sharded({ k: 'hashed' });
      await c.insertMany(range(20).map((i) => ({ _id: i, k: i })));
      assert.equal((await errorOf(c.updateMany({}, { $inc: { k: 100 } }))).code, 72);
    });

    it('gives way to nobody: each document moves once', async () => {
      const c = await cluster.sharded({ k: 'hashed' });
      await c.insertOne({ _id: 1, k: 0 });
      await Promise.all(range(12).map(() => c.updateOne({ _id: 1 }, { $inc: { k: 1 } })));
      assert.deepEqual(await c.find().toArray(), [{ _id: 1, k: 12 }]);
    });
  });

  it('reads at a snapshot outside transactions', async () => {
    const c = await cluster.sharded();
    await c.insertMany(range(60).map((i) => ({ _id: i, n: 0 })));
    const session = cluster.client.startSession({ snapshot: true });
    const cursor = c.find({}, { session, batchSize: 10 });
    assert.equal((await cursor.next()).n, 0);
    await c.updateMany({}, { $set: { n: 1 } });
    await c.deleteMany({ _id: { $gte: 50 } });
    const rest = await cursor.toArray();
    assert.equal(rest.length, 59);
    assert.ok(rest.every((d) => d.n === 0));
    const [{ sum, count }] = await c.aggregate([{ $group: { _id: null, sum: { $sum: '$n' }, count: { $sum: 1 } } }], { session }).toArray();
    assert.deepEqual([sum, count], [0, 60]);
    assert.deepEqual(await c.distinct('n', {}, { session }), [0]);
    await session.endSession();
    assert.deepEqual(await c.distinct('n'), [1]);
    const early = await errorOf(cluster.db.command({ find: c.collectionName, readConcern: { level: 'snapshot', atClusterTime: new Timestamp({ t: 1, i: 1 }) } }));
    assert.equal(early.code, 246);
  });

  it('creates collections', async () => {
    const session = await begun();
    const implicit = cluster.collection(), explicit = cluster.collection(), upserted = cluster.collection();
    await implicit.insertOne({ _id: 1 }, { session });
    await cluster.db.createCollection(explicit.collectionName, { session });
    await explicit.insertMany([{ _id: 1 }, { _id: 2 }], { session });
    await upserted.findOneAndUpdate({ _id: 5 }, { $set: { a: 1 } }, { session, upsert: true });
    assert.deepEqual(await implicit.find({}, { session }).toArray(), [{ _id: 1 }]);
    assert.equal(await explicit.countDocuments({}), 0);
    await session.commitTransaction();
    assert.equal(await explicit.countDocuments({}), 2);
    assert.equal(await upserted.countDocuments({}), 1);
  });

  it('takes bulkWrite and lookups', async () => {
    const a = await cluster.sharded(), b = await cluster.sharded();
    await a.insertMany(range(10).map((i) => ({ _id: i, n: 0 })));
    await b.insertMany(range(10).map((i) => ({ _id: i, of: i })));
    const bulk = (session) => cluster.client.bulkWrite([
      { namespace: a.namespace, name: 'insertOne', document: { _id: 20, n: 1 } },
      { namespace: a.namespace, name: 'updateMany', filter: {}, update: { $inc: { n: 1 } } },
      { namespace: b.namespace, name: 'deleteOne', filter: { _id: 3 } },
    ], { session });
    const aborted = await begun();
    await bulk(aborted);
    const joined = await a.aggregate([{ $lookup: { from: b.collectionName, localField: '_id', foreignField: 'of', as: 'b' } }, { $match: { b: { $ne: [] } } }], { session: aborted }).toArray();
    assert.equal(joined.length, 9);
    await aborted.abortTransaction();
    assert.equal(await a.countDocuments({ n: 0 }), 10);
    assert.equal(await b.countDocuments(), 10);
    const session = await begun();
    await bulk(session);
    await session.commitTransaction();
    assert.equal(await a.countDocuments({ n: 1 }), 10);
    assert.equal(await b.countDocuments(), 9);
    // A conflict inside is the command's error.
    const first = await begun(), second = await begun();
    await a.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session: first });
    const error = await errorOf(cluster.client.bulkWrite([{ namespace: a.namespace, name: 'updateOne', filter: { _id: 1 }, update: { $inc: { n: 1 } } }], { session: second }));
    assert.ok((error.cause ?? error).hasErrorLabel(TRANSIENT), String(error.cause ?? error));
    await first.abortTransaction();
  });

  it('refuses stages that write', async () => {
    const c = await cluster.collection();
    await c.insertOne({ _id: 1 });
    for (const stage of [{ $out: 'x' }, { $merge: 'x' }]) {
      const session = await begun();
      assert.equal((await errorOf(c.aggregate([stage], { session }).toArray())).code, 263);
      await session.abortTransaction();
    }
  });

  it('moves money', async () => {
    const c = await cluster.sharded();
    const accounts = 24, total = accounts * 100;
    await c.insertMany(range(accounts).map((i) => ({ _id: i, n: 100 })));
    const ends = Date.now() + 4000;
    let transfers = 0, reads = 0;
    const mover = async (seed) => {
      await cluster.client.withSession(async (session) => {
        for (let i = seed; Date.now() < ends; i += 7) {
          const from = i % accounts, to = (i * 5 + 1) % accounts;
          if (from === to) continue;
          await session.withTransaction(async () => {
            const { n } = await c.findOne({ _id: from }, { session });
            await c.updateOne({ _id: from }, { $set: { n: n - 1 } }, { session });
            await c.updateOne({ _id: to }, { $inc: { n: 1 } }, { session });
          });
          transfers += 1;
        }
      });
    };
    const reader = async () => {
      await cluster.client.withSession(async (session) => {
        while (Date.now() < ends) {
          const sum = await session.withTransaction(async () => {
            const [row] = await c.aggregate([{ $group: { _id: null, n: { $sum: '$n' } } }], { session }).toArray();
            return row.n;
          });
          assert.equal(sum, total);
          reads += 1;
        }
      });
    };
    await Promise.all([...range(6).map(mover), reader(), reader()]);
    assert.ok(transfers > 0 && reads > 0);
    const [{ n }] = await c.aggregate([{ $group: { _id: null, n: { $sum: '$n' } } }]).toArray();
    assert.equal(n, total);
    assert.ok((await cluster.db.command({ validate: c.collectionName })).valid);
  });

  it('answers as MongoDB where it cannot', async () => {
    const c = await cluster.sharded();
    await c.insertOne({ _id: 1 });
    const lsid = cluster.client.startSession().id;
    const run = (command) => cluster.db.command(command).then(() => 0, (error) => error.code);
    const session = await begun();
    assert.equal((await errorOf(cluster.db.command({ count: c.collectionName }, { session }))).code, 263);
    await session.abortTransaction();
    assert.ok(lsid);
    assert.equal(await run({ find: c.collectionName, autocommit: false }), 72);
    const again = await begun({ transaction: { readConcern: { level: 'snapshot' } } });
    await c.findOne({}, { session: again });
    await again.commitTransaction();
    await again.commitTransaction();
    const linearizable = await begun({ transaction: { readConcern: { level: 'linearizable' } } });
    assert.equal((await errorOf(c.findOne({}, { session: linearizable }))).code, 72);
    await linearizable.abortTransaction();
  });
});
