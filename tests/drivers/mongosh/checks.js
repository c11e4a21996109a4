// mongosh: the checks of tests/drivers/run.py, in the shell's own words.
const assert = require('assert');
const { EVENKEEL_URI, EVENKEEL_PROXY_URI, EVENKEEL_DATABASE, EVENKEEL_COMPRESSORS } = process.env;
const range = (count) => Array.from({ length: count }, (_, i) => i);
db = connect(EVENKEEL_URI + EVENKEEL_DATABASE);

function codeOf(work) {
  try { work(); } catch (error) { return error.code; }
  throw new Error('an error was expected');
}

const CHECKS = {
  topology() {
    assert.equal(db.hello().msg, 'isdbgrid');
    assert.ok(sh.status().value.shards.length === 3);
  },

  crud() {
    assert.equal(db.crud.insertOne({ _id: 1, name: 'Ada', n: 1 }).insertedId, 1);
    assert.equal(db.crud.updateOne({ _id: 1 }, { $inc: { n: 1 } }).modifiedCount, 1);
    assert.equal(db.crud.replaceOne({ _id: 1 }, { name: 'Grace', n: 5 }).modifiedCount, 1);
    assert.equal(db.crud.updateOne({ _id: 2 }, { $set: { n: 7 } }, { upsert: true }).insertedId, 2);
    assert.deepEqual(db.crud.findAndModify({ query: { _id: 1 }, update: { $inc: { n: 1 } }, new: true }), { _id: 1, name: 'Grace', n: 6 });
    assert.equal(db.crud.deleteOne({ _id: 2 }).deletedCount, 1);
    assert.deepEqual(db.crud.find().toArray(), [{ _id: 1, name: 'Grace', n: 6 }]);
  },

  types() {
    const document = { _id: ObjectId(), int: Int32(7), long: Long('9007199254740993'), decimal: Decimal128('1.10'), date: ISODate(),
      text: 'žluťoučký 🐎', regex: /^a/i, uuid: UUID(), stamp: Timestamp({ t: 5, i: 6 }), nothing: null, list: [1, [2, {}]], min: MinKey() };
    db.types.insertOne(document);
    assert.equal(EJSON.stringify(db.types.findOne(), { relaxed: false }), EJSON.stringify({ ...document, int: 7 }, { relaxed: false }));
  },

  find() {
    db.find_.insertMany(range(100).map((i) => ({ i, group: i % 7 })));
    const found = db.find_.find({ i: { $gte: 10, $lt: 30 } }, { _id: 0, i: 1 }).sort({ i: -1 }).skip(5).limit(10).toArray();
    assert.deepEqual(found, range(10).map((i) => ({ i: 24 - i })));
    assert.equal(db.find_.countDocuments({ group: 3 }), 14);
    assert.deepEqual(db.find_.distinct('group').sort(), range(7));
  },

  cursor() {
    sh.shardCollection(`${EVENKEEL_DATABASE}.cursor`, { _id: 'hashed' });
    db.cursor.insertMany(range(10_000).map((i) => ({ _id: i, text: 'x'.repeat(100) })));
    assert.deepEqual(db.cursor.find().sort({ _id: 1 }).batchSize(500).toArray().map((d) => d._id), range(10_000));
    assert.equal(db.cursor.find().batchSize(333).itcount(), 10_000);
    const early = db.cursor.find().batchSize(2);
    assert.ok(early.next());
    early.close();
    assert.equal(db.cursor.getShardDistribution().value.Totals.docs, 10_000);
  },

  bulk() {
    const result = db.bulk.bulkWrite([
      ...range(3).map((i) => ({ insertOne: { document: { _id: i, n: 0 } } })), { updateMany: { filter: {}, update: { $inc: { n: 1 } } } },
      { replaceOne: { filter: { _id: 9 }, replacement: { n: 9 }, upsert: true } }, { deleteOne: { filter: { _id: 2 } } },
    ]);
    assert.deepEqual([result.insertedCount, result.modifiedCount, result.upsertedCount, result.deletedCount], [3, 3, 1, 1]);
    const work = db.bulk.initializeUnorderedBulkOp();
    work.find({ _id: 0 }).updateOne({ $set: { n: 50 } });
    work.insert({ _id: 4 });
    assert.equal(work.execute().insertedCount, 1);
  },

  retry() {
    const proxied = connect(EVENKEEL_PROXY_URI + EVENKEEL_DATABASE);
    proxied.retry.insertOne({ _id: 1, n: 0 });
    assert.equal(proxied.retry.updateOne({ _id: 1 }, { $inc: { n: 1 }, $set: { note: 'lose this reply' } }).modifiedCount, 1);
    assert.equal(proxied.retry.findOne({ _id: 1 }).n, 1);
  },

  compression() {
    const proxied = connect(`${EVENKEEL_PROXY_URI}${EVENKEEL_DATABASE}?compressors=${EVENKEEL_COMPRESSORS}`);
    proxied.compression.insertMany(range(100).map((i) => ({ _id: i, text: 'compress me '.repeat(100) })));
    assert.equal(proxied.compression.find({ text: /^compress/ }).toArray().length, 100);
  },

  aggregation() {
    db.customers.insertMany(range(3).map((i) => ({ _id: i, name: `customer ${i}` })));
    db.orders.insertMany(range(30).map((i) => ({ customer: i % 3, total: i })));
    const rows = db.orders.aggregate([
      { $match: { total: { $gte: 3 } } },
      { $group: { _id: '$customer', total: { $sum: '$total' }, count: { $sum: 1 } } },
      { $lookup: { from: 'customers', localField: '_id', foreignField: '_id', as: 'customer' } },
      { $project: { _id: 0, name: { $first: '$customer.name' }, total: 1, count: 1 } },
      { $sort: { name: 1 } },
    ]).toArray();
    assert.deepEqual(rows.map((row) => [row.name, row.total, row.count]), [['customer 0', 135, 9], ['customer 1', 144, 9], ['customer 2', 153, 9]]);
  },

  indexes() {
    assert.equal(db.indexes.createIndex({ a: 1 }, { unique: true, name: 'by_a' }), 'by_a');
    assert.deepEqual(db.indexes.getIndexes().map((index) => index.name), ['_id_', 'by_a']);
    db.indexes.insertOne({ a: 1 });
    assert.equal(codeOf(() => db.indexes.insertOne({ a: 1 })), 11000);
    db.indexes.dropIndex('by_a');
    assert.deepEqual(db.indexes.getIndexes().map((index) => index.name), ['_id_']);
  },

  errors() {
    db.errors.insertOne({ _id: 1 });
    assert.equal(codeOf(() => db.errors.insertOne({ _id: 1 })), 11000);
    assert.equal(codeOf(() => db.errors.find({ $nonsense: 1 }).toArray()), 2);
    assert.equal(codeOf(() => db.runCommand({ nonsense: 1 })), 59);
    assert.equal(codeOf(() => db.errors.updateOne({ _id: 1 }, { $set: { _id: 2 } })), 66);
  },

  sessions() {
    const session = db.getMongo().startSession({ causalConsistency: true });
    const c = session.getDatabase(EVENKEEL_DATABASE).sessions;
    c.insertOne({ _id: 1 });
    assert.deepEqual(c.findOne({ _id: 1 }), { _id: 1 });
    assert.ok(session.getOperationTime());
    session.endSession();
  },

  transactions() {
    sh.shardCollection(`${EVENKEEL_DATABASE}.accounts`, { _id: 'hashed' });
    db.accounts.insertMany(range(10).map((i) => ({ _id: i, balance: 100 })));
    const session = db.getMongo().startSession();
    db.transfers.insertOne({ _id: 0 });
    const within = session.getDatabase(EVENKEEL_DATABASE);
    session.startTransaction();
    within.accounts.updateOne({ _id: 1 }, { $inc: { balance: -30 } });
    within.accounts.updateOne({ _id: 2 }, { $inc: { balance: 30 } });
    within.transfers.insertOne({ _id: 1, amount: 30 });
    session.commitTransaction();
    session.startTransaction();
    within.accounts.updateMany({}, { $set: { balance: 0 } });
    assert.equal(within.accounts.findOne({ _id: 1 }).balance, 0);
    session.abortTransaction();
    session.endSession();
    assert.deepEqual(db.accounts.find().sort({ _id: 1 }).limit(4).toArray().map((d) => d.balance), [100, 70, 130, 100]);
  },
};

print(`version ${version()}`);
db.dropDatabase();
for (const name of Object.keys(CHECKS)) {
  try {
    CHECKS[name]();
    print(`ok ${name}`);
  } catch (error) {
    print(`not ok ${name}: ${error.stack}`);
  }
}
