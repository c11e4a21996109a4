// The Node driver, any major: the checks of tests/drivers/run.py. EVENKEEL_PACKAGE is the package.json beside the modules to use.
'use strict';

const assert = require('node:assert/strict');
const load = require('node:module').createRequire(process.env.EVENKEEL_PACKAGE);
const { Binary, BSONRegExp, Decimal128, Double, Int32, Long, MongoClient, ObjectId, Timestamp } = load('mongodb');

const { EVENKEEL_URI, EVENKEEL_PROXY_URI, EVENKEEL_DATABASE, EVENKEEL_COMPRESSORS } = process.env;
const range = (count) => Array.from({ length: count }, (_, i) => i);
let client, db;

async function errorOf(promise) {
  try { await promise; } catch (error) { return error; }
  throw new Error('an error was expected');
}

async function withClient(uri, options, work) {
  const other = new MongoClient(uri, options);
  try { return await work(other.db(EVENKEEL_DATABASE), other); } finally { await other.close(); }
}

const CHECKS = {
  async topology() {
    assert.equal(client.topology.description.type, 'Sharded');
    assert.equal((await db.admin().command({ hello: 1 })).msg, 'isdbgrid');
  },

  async crud() {
    const c = db.collection('crud');
    assert.equal((await c.insertOne({ _id: 1, name: 'Ada', n: 1 })).insertedId, 1);
    const updated = await c.updateOne({ _id: 1 }, { $inc: { n: 1 } });
    assert.deepEqual([updated.matchedCount, updated.modifiedCount], [1, 1]);
    assert.equal((await c.replaceOne({ _id: 1 }, { name: 'Grace', n: 5 })).modifiedCount, 1);
    assert.equal((await c.updateOne({ _id: 2 }, { $set: { n: 7 } }, { upsert: true })).upsertedId, 2);
    const after = await c.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, { returnDocument: 'after', includeResultMetadata: false });
    assert.deepEqual(after.value ?? after, { _id: 1, name: 'Grace', n: 6 });
    assert.equal((await c.deleteOne({ _id: 2 })).deletedCount, 1);
    assert.deepEqual(await c.find().toArray(), [{ _id: 1, name: 'Grace', n: 6 }]);
  },

  async types() {
    const c = db.collection('types');
    const document = {
      _id: new ObjectId(), int: new Int32(7), long: Long.fromString('9007199254740993'), double: new Double(0.5),
      decimal: Decimal128.fromString('1.10'), date: new Date(1700000000123), text: 'žluťoučký 🐎', bytes: new Binary(Buffer.from([0, 255])),
      regex: new BSONRegExp('^a', 'i'), stamp: new Timestamp({ t: 5, i: 6 }), yes: true, nothing: null, list: [1, [2, {}]], object: { a: { b: 'c' } },
    };
    await c.insertOne(document);
    const options = { promoteValues: false, promoteLongs: false, bsonRegExp: true };
    const [found, sent] = [await c.findOne({ _id: document._id }, options), document];
    for (const field of ['int', 'double', 'decimal', 'regex', 'stamp', 'long']) assert.deepEqual(String(found[field]), String(sent[field]), field);
    assert.deepEqual(found.date, document.date);
    assert.deepEqual(Buffer.from(found.bytes.buffer), Buffer.from([0, 255]));
    assert.deepEqual(await c.findOne({}, { projection: { _id: 0, text: 1, yes: 1, nothing: 1, list: 1, object: 1 } }),
      { text: document.text, yes: true, nothing: null, list: [1, [2, {}]], object: { a: { b: 'c' } } });
  },

  async find() {
    const c = db.collection('find');
    await c.insertMany(range(100).map((i) => ({ i, group: i % 7 })));
    const found = await c.find({ i: { $gte: 10, $lt: 30 } }, { projection: { _id: 0, i: 1 } }).sort({ i: -1 }).skip(5).limit(10).toArray();
    assert.deepEqual(found, range(10).map((i) => ({ i: 24 - i })));
    assert.equal(await c.countDocuments({ group: 3 }), 14);
    assert.equal(await c.estimatedDocumentCount(), 100);
    assert.deepEqual((await c.distinct('group')).sort(), range(7));
  },

  async cursor() {
    const c = db.collection('cursor');
    await client.db('admin').command({ shardCollection: c.namespace, key: { _id: 'hashed' } });
    await c.insertMany(range(10_000).map((i) => ({ _id: i, text: 'x'.repeat(100) })));
    assert.deepEqual((await c.find().sort({ _id: 1 }).batchSize(500).toArray()).map((d) => d._id), range(10_000));
    assert.equal((await c.find().batchSize(333).toArray()).length, 10_000);
    const early = c.find().batchSize(2);
    assert.ok(await early.next());
    await early.close();
  },

  async bulk() {
    const c = db.collection('bulk');
    const result = await c.bulkWrite([
      ...range(3).map((i) => ({ insertOne: { document: { _id: i, n: 0 } } })),
      { updateOne: { filter: { _id: 0 }, update: { $inc: { n: 1 } } } },
      { updateMany: { filter: {}, update: { $inc: { n: 1 } } } },
      { replaceOne: { filter: { _id: 9 }, replacement: { n: 9 }, upsert: true } },
      { deleteOne: { filter: { _id: 2 } } },
    ]);
    assert.deepEqual([result.insertedCount, result.modifiedCount, result.upsertedCount, result.deletedCount], [3, 4, 1, 1]);
    const error = await errorOf(c.bulkWrite([0, 4, 1, 5].map((_id) => ({ insertOne: { document: { _id } } })), { ordered: false }));
    assert.deepEqual([].concat(error.writeErrors).map((e) => [e.code, e.index]), [[11000, 0], [11000, 2]]);
    assert.equal(await c.countDocuments(), 5);
  },

  async retry() {
    await withClient(EVENKEEL_PROXY_URI, { retryWrites: true }, async (proxied) => {
      const c = proxied.collection('retry');
      await c.insertOne({ _id: 1, n: 0 });
      assert.equal((await c.updateOne({ _id: 1 }, { $inc: { n: 1 }, $set: { note: 'lose this reply' } })).modifiedCount, 1);
      assert.equal((await c.findOne({ _id: 1 })).n, 1);
    });
  },

  async compression() {
    for (const compressor of EVENKEEL_COMPRESSORS.split(',')) {
      await withClient(EVENKEEL_PROXY_URI, { compressors: [compressor] }, async (proxied) => {
        const c = proxied.collection(`compression_${compressor}`);
        await c.insertMany(range(100).map((i) => ({ _id: i, text: 'compress me '.repeat(100) })));
        assert.equal((await c.find({ text: /^compress/ }).toArray()).length, 100);
      });
    }
  },

  async aggregation() {
    await db.collection('customers').insertMany(range(3).map((i) => ({ _id: i, name: `customer ${i}` })));
    await db.collection('orders').insertMany(range(30).map((i) => ({ customer: i % 3, total: i })));
    const rows = await db.collection('orders').aggregate([
      { $match: { total: { $gte: 3 } } },
      { $group: { _id: '$customer', total: { $sum: '$total' }, count: { $sum: 1 } } },
      { $lookup: { from: 'customers', localField: '_id', foreignField: '_id', as: 'customer' } },
      { $project: { _id: 0, name: { $first: '$customer.name' }, total: 1, count: 1 } },
      { $sort: { name: 1 } },
    ]).toArray();
    assert.deepEqual(rows.map((row) => [row.name, row.total, row.count]), [['customer 0', 135, 9], ['customer 1', 144, 9], ['customer 2', 153, 9]]);
  },

  async indexes() {
    const c = db.collection('indexes');
    assert.equal(await c.createIndex({ a: 1 }, { unique: true, name: 'by_a' }), 'by_a');
    assert.deepEqual((await c.listIndexes().toArray()).map((index) => index.name), ['_id_', 'by_a']);
    await c.insertOne({ a: 1 });
    assert.equal((await errorOf(c.insertOne({ a: 1 }))).code, 11000);
    await c.dropIndex('by_a');
    assert.deepEqual((await c.listIndexes().toArray()).map((index) => index.name), ['_id_']);
  },

  async errors() {
    const c = db.collection('errors');
    await c.insertOne({ _id: 1 });
    const duplicate = await errorOf(c.insertOne({ _id: 1 }));
    assert.deepEqual([duplicate.code, duplicate.writeErrors?.[0]?.index ?? duplicate.index ?? 0], [11000, 0]);
    assert.equal((await errorOf(c.find({ $nonsense: 1 }).toArray())).code, 2);
    assert.equal((await errorOf(db.command({ nonsense: 1 }))).code, 59);
    assert.equal((await errorOf(c.updateOne({ _id: 1 }, { $set: { _id: 2 } }))).code, 66);
  },

  async sessions() {
    const session = client.startSession({ causalConsistency: true });
    const c = db.collection('sessions');
    await c.insertOne({ _id: 1 }, { session });
    assert.deepEqual(await c.findOne({ _id: 1 }, { session }), { _id: 1 });
    assert.ok(session.operationTime && session.clusterTime);
    await session.endSession();
    assert.ok(session.hasEnded);
  },

  async transactions() {
    const accounts = db.collection('accounts');
    await client.db('admin').command({ shardCollection: accounts.namespace, key: { _id: 'hashed' } });
    await accounts.insertMany(range(10).map((i) => ({ _id: i, balance: 100 })));
    await db.collection('transfers').insertOne({ _id: 0 });
    const session = client.startSession();
    await session.withTransaction(async () => {
      await accounts.updateOne({ _id: 1 }, { $inc: { balance: -30 } }, { session });
      await accounts.updateOne({ _id: 2 }, { $inc: { balance: 30 } }, { session });
      await db.collection('transfers').insertOne({ _id: 1, amount: 30 }, { session });
    });
    session.startTransaction();
    await accounts.updateMany({}, { $set: { balance: 0 } }, { session });
    assert.equal((await accounts.findOne({ _id: 1 }, { session })).balance, 0);
    await session.abortTransaction();
    await session.endSession();
    assert.deepEqual((await accounts.find().sort({ _id: 1 }).limit(4).toArray()).map((d) => d.balance), [100, 70, 130, 100]);
  },
};

async function main() {
  console.log(`version ${load('mongodb/package.json').version}`);
  client = await new MongoClient(EVENKEEL_URI).connect();
  db = client.db(EVENKEEL_DATABASE);
  await db.dropDatabase();
  for (const [name, check] of Object.entries(CHECKS)) {
    await check().then(() => console.log(`ok ${name}`), (error) => console.log(`not ok ${name}: ${error.stack}`));
  }
  await client.close();
}

main();
