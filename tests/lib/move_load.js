// Clients that write to one collection and know what it must hold, while its data are moved.
'use strict';

const assert = require('node:assert/strict');
const { MongoClient } = require('mongodb');
const { CLIENT_OPTIONS } = require('./cluster.js');
const { Random } = require('./random.js');

// Each client writes its own documents, so that it knows the last acknowledged state of each. `_id` is a number or a string; `k` is a
// shard key that changes now and then.
class MoveLoad {
  constructor(uri, ns, { clients = 4, documents = 400, seed = 1 } = {}) {
    this.uri = uri;
    [this.database, this.name] = ns.split('.');
    this.count = clients;
    this.documents = documents;
    this.seed = seed;
    this.statements = 0;
    this.pauseMs = 0;
    this.expected = [];
    this.stopped = false;
  }

  async start() {
    this.client = await new MongoClient(this.uri, { ...CLIENT_OPTIONS, maxPoolSize: this.count * 2 }).connect();
    this.collection = this.client.db(this.database).collection(this.name);
    this.expected = Array.from({ length: this.count }, () => new Map());
    this.runs = this.expected.map((model, i) => this.run(i, model));
    return this;
  }

  async run(number, model) {
    const random = new Random(this.seed * 1000 + number);
    let next = 0;
    while (!this.stopped) {
      const begun = Date.now();
      const roll = random.next();
      const ids = [...model.keys()];
      if (roll < 0.4 || ids.length === 0) {
        const document = { _id: `${number}-${next++}`, k: random.below(1000), v: 0 };
        await this.collection.insertOne(document);
        model.set(document._id, document);
      } else {
        const id = random.pick(ids);
        const known = model.get(id);
        if (roll < 0.6) {
          const { modifiedCount } = await this.collection.updateOne({ _id: id, k: known.k }, { $inc: { v: 1 } });
          assert.equal(modifiedCount, 1, `update of ${id}`);
          model.set(id, { ...known, v: known.v + 1 });
        } else if (roll < 0.7) {
          const k = random.below(1000);
          const found = await this.collection.findOneAndUpdate({ _id: id, k: known.k }, { $set: { k } }, { returnDocument: 'after' });
          assert.deepEqual(found, { ...known, k });
          model.set(id, { ...known, k });
        } else if (roll < 0.8) {
          await this.transfer(id, random.pick(ids), model);
        } else if (roll < 0.9) {
          assert.deepEqual(await this.collection.findOne({ _id: id }), known);
        } else {
          const { deletedCount } = await this.collection.deleteOne({ _id: id, k: known.k });
          assert.equal(deletedCount, 1, `delete of ${id}`);
          model.delete(id);
        }
      }
      ++this.statements;
      this.pauseMs = Math.max(this.pauseMs, Date.now() - begun);
      if (model.size > this.documents) await this.shrink(model);
    }
  }

  async transfer(one, other, model) {
    if (one === other) return;
    await this.client.withSession((session) => session.withTransaction(async () => {
      for (const [id, change] of [[one, 1], [other, -1]]) {
        const { modifiedCount } = await this.collection.updateOne({ _id: id, k: model.get(id).k }, { $inc: { v: change } }, { session });
        assert.equal(modifiedCount, 1, `update of ${id} in a transaction`);
      }
    }));
    for (const [id, change] of [[one, 1], [other, -1]]) model.set(id, { ...model.get(id), v: model.get(id).v + change });
  }

  async shrink(model) {
    const ids = [...model.keys()].slice(0, 50);
    const { deletedCount } = await this.collection.deleteMany({ _id: { $in: ids } });
    assert.equal(deletedCount, ids.length);
    for (const id of ids) model.delete(id);
  }

  // Waits until the clients have done this many more statements.
  async progress(statements) {
    const wanted = this.statements + statements;
    while (this.statements < wanted) await Promise.race([Promise.all(this.runs), new Promise((resolve) => setTimeout(resolve, 5))]);
  }

  // Ends the clients and compares the collection with what they know.
  async finish() {
    this.stopped = true;
    await Promise.all(this.runs);
    await this.check();
    await this.client.close();
  }

  async check() {
    const wanted = new Map(this.expected.flatMap((model) => [...model]));
    const found = await this.collection.find({ _id: { $type: 'string' } }).toArray();
    const byId = (a, b) => (a._id < b._id ? -1 : 1);
    assert.deepEqual(found.sort(byId), [...wanted.values()].sort(byId));
    assert.equal(await this.collection.countDocuments({ _id: { $type: 'string' } }), wanted.size);
  }
}

module.exports = { MoveLoad };
