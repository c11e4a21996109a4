// Sessions and retryable writes: a statement sent again is applied once and answered the same, also after a restart.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { Binary, Long } = require('mongodb');
const crypto = require('node:crypto');
const { useCluster, range } = require('../lib/cluster.js');
const { Wire } = require('../lib/wire.js');

function newLsid() { return { id: new Binary(crypto.randomBytes(16), Binary.SUBTYPE_UUID) }; }

// Without what legitimately differs between two replies.
function stable(reply) {
  const { $clusterTime, operationTime, retriedStmtIds, retriedStmtId, electionId, opTime, ...rest } = reply;
  return rest;
}

describe('retryable writes', () => {
  const cluster = useCluster();
  const make = { unsharded: () => cluster.collection(), sharded: () => cluster.sharded(), 'sharded by k': () => cluster.sharded({ k: 'hashed' }) };

  // The reply to a command of a session of our own: the driver would put its session in place of ours.
  async function send(command) {
    const wire = await Wire.connect(cluster.server.port);
    const reply = await wire.command({ ...command, $db: 'test' });
    wire.close();
    return reply;
  }

  // Sends the command twice under one transaction number. Returns both replies.
  async function twice(command) {
    const tagged = { ...command, lsid: newLsid(), txnNumber: Long.fromNumber(1) };
    const first = await send(tagged);
    assert.equal(first.ok, 1, first.errmsg);
    return [first, await send(tagged)];
  }

  for (const kind of Object.keys(make)) {
    describe(kind, () => {
      it('insert', async () => {
        const c = await make[kind]();
        const [first, second] = await twice({ insert: c.collectionName, documents: [{ _id: 1, k: 1 }] });
        assert.deepEqual(stable(second), stable(first));
        assert.equal(second.n, 1);
        assert.equal(await c.countDocuments(), 1);
      });

      it('insert of several documents', async () => {
        const c = await make[kind]();
        const [, second] = await twice({ insert: c.collectionName, documents: range(30).map((i) => ({ _id: i, k: i })), ordered: false });
        assert.equal(second.n, 30);
        assert.equal(second.writeErrors, undefined);
        assert.equal(await c.countDocuments(), 30);
      });

      it('update of one document', async () => {
        const c = await make[kind]();
        await c.insertOne({ _id: 1, k: 7, n: 0 });
        const [first, second] = await twice({ update: c.collectionName, updates: [{ q: { _id: 1, k: 7 }, u: { $inc: { n: 1 } } }] });
        assert.deepEqual([first.n, first.nModified, second.n, second.nModified], [1, 1, 1, 1]);
        assert.equal((await c.findOne()).n, 1);
      });

      it('update of one document found by another field', async () => {
        const c = await make[kind]();
        await c.insertMany(range(10).map((i) => ({ _id: i, k: i, todo: true })));
        const [, second] = await twice({ update: c.collectionName, updates: [{ q: { todo: true }, u: { $set: { todo: false } } }] });
        assert.equal(second.nModified, 1);
        assert.equal(await c.countDocuments({ todo: false }), 1);
      });

      it('upsert', async () => {
        const c = await make[kind]();
        const [first, second] = await twice({ update: c.collectionName, updates: [{ q: { _id: 5, k: 5 }, u: { $inc: { n: 1 } }, upsert: true }] });
        assert.deepEqual(second.upserted, first.upserted);
        assert.deepEqual(await c.find().toArray(), [{ _id: 5, k: 5, n: 1 }]);
      });

      it('delete of one document', async () => {
        const c = await make[kind]();
        await c.insertMany(range(5).map((i) => ({ _id: i, k: i, x: 1 })));
        const [first, second] = await twice({ delete: c.collectionName, deletes: [{ q: { x: 1 }, limit: 1 }] });
        assert.deepEqual([first.n, second.n], [1, 1]);
        assert.equal(await c.countDocuments(), 4);
      });

      it('findAndModify, old and new document and removal', async () => {
        const c = await make[kind]();
        await c.insertOne({ _id: 1, k: 1, n: 0 });
        for (const options of [{ new: false }, { new: true }]) {
          const [first, second] = await twice({ findAndModify: c.collectionName, query: { _id: 1, k: 1 }, update: { $inc: { n: 1 } }, ...options });
          assert.deepEqual(second.value, first.value);
          assert.deepEqual(second.lastErrorObject, first.lastErrorObject);
        }
        assert.equal((await c.findOne()).n, 2);
        const [first, second] = await twice({ findAndModify: c.collectionName, query: { n: 2 }, remove: true });
        assert.deepEqual(second.value, first.value);
        assert.equal(await c.countDocuments(), 0);
      });

      it('an error is answered again, and the statements before it are not repeated', async () => {
        const c = await make[kind]();
        await c.insertOne({ _id: 2, k: 2 });
        const command = { insert: c.collectionName, documents: [{ _id: 1, k: 1 }, { _id: 2, k: 2 }, { _id: 3, k: 3 }] };
        const [first, second] = await twice(command);
        for (const reply of [first, second]) {
          assert.equal(reply.n, 1);
          assert.deepEqual(reply.writeErrors.map((e) => [e.index, e.code]), [[1, 11000]]);
        }
        assert.equal(await c.countDocuments(), 2);
      });
    });
  }

  it('an older transaction number is refused', async () => {
    const c = cluster.collection();
    const lsid = newLsid();
    const insert = (n) => send({ insert: c.collectionName, documents: [{ n }], lsid, txnNumber: Long.fromNumber(n) });
    assert.equal((await insert(5)).n, 1);
    assert.equal((await insert(4)).code, 225);  // TransactionTooOld
    assert.equal((await insert(6)).n, 1);
    assert.equal(await c.countDocuments(), 2);
  });

  it('a statement is answered from its record after kill -9', async () => {
    const c = await cluster.sharded();
    await c.insertOne({ _id: 1, n: 0 });
    const command = { update: c.collectionName, updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }], lsid: newLsid(), txnNumber: Long.fromNumber(1) };
    assert.equal((await send(command)).nModified, 1);
    await cluster.server.kill();
    await cluster.server.start();
    await cluster.reconnect();
    assert.equal((await send(command)).nModified, 1);
    assert.equal((await cluster.db.collection(c.collectionName).findOne()).n, 1);
  });

  it('session commands', async () => {
    const { id } = await cluster.admin({ startSession: 1 });
    assert.equal(id.id.sub_type, Binary.SUBTYPE_UUID);
    assert.equal((await cluster.admin({ refreshSessions: [id] })).ok, 1);
    assert.equal((await cluster.admin({ endSessions: [id] })).ok, 1);
  });

  it('causal consistency: a session reads what it wrote', async () => {
    const c = await cluster.sharded();
    await cluster.client.withSession({ causalConsistency: true }, async (session) => {
      for (const i of range(100)) {
        await c.insertOne({ _id: i }, { session });
        assert.equal((await c.findOne({ _id: i }, { session }))._id, i);
      }
      assert.ok(session.operationTime);
    });
  });
});
