// Clients that write through several routers while processes die: each repeats a statement until it is acknowledged.
'use strict';

const assert = require('node:assert/strict');
const { MongoClient } = require('mongodb');
const { CLIENT_OPTIONS } = require('./cluster.js');
const { Random } = require('./random.js');

const DUPLICATE = 11000;
const PAUSE_MS = 50;
const byId = (a, b) => (a._id < b._id ? -1 : 1);

// Each client has documents of its own and does only what may be done twice, so it knows what must be there. `_id` is a string that begins
// with the client's number.
class StubbornLoad {
  constructor(uris, ns, { clients = 4, documents = 100, seed = 1 } = {}) {
    [this.database, this.name] = ns.split('.');
    this.uris = uris;
    this.documents = documents;
    this.acknowledged = 0;
    this.clients = Array.from({ length: clients }, (_, number) => ({ number, random: new Random(seed * 1000 + number), next: 0, known: new Map() }));
  }

  async start() {
    const options = { ...CLIENT_OPTIONS, serverSelectionTimeoutMS: 1000, socketTimeoutMS: 20_000 };
    this.connections = await Promise.all(this.uris.map((uri) => new MongoClient(uri, options).connect()));
    this.stopped = false;
    this.runs = this.clients.map(async (client) => { while (!this.stopped) await this.statement(client); });
    for (const run of this.runs) run.catch(() => {});  // who waits for the clients hears of it
    return this;
  }

  // Repeats it through one router after the other. An error of the test itself is thrown.
  async repeat(client, action) {
    for (let attempt = client.number; ; ++attempt) {
      const connection = this.connections[attempt % this.connections.length];
      try {
        await action(connection.db(this.database).collection(this.name));
        ++this.acknowledged;
        return;
      } catch (error) {
        if (error instanceof assert.AssertionError || (this.stopped && attempt > client.number + 1000)) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  async statement(client) {
    const { random, known } = client;
    const ids = [...known.keys()];
    const roll = random.next();
    if (ids.length < this.documents && (roll < 0.4 || ids.length === 0)) {
      const document = { _id: `${client.number}-${client.next++}`, v: 0 };
      await this.repeat(client, (rows) => rows.insertOne(document).catch((error) => {
        if (error.code !== DUPLICATE) throw error;  // it was there already: of the attempt before
      }));
      known.set(document._id, document);
      return;
    }
    const _id = random.pick(ids);
    const document = known.get(_id);
    if (roll < 0.75) {
      const after = { _id, v: document.v + 1 };
      await this.repeat(client, async (rows) => assert.equal((await rows.updateOne({ _id }, { $set: { v: after.v } })).matchedCount, 1, `update of ${_id}`));
      known.set(_id, after);
    } else if (roll < 0.9) {
      await this.repeat(client, async (rows) => assert.deepEqual(await rows.findOne({ _id }), document));
    } else {
      await this.repeat(client, (rows) => rows.deleteOne({ _id }));
      known.delete(_id);
    }
  }

  // Waits until so many more statements are acknowledged.
  async progress(statements) {
    for (const wanted = this.acknowledged + statements; this.acknowledged < wanted;) {
      await Promise.race([Promise.all(this.runs), new Promise((resolve) => setTimeout(resolve, 10))]);
    }
  }

  async stop() {
    this.stopped = true;
    await Promise.all(this.runs);
    await Promise.all(this.connections.map((connection) => connection.close(true)));
  }

  // What must be there.
  known() { return this.clients.flatMap(({ known }) => [...known.values()]).sort(byId); }
}

module.exports = { StubbornLoad };
