// A running cluster and a connected driver for the tests of one describe block.
'use strict';

const { before, after } = require('node:test');
const { MongoClient } = require('mongodb');
const { Server } = require('./server.js');

const CLIENT_OPTIONS = { serverSelectionTimeoutMS: 20_000 };

// Starts the server before the block's tests and removes it after them. Use inside describe().
//
// options    those of Server, and client: options of MongoClient
// Returns    an object whose server, client and db are set while tests run; collection() gives a new empty name each time.
function useCluster(options = {}) {
  const cluster = {
    server: null,
    client: null,
    db: null,
    made: 0,
    collection(prefix = 'c') { return this.db.collection(`${prefix}${++this.made}`); },
    // A new collection sharded by `key`, {_id: 'hashed'} unless given.
    async sharded(key = { _id: 'hashed' }) {
      const collection = this.collection('s');
      await this.admin({ shardCollection: collection.namespace, key });
      return collection;
    },
    admin(command) { return this.client.db('admin').command(command); },
    async connect() {
      this.client = await new MongoClient(this.server.uri, { ...CLIENT_OPTIONS, ...options.client }).connect();
      this.db = this.client.db('test');
    },
    async reconnect() {
      await this.client.close();
      await this.connect();
    },
  };
  before(async () => {
    cluster.server = await new Server(options).start();
    await cluster.connect();
  });
  after(async () => {
    await cluster.client?.close(true);
    await cluster.server?.remove();
  });
  return cluster;
}

// The error that a promise is rejected with; fails when it is not.
async function errorOf(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('an error was expected');
}

// Small whole numbers, for test data.
function range(count) { return Array.from({ length: count }, (_, i) => i); }

module.exports = { CLIENT_OPTIONS, useCluster, errorOf, range };
