// Clients that write to one collection and know what it must hold, while its data are moved or its processes die.
'use strict';

const assert = require('node:assert/strict');
const { isDeepStrictEqual } = require('node:util');
const { MongoClient, MongoServerError } = require('mongodb');
const { CLIENT_OPTIONS } = require('./cluster.js');
const { Random } = require('./random.js');

const byId = (a, b) => (a._id < b._id ? -1 : 1);

// Each client writes its own documents, so that it knows the last acknowledged state of each. `_id` is a string that begins with the
// client's number; `k` is a shard key that changes now and then, chosen by `place`; `u` may be unique together with `k`. `others`, a second collection,
// is written in transactions only, together with the first one.
class MoveLoad {
  constructor(uri, ns, { others, place = (random) => random.below(1000), clients = 4, documents = 400, seed = 1 } = {}) {
    this.uri = uri;
    this.names = others ? [ns, others] : [ns];
    this.place = place;
    this.documents = documents;
    this.statements = 0;
    this.clients = Array.from({ length: clients }, (_, number) => ({
      number, random: new Random(seed * 1000 + number), next: 0, known: this.names.map(() => new Map()), open: [], atomic: true,
    }));
  }

  async start() {
    this.client = await new MongoClient(this.uri, { ...CLIENT_OPTIONS, maxPoolSize: this.clients.length * 2 }).connect();
    [this.collection, this.others] = this.names.map((ns) => this.collectionOf(ns));
    this.stopped = false;
    this.runs = this.clients.map((client) => this.run(client));
    for (const run of this.runs) run.catch(() => {});  // who waits for the clients hears of it
    return this;
  }

  collectionOf(ns) {
    const [database, name] = ns.split('.');
    return this.client.db(database).collection(name);
  }

  async run(client) {
    while (!this.stopped) {
      await this.statement(client);
      ++this.statements;
    }
  }

  async statement(client) {
    const { number, random, known: [rows] } = client;
    const ids = [...rows.keys()];
    const insertion = (fields) => {
      const _id = `${number}-${client.next++}`;
      return { _id, ...fields, v: 0 };
    };
    const roll = random.next();
    if (ids.length > this.documents) return await this.shrink(client, ids.slice(0, 50));
    if (roll < 0.4 || ids.length < 2) {
      const document = insertion({ k: this.place(random), u: `${number}-${client.next}` });
      return await this.write(client, [[0, document._id, document]], () => this.collection.insertOne(document));
    }
    const id = random.pick(ids);
    const known = rows.get(id);
    const filter = { _id: id, k: known.k };
    if (roll < 0.55) {
      return await this.write(client, [[0, id, { ...known, v: known.v + 1 }]], async () => {
        const { modifiedCount } = await this.collection.updateOne(filter, { $inc: { v: 1 } });
        assert.equal(modifiedCount, 1, `update of ${id}`);
      });
    }
    if (roll < 0.65) {
      const k = this.place(random);
      return await this.write(client, [[0, id, { ...known, k }]], async () => {
        const found = await this.collection.findOneAndUpdate(filter, { $set: { k } }, { returnDocument: 'after' });
        assert.deepEqual(found, { ...known, k });
      });
    }
    if (roll < 0.75) return await this.transfer(client, id, random.pick(ids));
    if (roll < 0.8) return await this.replace(client, known, insertion({ k: known.k, u: known.u }));
    if (roll < 0.9) return assert.deepEqual(await this.collection.findOne({ _id: id }), known);
    return await this.write(client, [[0, id, null]], async () => {
      const { deletedCount } = await this.collection.deleteOne(filter);
      assert.equal(deletedCount, 1, `delete of ${id}`);
    });
  }

  // Does what changes these documents: [collection, _id, the document behind it or null]. Where it is not acknowledged, they stay open.
  async write(client, changes, action, atomic = true) {
    Object.assign(client, { open: changes, atomic });
    await action();
    this.take(client, changes);
  }

  take(client, changes) {
    for (const [collection, id, document] of changes) {
      if (document) client.known[collection].set(id, document);
      else client.known[collection].delete(id);
    }
    client.open = [];
  }

  // Two documents, and one of the second collection that counts.
  async transfer(client, one, other) {
    if (one === other) return;
    const { number, random, known: [rows, others] } = client;
    const changes = [[one, 1], [other, -1]].map(([id, change]) => [0, id, { ...rows.get(id), v: rows.get(id).v + change }]);
    const count = `${number}-${random.below(50)}`;
    if (this.others) changes.push([1, count, { _id: count, v: (others.get(count)?.v ?? 0) + 1 }]);
    await this.write(client, changes, () => this.client.withSession((session) => session.withTransaction(async () => {
      for (const [id, change] of [[one, 1], [other, -1]]) {
        const { modifiedCount } = await this.collection.updateOne({ _id: id, k: rows.get(id).k }, { $inc: { v: change } }, { session });
        assert.equal(modifiedCount, 1, `update of ${id} in a transaction`);
      }
      if (this.others) await this.others.updateOne({ _id: count }, { $inc: { v: 1 } }, { session, upsert: true });
    })));
  }

  // Another document with the same unique values.
  async replace(client, known, document) {
    await this.write(client, [[0, known._id, null], [0, document._id, document]], () => this.client.withSession((session) => session.withTransaction(async () => {
      const { deletedCount } = await this.collection.deleteOne({ _id: known._id, k: known.k }, { session });
      assert.equal(deletedCount, 1, `delete of ${known._id} in a transaction`);
      await this.collection.insertOne(document, { session });
    })));
  }

  async shrink(client, ids) {
    await this.write(client, ids.map((id) => [0, id, null]), async () => {
      const { deletedCount } = await this.collection.deleteMany({ _id: { $in: ids } });
      assert.equal(deletedCount, ids.length);
    }, false);
  }

  // Waits until the clients have done this many more statements.
  async progress(statements) {
    const wanted = this.statements + statements;
    while (this.statements < wanted) await Promise.race([Promise.all(this.runs), new Promise((resolve) => setTimeout(resolve, 5))]);
  }

  // Ends the clients and compares the collections with what they know.
  async finish() {
    this.stopped = true;
    await Promise.all(this.runs);
    await this.check();
    await this.client.close();
  }

  // Ends the clients of a cluster that has died and was started again: each has one statement at most that nobody acknowledged, now or
  // when the driver tried it again. Only the lost connection may have ended them.
  async interrupt() {
    this.stopped = true;
    for (const { reason } of await Promise.allSettled(this.runs)) {
      if (reason instanceof assert.AssertionError || reason instanceof MongoServerError) throw reason;
    }
    await this.settle();
    await this.client.close();
  }

  // Compares the collections with what was acknowledged; a write that was not has happened as a whole or not at all. start() goes on from
  // what is there.
  async settle() {
    const found = await Promise.all(this.names.map(async (ns) => {
      const documents = await this.collectionOf(ns).find({ _id: { $type: 'string' } }).toArray();
      return new Map(documents.map((document) => [document._id, document]));
    }));
    for (const owner of this.clients) {
      const done = owner.open.filter(([collection, id, document]) => isDeepStrictEqual(found[collection].get(id) ?? null, document));
      if (owner.atomic) assert.ok(done.length === 0 || done.length === owner.open.length, `half of ${JSON.stringify(owner.open)}`);
      this.take(owner, done);
    }
    await this.check();
  }

  async check() {
    for (const [i, ns] of this.names.entries()) {
      const collection = this.collectionOf(ns);
      const wanted = this.known(i);
      const found = await collection.find({ _id: { $type: 'string' } }).toArray();
      assert.deepEqual(found.sort(byId), wanted.sort(byId), ns);
      assert.equal(await collection.countDocuments({ _id: { $type: 'string' } }), wanted.length, ns);
    }
  }

  // What must be there of one of the collections.
  known(collection = 0) { return this.clients.flatMap(({ known }) => [...known[collection].values()]); }
}

module.exports = { MoveLoad };
