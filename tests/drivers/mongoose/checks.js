// Mongoose with a small schema of a shop: the checks of tests/drivers/run.py, as an application would do them.
'use strict';

const assert = require('node:assert/strict');
const load = require('node:module').createRequire(process.env.EVENKEEL_PACKAGE);
const mongoose = load('mongoose');

const { EVENKEEL_URI, EVENKEEL_PROXY_URI, EVENKEEL_DATABASE } = process.env;
const range = (count) => Array.from({ length: count }, (_, i) => i);

const customerSchema = new mongoose.Schema({
  name: { type: String, required: true, trim: true },
  email: { type: String, lowercase: true, unique: true, match: /@/ },
  address: { street: String, city: { type: String, index: true } },
}, { timestamps: true });
const orderSchema = new mongoose.Schema({
  customer: { type: mongoose.ObjectId, ref: 'Customer', required: true },
  lines: [{ article: String, count: { type: Number, min: 1 }, price: mongoose.Decimal128 }],
  placed: Date, notes: Map, raw: Buffer, big: BigInt, free: mongoose.Mixed,
});
orderSchema.virtual('pieces').get(function pieces() { return this.lines.reduce((sum, line) => sum + line.count, 0); });
const numberSchema = new mongoose.Schema({ _id: Number, group: Number }, { shardKey: { _id: 1 } });

const Customer = mongoose.model('Customer', customerSchema);
const Order = mongoose.model('Order', orderSchema);
const Numbers = mongoose.model('Numbers', numberSchema);

async function errorOf(promise) {
  try { await promise; } catch (error) { return error; }
  throw new Error('an error was expected');
}

const CHECKS = {
  async topology() {
    assert.equal(mongoose.connection.getClient().topology.description.type, 'Sharded');
  },

  async crud() {
    const ada = await Customer.create({ name: ' Ada ', email: 'ADA@example.net', address: { city: 'London' } });
    assert.deepEqual([ada.name, ada.email], ['Ada', 'ada@example.net']);
    ada.address.city = 'Paris';
    await ada.save();
    assert.equal((await Customer.findById(ada._id)).address.city, 'Paris');
    const found = await Customer.findOneAndUpdate({ email: 'grace@example.net' }, { name: 'Grace' }, { upsert: true, returnDocument: 'after' });
    assert.ok(found.createdAt instanceof Date);
    assert.equal((await Customer.deleteOne({ _id: found._id })).deletedCount, 1);
  },

  async types() {
    const customer = await Customer.findOne();
    const { _id } = await Order.create({
      customer, lines: [{ article: 'a', count: 2, price: '1.10' }], placed: new Date(5), notes: { gift: 'yes' }, raw: Buffer.from([1, 2]),
      big: 9007199254740993n, free: { deep: [1, 'two', null] },
    });
    const order = await Order.findById(_id).populate('customer');
    assert.equal(order.customer.name, 'Ada');
    assert.deepEqual([order.pieces, String(order.lines[0].price), order.placed.getTime(), order.notes.get('gift')], [2, '1.10', 5, 'yes']);
    assert.deepEqual([order.big, order.raw.length], [9007199254740993n, 2]);
    assert.deepEqual(order.free, { deep: [1, 'two', null] });
  },

  async find() {
    await Customer.insertMany(range(50).map((i) => ({ name: `c${i}`, email: `c${i}@example.net`, address: { city: `city ${i % 5}` } })));
    const found = await Customer.find({ name: /^c1/ }).sort('-name').skip(1).limit(3).select('name -_id').lean();
    assert.deepEqual(found, [{ name: 'c18' }, { name: 'c17' }, { name: 'c16' }]);
    assert.equal(await Customer.countDocuments({ 'address.city': 'city 2' }), 10);
    assert.equal(await Customer.exists({ name: 'nobody' }), null);
  },

  async cursor() {
    const admin = mongoose.connection.getClient().db('admin');
    await admin.command({ shardCollection: `${EVENKEEL_DATABASE}.${Numbers.collection.name}`, key: { _id: 'hashed' } });
    await Numbers.insertMany(range(10_000).map((i) => ({ _id: i, group: i % 7 })));
    let next = 0;
    for await (const number of Numbers.find().sort({ _id: 1 }).batchSize(500).cursor()) assert.equal(number._id, next++);
    assert.equal(next, 10_000);
  },

  async bulk() {
    const result = await Numbers.bulkWrite([
      { insertOne: { document: { _id: 20_000 } } }, { updateMany: { filter: { group: 3 }, update: { $inc: { group: 10 } } } },
      { deleteOne: { filter: { _id: 20_000 } } },
    ]);
    assert.deepEqual([result.insertedCount, result.modifiedCount, result.deletedCount], [1, 1429, 1]);
  },

  async retry() {
    const connection = await mongoose.createConnection(EVENKEEL_PROXY_URI, { dbName: EVENKEEL_DATABASE }).asPromise();
    const Note = connection.model('Note', new mongoose.Schema({ text: String, n: { type: Number, default: 0 } }));
    const note = await Note.create({ text: 'first' });
    await Note.updateOne({ _id: note._id }, { $inc: { n: 1 }, text: 'lose this reply' });
    assert.equal((await Note.findById(note._id)).n, 1);
    await connection.close();
  },

  async aggregation() {
    const groups = await Numbers.aggregate().match({ _id: { $lt: 700 } }).group({ _id: '$group', count: { $sum: 1 } }).sort('_id');
    assert.deepEqual(groups.map((group) => [group._id, group.count]), [0, 1, 2, 4, 5, 6, 13].map((group) => [group, 100]));
  },

  async indexes() {
    await Customer.syncIndexes();
    assert.deepEqual((await Customer.listIndexes()).map((index) => index.name).sort(), ['_id_', 'address.city_1', 'email_1']);
  },

  async errors() {
    assert.equal((await errorOf(Customer.create({ name: 'x', email: 'ada@example.net' }))).code, 11000);
    assert.equal((await errorOf(Customer.create({ email: 'no name' }))).name, 'ValidationError');
    const [one, other] = [await Customer.findOne({ name: 'c1' }), await Customer.findOne({ name: 'c1' })];
    one.increment();
    await one.save();
    other.name = 'changed';
    other.increment();
    assert.equal((await errorOf(other.save())).name, 'VersionError');
  },

  async sessions() {
    const session = await mongoose.startSession();
    const [customer] = await Customer.create([{ name: 'S', email: 's@example.net' }], { session });
    assert.equal((await Customer.findById(customer._id).session(session)).name, 'S');
    assert.ok(session.operationTime);
    await session.endSession();
  },

  async transactions() {
    const [buyer, other] = await Customer.find({ name: /^c[45]$/ }).sort('name');
    await mongoose.connection.transaction(async (session) => {
      buyer.address.city = 'moved';
      await buyer.save({ session });
      await Order.create([{ customer: buyer, lines: [{ article: 't', count: 1, price: '2.00' }] }], { session });
    });
    const failed = mongoose.connection.transaction(async (session) => {
      other.address.city = 'moved';
      await other.save({ session });
      throw new Error('changed my mind');
    });
    assert.equal((await errorOf(failed)).message, 'changed my mind');
    assert.deepEqual((await Customer.find({ 'address.city': 'moved' })).map((customer) => customer.name), ['c4']);
    assert.equal(await Order.countDocuments({ customer: buyer }), 1);
  },
};

async function main() {
  console.log(`version ${mongoose.version}`);
  await mongoose.connect(EVENKEEL_URI, { dbName: EVENKEEL_DATABASE, autoIndex: false });
  await mongoose.connection.dropDatabase();
  await Promise.all([Customer, Order, Numbers].map((model) => model.createIndexes()));
  console.log('skip compression: the Node driver\'s');
  for (const [name, check] of Object.entries(CHECKS)) {
    await check().then(() => console.log(`ok ${name}`), (error) => console.log(`not ok ${name}: ${error.stack}`));
  }
  await mongoose.disconnect();
}

main();
