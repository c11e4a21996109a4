// The load of the crash test: clients that write documents of their own, one that changes indexes and collections, one statement
// at a time each. What was acknowledged goes into the model at once.
'use strict';

const assert = require('node:assert/strict');

const SLOTS = 30;          // documents per client and collection
const UNIQUE_VALUES = 300;  // per round, so that duplicates are frequent
const PAD_MAX = 700;

// Codes of answers that leave the outcome open: the process was going away, or (175, QueryPlanKilled, as in MongoDB) the index that a
// statement over many documents went through was dropped when some of them were changed.
const OPEN_CODES = new Set([6, 7, 89, 91, 175, 262, 9001, 10107, 11600, 11602, 13435]);

function outcomeIsOpen(error) {
  const name = error.name ?? '';
  return /Network|ServerSelection|PoolCleared|PoolClosed|NotConnected|TopologyClosed|Timeout/.test(name) ||
    OPEN_CODES.has(error.code) || (error.cause !== undefined && outcomeIsOpen(error.cause)) ||
    /ECONNREFUSED|ECONNRESET|connection .* closed/.test(error.message);
}

// A document's text follows from its number, so a half-applied update shows.
function padOf(n) { return String.fromCharCode(97 + (n % 26)).repeat((n * 37) % PAD_MAX); }
function newDocument(owner, slot, n) { return { _id: `${owner}-${slot}`, owner, slot, k: (slot * 31) % 17, n, m: 0, pad: padOf(n) }; }

// A client whose newest statement has an unknown outcome is `stuck` until the model was compared with the database: its next statement
// would add a third possibility.

// One client: owner of documents `${owner}-0` … in every collection.
class Writer {
  // collections: name → {collection, documents}; unique: {collection, values}
  constructor(owner, collections, unique, random) {
    Object.assign(this, { owner, collections, unique, random, acknowledged: 0, step: 0, stuck: false });
    this.entries = Object.values(collections);
  }

  id(slot) { return `${this.owner}-${slot}`; }

  // Sends one statement. `changes`: id → document or null, what it shall leave. Resolves to its result, or to null when open.
  async send(documents, changes, statement) {
    documents.begin(changes);
    try {
      const result = await statement();
      documents.acknowledge(changes);
      ++this.acknowledged;
      return result;
    } catch (error) {
      if (!outcomeIsOpen(error)) throw error;
      this.stuck = true;
      return null;
    }
  }

  async next(round) {
    ++this.step;
    if (this.random.chance(0.1)) return this.insertUnique(round);
    const { collection, documents } = this.random.pick(this.entries);
    const slot = this.random.below(SLOTS);
    const document = documents.get(this.id(slot));
    const action = document === null ? this.random.pick(ABSENT) : this.random.pick(PRESENT);
    return action(this, collection, documents, slot, document);
  }

  // The whole lot of this client's documents that are there.
  own(documents) { return [...documents.known.values()].filter((d) => d.owner === this.owner); }

  async insertUnique(round) {
    const { collection, values } = this.unique;
    const u = round * UNIQUE_VALUES + this.random.below(UNIQUE_VALUES);
    const document = { _id: `${this.owner}-${round}-${this.step}`, u };
    try {
      await collection.insertOne(document);
      values.inserted.set(document._id, u);
      values.taken.add(u);
      ++this.acknowledged;
    } catch (error) {
      if (error.code === 11000) values.taken.add(u);
      else if (!outcomeIsOpen(error)) throw error;
      else this.stuck = true;
    }
  }
}

// What may be done when the slot is empty …
const ABSENT = [
  (w, c, docs, slot) => {
    const document = newDocument(w.owner, slot, w.step);
    return w.send(docs, [[document._id, document]], () => c.insertOne({ ...document }));
  },
  (w, c, docs, slot) => {
    const { _id, ...rest } = newDocument(w.owner, slot, w.step);
    return w.send(docs, [[_id, { _id, ...rest }]], () => c.updateOne({ _id, k: rest.k }, { $set: without(rest, 'k') }, { upsert: true }));
  },
  (w, c, docs) => {
    const free = Array.from({ length: SLOTS }, (_, slot) => slot).filter((slot) => docs.get(w.id(slot)) === null);
    const some = free.slice(0, w.random.between(2, 8)).map((slot) => newDocument(w.owner, slot, w.step));
    return w.send(docs, some.map((d) => [d._id, d]), () => c.insertMany(some.map((d) => ({ ...d })), { ordered: w.random.chance(0.5) }));
  },
];

// … and when it is taken.
const PRESENT = [
  updateBy((w, d) => ({ _id: d._id })),
  updateBy((w, d) => ({ _id: d._id })),
  updateBy((w, d) => ({ owner: w.owner, slot: d.slot })),  // without a shard key
  async (w, c, docs, slot, d) => {
    const after = bumped(d);
    const result = await w.send(docs, [[d._id, after]], () => c.findOneAndUpdate({ _id: d._id, n: d.n },
      { $inc: { n: 1 }, $set: { pad: after.pad } }, { returnDocument: 'after' }));
    if (result !== null) assert.deepEqual(result, after);
  },
  (w, c, docs, slot, d) => {
    const after = { ...newDocument(w.owner, slot, w.step), k: d.k };
    return w.send(docs, [[d._id, after]], () => c.replaceOne({ _id: d._id, k: d.k }, without(after, '_id')));
  },
  async (w, c, docs) => {
    const changes = w.own(docs).map((d) => [d._id, { ...d, m: d.m + 1 }]);
    const result = await w.send(docs, changes, () => c.updateMany({ owner: w.owner }, { $inc: { m: 1 } }));
    if (result !== null) assert.equal(result.modifiedCount, changes.length);
  },
  async (w, c, docs, slot, d) => {
    const result = await w.send(docs, [[d._id, null]], () => c.deleteOne({ _id: d._id }));
    if (result !== null) assert.equal(result.deletedCount, 1);
  },
  (w, c, docs) => {
    const some = w.own(docs).slice(0, w.random.between(1, 4));
    return w.send(docs, some.map((d) => [d._id, null]), () => c.deleteMany({ owner: w.owner, slot: { $in: some.map((d) => d.slot) } }));
  },
  (w, c, docs) => {
    const some = w.own(docs).slice(0, 6);
    const operations = some.map((d, i) => (i % 3 === 2 ? { deleteOne: { filter: { _id: d._id } } } : { updateOne: { filter: { _id: d._id }, update: changeOf(d) } }));
    return w.send(docs, some.map((d, i) => [d._id, i % 3 === 2 ? null : bumped(d)]), () => c.bulkWrite(operations, { ordered: w.random.chance(0.5) }));
  },
  async (w, c, docs, slot, d) => {  // a client reads what it wrote
    const found = await c.findOne({ _id: d._id }).catch((error) => { if (!outcomeIsOpen(error)) throw error; });
    if (found !== undefined) assert.deepEqual(found, d);
  },
];

function bumped(d) { return { ...d, n: d.n + 1, pad: padOf(d.n + 1) }; }
function changeOf(d) { return { $inc: { n: 1 }, $set: { pad: padOf(d.n + 1) } }; }

function updateBy(filterOf) {
  return async (w, c, docs, slot, d) => {
    const result = await w.send(docs, [[d._id, bumped(d)]], () => c.updateOne(filterOf(w, d), changeOf(d)));
    if (result !== null) assert.equal(result.modifiedCount, 1);
  };
}

function without(document, field) {
  const { [field]: _, ...rest } = document;
  return rest;
}

const INDEXES = { by_n: { n: 1 }, by_owner: { owner: 1, n: -1 }, by_pad: { pad: 1 } };

// Builds and drops indexes, and makes, fills and drops a sharded collection.
class SchemaChanger {
  constructor(db, collections, switches, random) { Object.assign(this, { db, collections, switches, random, acknowledged: 0, stuck: false }); }

  async next() {
    return this.random.chance(0.6) ? this.changeIndex() : this.changeCollection();
  }

  async attempt(name, value, statement) {
    this.switches.set(name, undefined);
    try {
      await statement();
      this.switches.set(name, value);
      ++this.acknowledged;
    } catch (error) {
      if (!outcomeIsOpen(error)) throw error;
      this.stuck = true;
    }
  }

  changeIndex() {
    const [name, { collection }] = this.random.pick(Object.entries(this.collections));
    const index = this.random.pick(Object.keys(INDEXES));
    const key = `index ${name}.${index}`;
    if (this.switches.state.get(key) === true) return this.attempt(key, false, () => collection.dropIndex(index));
    return this.attempt(key, true, () => collection.createIndex(INDEXES[index], { name: index }));
  }

  async changeCollection() {
    const name = `temporary${this.random.below(3)}`;
    const key = `collection ${name}`;
    const collection = this.db.collection(name);
    if (this.switches.state.get(key) === true) return this.attempt(key, false, () => collection.drop());
    return this.attempt(key, true, async () => {
      await this.db.client.db('admin').command({ shardCollection: collection.namespace, key: { k: 'hashed' } });
      await collection.insertMany(Array.from({ length: 20 }, (_, k) => ({ k })));
    });
  }
}

module.exports = { INDEXES, SchemaChanger, Writer };
