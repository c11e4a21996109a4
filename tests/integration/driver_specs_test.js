// What the drivers' specifications promise applications, seen on the wire: transactions, retryable writes and reads, sessions,
// causal consistency. The rules are those of the specifications (github.com/mongodb/specifications), the cases are ours.
'use strict';

const assert = require('node:assert/strict');
const { after, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { CLIENT_OPTIONS, errorOf, range, useCluster } = require('../lib/cluster.js');

const TRANSIENT = 'TransientTransactionError', UNKNOWN = 'UnknownTransactionCommitResult', RETRYABLE = 'RetryableWriteError', NO_WRITES = 'NoWritesPerformed';
const NETWORK = { closeConnection: true };
const WTIMEOUT = { code: 64, codeName: 'WriteConcernFailed', errmsg: 'waiting for replication timed out', errInfo: { wtimeout: true } };

describe('specifications of drivers', () => {
  const cluster = useCluster({ args: ['--enable-test-commands'] });
  const clients = [];
  after(() => Promise.all(clients.map((client) => client.close(true))));

  const fail = (failCommands, data, mode = { times: 1 }) =>
    cluster.admin({ configureFailPoint: 'failCommand', mode, data: { failCommands, ...data } });

  // A client of its own whose commands are recorded with what became of them.
  async function observed(options = {}) {
    const client = await new MongoClient(cluster.server.uri, { ...CLIENT_OPTIONS, monitorCommands: true, ...options }).connect();
    clients.push(client);
    const seen = [];
    const byRequest = new Map();
    client.on('commandStarted', ({ requestId, commandName, command }) => {
      const entry = { name: commandName, command };
      byRequest.set(requestId, entry);
      seen.push(entry);
    });
    client.on('commandSucceeded', ({ requestId, reply }) => { byRequest.get(requestId).reply = reply; });
    client.on('commandFailed', ({ requestId, failure }) => { byRequest.get(requestId).failure = failure; });
    const c = client.db('test').collection((await cluster.sharded()).collectionName);
    return { client, c, seen, names: () => seen.map((entry) => entry.name) };
  }

  // A session with an open transaction that has written one document; what was recorded so far is dropped.
  async function begun(client, c, seen, options) {
    const session = client.startSession();
    session.startTransaction(options);
    await c.insertMany(range(6).map((i) => ({ _id: i })), { session });
    seen.length = 0;
    return session;
  }

  const idOf = (entry) => entry.command.lsid.id.toString('hex');
  const sameAttempt = (first, second) => {
    assert.equal(idOf(first), idOf(second));
    assert.equal(Number(first.command.txnNumber), Number(second.command.txnNumber));
  };

  describe('retryable writes', () => {
    const writes = {
      insert: (c) => c.insertOne({ _id: 100 }),
      update: (c) => c.updateOne({ _id: 1 }, { $inc: { n: 1 } }),
      delete: (c) => c.deleteOne({ _id: 1 }),
      findAndModify: (c) => c.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }),
    };
    for (const [name, write] of Object.entries(writes)) {
      for (const [what, data] of [['a retryable code', { errorCode: 91 }], ['a lost connection', NETWORK]]) {
        it(`${name} is sent again once after ${what}, with the same session and number`, async () => {
          const { c, seen, names } = await observed();
          await c.insertOne({ _id: 1, n: 0 });
          seen.length = 0;
          await fail([name], data);
          await write(c);
          assert.deepEqual(names(), [name, name]);
          sameAttempt(...seen);
        });
      }
    }

    it('is not sent a third time; the error has its label', async () => {
      const { c, names } = await observed();
      await fail(['insert'], { errorCode: 91 }, { times: 2 });
      const error = await errorOf(c.insertOne({ _id: 1 }));
      assert.ok(error.hasErrorLabel(RETRYABLE));
      assert.deepEqual(names(), ['insert', 'insert']);
      assert.equal(await c.countDocuments(), 0);
    });

    it('every write of a session has a higher number', async () => {
      const { client, c, seen } = await observed();
      const session = client.startSession();
      for (const i of range(3)) await c.insertOne({ _id: i }, { session });
      const numbers = seen.map((entry) => Number(entry.command.txnNumber));
      assert.deepEqual(numbers, [numbers[0], numbers[0] + 1, numbers[0] + 2]);
    });

    it('writes of many documents have no number and are not sent again', async () => {
      const { c, seen, names } = await observed();
      await fail(['update'], { errorCode: 91 });
      const error = await errorOf(c.updateMany({}, { $set: { n: 1 } }));
      assert.equal(error.code, 91);
      assert.deepEqual(names(), ['update']);
      assert.equal(seen[0].command.txnNumber, undefined);
    });

    it('NoWritesPerformed: of two errors the first is shown', async () => {
      const { c } = await observed();
      await fail(['insert'], { writeConcernError: { code: 91, errmsg: 'first', errorLabels: [RETRYABLE] }, errorLabels: [RETRYABLE] });
      await c.insertOne({ _id: 1 });  // done by the first attempt, answered from its record by the second
      assert.equal(await c.countDocuments(), 1);
      await fail(['insert'], { errorCode: 10107, errorLabels: [RETRYABLE, NO_WRITES] }, { times: 2 });
      const error = await errorOf(c.insertOne({ _id: 2 }));
      assert.deepEqual([error.code, error.hasErrorLabel(NO_WRITES)], [10107, true]);
    });
  });

  describe('retryable reads', () => {
    const reads = { find: (c) => c.findOne({ _id: 1 }), aggregate: (c) => c.aggregate([{ $match: {} }]).toArray(), count: (c) => c.estimatedDocumentCount(), distinct: (c) => c.distinct('_id'),
      listIndexes: (c) => c.indexes() };
    for (const [name, read] of Object.entries(reads)) {
      it(`${name} is sent again once after a retryable code and a lost connection`, async () => {
        const { c, seen, names } = await observed();
        await c.insertOne({ _id: 1 });
        for (const data of [{ errorCode: 11600 }, NETWORK]) {
          seen.length = 0;
          await fail([name], data);
          await read(c);
          assert.deepEqual(names(), [name, name]);
        }
        seen.length = 0;
        await fail([name], { errorCode: 11600 }, { times: 2 });
        assert.equal((await errorOf(read(c))).code, 11600);
        assert.deepEqual(names(), [name, name]);
      });
    }

    it('getMore is never sent again', async () => {
      const { c, seen, names } = await observed();
      await c.insertMany(range(10).map((i) => ({ _id: i })));
      const cursor = c.find({}, { batchSize: 3 });
      await cursor.next();
      seen.length = 0;
      await fail(['getMore'], { errorCode: 11600 });
      await errorOf(cursor.toArray());
      assert.equal(names().filter((name) => name === 'getMore').length, 1);
    });
  });

  describe('transactions', () => {
    it('only the first statement starts it and has the read concern; all have the number and autocommit false', async () => {
      const { client, c, seen } = await observed();
      const session = client.startSession();
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
      await c.insertOne({ _id: 1 }, { session });
      await c.findOne({}, { session });
      await session.commitTransaction();
      const facts = seen.map(({ name, command }) => [name, command.startTransaction, command.readConcern?.level, command.autocommit, command.writeConcern?.w]);
      assert.deepEqual(facts, [['insert', true, 'snapshot', false, undefined], ['find', undefined, undefined, false, undefined],
        ['commitTransaction', undefined, undefined, false, 'majority']]);
      for (const entry of seen) sameAttempt(seen[0], entry);
    });

    it('the recovery token of the last reply goes to commit and abort', async () => {
      const { client, c, seen } = await observed();
      for (const end of ['commitTransaction', 'abortTransaction']) {
        seen.length = 0;
        const session = client.startSession();
        session.startTransaction();
        await c.insertOne({ _id: end }, { session });
        await session[end]();
        assert.match(seen[0].reply.recoveryToken.recoveryShardId, /^shard\d$/);
        assert.deepEqual(seen[1].command.recoveryToken, seen[0].reply.recoveryToken);
      }
    });

    it('an empty transaction is not committed on the wire', async () => {
      const { client, names } = await observed();
      const session = client.startSession();
      session.startTransaction();
      await session.commitTransaction();
      assert.deepEqual(names(), []);
    });

    it('statements are not sent again; a network error has the transient label and unpins', async () => {
      const { client, c, seen, names } = await observed();
      for (const data of [{ errorCode: 91, errorLabels: [TRANSIENT] }, NETWORK]) {
        const session = await begun(client, c, seen);
        assert.ok(session.isPinned);
        await fail(['insert'], data);
        const error = await errorOf(c.insertOne({ _id: 50 }, { session }));
        assert.ok(error.hasErrorLabel(TRANSIENT));
        assert.ok(!error.hasErrorLabel(RETRYABLE));
        assert.deepEqual(names(), ['insert']);
        assert.ok(!session.isPinned);
        await session.abortTransaction();
        assert.equal(await c.countDocuments(), 0);
      }
    });

    it('unpins when a new transaction begins and when a plain command is sent', async () => {
      const { client, c, seen } = await observed();
      const session = await begun(client, c, seen);
      await session.commitTransaction();
      assert.ok(session.isPinned);
      await c.findOne({}, { session });
      assert.ok(!session.isPinned);
    });

    for (const [what, data] of [['a retryable code', { errorCode: 91 }], ['a lost connection', NETWORK]]) {
      it(`a commit that meets ${what} is sent again with w: majority, and counts once`, async () => {
        const { client, c, seen, names } = await observed();
        const session = await begun(client, c, seen);
        await fail(['commitTransaction'], data);
        await session.commitTransaction();
        assert.deepEqual(names(), ['commitTransaction', 'commitTransaction']);
        assert.equal(seen[0].command.writeConcern, undefined);
        assert.equal(seen[1].command.writeConcern.w, 'majority');
        sameAttempt(...seen);
        assert.deepEqual(seen[1].command.recoveryToken, seen[0].command.recoveryToken);
        assert.equal(await c.countDocuments(), 6);
      });

      it(`an abort that meets ${what} is sent again; its errors are nobody's`, async () => {
        const { client, c, seen, names } = await observed();
        let session = await begun(client, c, seen);
        await fail(['abortTransaction'], data);
        await session.abortTransaction();
        assert.deepEqual(names(), ['abortTransaction', 'abortTransaction']);
        session = await begun(client, c, seen);
        await fail(['abortTransaction'], { errorCode: 11600 }, { times: 2 });
        await session.abortTransaction();
        assert.equal(await c.countDocuments(), 0);
      });
    }

    it('labels of a commit that does not come through: unknown', async () => {
      const { client, c, seen } = await observed();
      const cases = [{ errorCode: 91 }, { errorCode: 50, errorLabels: [] }, NETWORK, { writeConcernError: WTIMEOUT }, { writeConcernError: { code: 91, errmsg: 'replication is shut down' } }];
      for (const data of cases) {
        const session = await begun(client, c, seen);
        await fail(['commitTransaction'], data, { times: 2 });
        const error = await errorOf(session.commitTransaction());
        assert.ok(error.hasErrorLabel(UNKNOWN), JSON.stringify(data));
        assert.ok(!error.hasErrorLabel(TRANSIENT), JSON.stringify(data));
        await fail([], {}, 'off');
        // Asked again, it tells what has become of it.
        await session.commitTransaction();
        assert.equal(await c.countDocuments(), 6);
        await c.deleteMany({});
      }
    });

    it('labels of a commit that was refused: none is unknown', async () => {
      const { client, c, seen } = await observed();
      for (const [code, label] of [[100, false], [79, false], [251, TRANSIENT]]) {
        const session = await begun(client, c, seen);
        await fail(['commitTransaction'], code === 251 ? { errorCode: code } : { writeConcernError: { code, errmsg: 'cannot be satisfied' } });
        const error = await errorOf(session.commitTransaction());
        assert.equal(error.code, code);
        assert.ok(!error.hasErrorLabel(UNKNOWN));
        assert.equal(error.hasErrorLabel(TRANSIENT), label === TRANSIENT);
        await c.deleteMany({}).catch(() => {});
      }
    });

    it('a write concern that cannot be satisfied is told, and the transaction is committed', async () => {
      const { client, c, seen } = await observed();
      for (const [w, code] of [[5, 100], ['nobody', 79]]) {
        const session = await begun(client, c, seen, { writeConcern: { w } });
        const error = await errorOf(session.commitTransaction());
        assert.equal(error.code, code);
        assert.ok(!error.hasErrorLabel(UNKNOWN) && !error.hasErrorLabel(TRANSIENT));
        assert.equal(await c.countDocuments(), 6);
        await c.deleteMany({});
      }
    });

    it('labels by situation: conflict, ended, too old', async () => {
      const { client, c, seen } = await observed();
      const first = await begun(client, c, seen);
      const second = client.startSession();
      second.startTransaction();
      const conflict = await errorOf(c.insertOne({ _id: 1 }, { session: second }));
      assert.deepEqual([conflict.code, conflict.errorLabels], [112, [TRANSIENT]]);
      // It is over now, whatever the client does next.
      const over = await errorOf(c.insertOne({ _id: 77 }, { session: second }));
      assert.deepEqual([over.code, over.hasErrorLabel(TRANSIENT)], [251, true]);
      await second.abortTransaction();
      await first.abortTransaction();
      // An error of the application's own does not ask for a new start.
      await c.insertOne({ _id: 1 });
      const third = client.startSession();
      third.startTransaction();
      const duplicate = await errorOf(c.insertOne({ _id: 1 }, { session: third }));
      assert.deepEqual([duplicate.code, duplicate.hasErrorLabel(TRANSIENT)], [11000, false]);
      await third.abortTransaction();
      // An older number of the session is refused for good.
      const fourth = client.startSession();
      for (const end of ['commitTransaction', 'abortTransaction']) {
        fourth.startTransaction();
        await c.insertOne({ _id: end }, { session: fourth });
        await fourth[end]();
      }
      fourth.startTransaction();
      fourth.serverSession.txnNumber -= 2;  // that of the commit
      const old = await errorOf(c.findOne({}, { session: fourth }));
      assert.deepEqual([old.code, old.hasErrorLabel(TRANSIENT)], [225, false]);
      await fourth.endSession();
    });

    it('a write concern is only for the end, a wtimeout leaves it committed', async () => {
      const { client, c, seen } = await observed();
      const session = await begun(client, c, seen, { writeConcern: { w: 'majority', wtimeoutMS: 5000 } });
      await session.commitTransaction();
      assert.deepEqual(seen[0].command.writeConcern, { w: 'majority', wtimeout: 5000 });
      assert.equal(await c.countDocuments(), 6);
      const raw = { insert: c.collectionName, documents: [{ _id: 90 }], writeConcern: { w: 1 } };
      const other = client.startSession();
      other.startTransaction();
      const error = await errorOf(client.db('test').command(raw, { session: other }));
      assert.ok([72, 'MongoInvalidArgumentError', undefined].includes(error.code), String(error));
      await other.abortTransaction();
    });

    it('withTransaction: the body runs again after a transient error, only the commit after an unknown one', async () => {
      const { client, c, names } = await observed();
      let bodies = 0;
      const body = async (session) => { bodies += 1; await c.updateOne({ _id: 'x' }, { $inc: { n: 1 } }, { session, upsert: true }); };
      await fail(['update'], { errorCode: 112, errorLabels: [TRANSIENT] });
      await client.withSession((session) => session.withTransaction(body));
      assert.equal(bodies, 2);
      await fail(['commitTransaction'], { errorCode: 91 }, { times: 3 });
      await client.withSession((session) => session.withTransaction(body));
      assert.equal(bodies, 3);
      await fail(['commitTransaction'], { errorCode: 251, errorLabels: [TRANSIENT] });
      await client.withSession((session) => session.withTransaction(body));
      assert.equal(bodies, 5);
      assert.ok(names().length > 0);
      assert.equal((await c.findOne({ _id: 'x' })).n, 3);
    });
  });

  describe('sessions', () => {
    it('implicit sessions are used and given back: one after the other needs one', async () => {
      const { c, seen } = await observed();
      await c.insertOne({ _id: 1 });
      for (const _ of range(5)) await c.findOne();
      assert.equal(new Set(seen.map(idOf)).size, 1);
      assert.ok(seen.every(({ command }) => command.lsid.id.sub_type === 4));
    });

    it('a cursor keeps its implicit session to the end', async () => {
      const { c, seen } = await observed();
      await c.insertMany(range(10).map((i) => ({ _id: i })));
      seen.length = 0;
      await c.find({}, { batchSize: 4 }).toArray();
      assert.deepEqual(seen.map(({ name }) => name), ['find', 'getMore', 'getMore'].slice(0, seen.length));
      assert.equal(new Set(seen.map(idOf)).size, 1);
    });

    it('a session whose connection broke is not used again', async () => {
      const { c, seen } = await observed({ retryReads: false });
      await c.findOne();
      await fail(['find'], NETWORK);
      await errorOf(c.findOne());
      await c.findOne();
      assert.equal(idOf(seen[0]), idOf(seen[1]));
      assert.notEqual(idOf(seen[1]), idOf(seen[2]));
    });

    it('sessions that have ended are told to the server', async () => {
      const { client, c, seen } = await observed();
      const session = client.startSession();
      await c.findOne({}, { session });
      await session.endSession();
      const id = idOf(seen[0]);
      await client.close();
      const told = seen.find(({ name }) => name === 'endSessions');
      assert.ok(told.command.endSessions.some((lsid) => lsid.id.toString('hex') === id));
    });

    it('the end of a session ends its transaction', async () => {
      const { client, c, seen, names } = await observed();
      const session = await begun(client, c, seen);
      await session.endSession();
      assert.deepEqual(names(), ['abortTransaction']);
      await c.insertOne({ _id: 1 });
    });

    it('sessions live for half an hour, as hello says', async () => {
      assert.equal((await cluster.admin({ hello: 1 })).logicalSessionTimeoutMinutes, 30);
    });
  });

  describe('causal consistency', () => {
    it('the first operation has no time, later ones that of the last reply, errors included', async () => {
      const { client, c, seen } = await observed();
      const session = client.startSession({ causalConsistency: true });
      await c.findOne({}, { session });
      assert.equal(seen[0].command.readConcern?.afterClusterTime, undefined);
      const first = session.operationTime;
      assert.ok(first);
      await c.findOne({}, { session });
      assert.deepEqual(seen[1].command.readConcern.afterClusterTime, first);
      await errorOf(c.find({ $nonsense: 1 }, { session }).toArray());
      const behind = seen[2].failure;
      assert.ok(behind.response?.operationTime ?? behind.operationTime ?? session.operationTime);
      await c.findOne({}, { session });
      assert.ok(seen[3].command.readConcern.afterClusterTime.greaterThanOrEqual(first));
    });

    it('writes outside have no time, a transaction has it in its first statement', async () => {
      const { client, c, seen } = await observed();
      const session = client.startSession({ causalConsistency: true });
      await c.findOne({}, { session });
      await c.insertOne({ _id: 1 }, { session });
      assert.equal(seen[1].command.readConcern, undefined);
      session.startTransaction({ readConcern: { level: 'snapshot' } });
      await c.findOne({}, { session });
      await c.findOne({}, { session });
      await session.commitTransaction();
      assert.ok(seen[2].command.readConcern.afterClusterTime);
      assert.equal(seen[3].command.readConcern, undefined);
    });

    it('every reply has $clusterTime and operationTime, and a newer $clusterTime is taken over', async () => {
      const { client, c, seen } = await observed();
      await c.insertOne({ _id: 1 });
      await c.findOne();
      for (const { reply } of seen) assert.ok(reply.operationTime && reply.$clusterTime.clusterTime && reply.$clusterTime.signature);
      assert.deepEqual(seen[1].command.$clusterTime.clusterTime, seen[0].reply.$clusterTime.clusterTime);
      const other = client.startSession();
      other.advanceClusterTime(seen[1].reply.$clusterTime);
      other.advanceOperationTime(seen[1].reply.operationTime);
      assert.equal((await c.findOne({}, { session: other }))._id, 1);
    });
  });

  describe('snapshot sessions', () => {
    it('learn their time from the first read and send it on', async () => {
      const { client, c, seen } = await observed();
      await c.insertMany(range(6).map((i) => ({ _id: i, n: 0 })));
      seen.length = 0;
      const session = client.startSession({ snapshot: true });
      await c.find({}, { session }).toArray();
      await c.updateMany({}, { $inc: { n: 1 } });
      const [{ sum }] = await c.aggregate([{ $group: { _id: null, sum: { $sum: '$n' } } }], { session }).toArray();
      const values = await c.distinct('n', {}, { session });
      assert.deepEqual([sum, values], [0, [0]]);
      const reads = seen.filter(({ name }) => name !== 'update');
      assert.deepEqual(reads.map(({ command }) => command.readConcern.level), ['snapshot', 'snapshot', 'snapshot']);
      assert.equal(reads[0].command.readConcern.atClusterTime, undefined);
      const time = reads[0].reply.cursor.atClusterTime;
      assert.ok(time);
      for (const { command } of reads.slice(1)) assert.deepEqual(command.readConcern.atClusterTime, time);
      assert.deepEqual(reads[2].reply.atClusterTime, time);
    });

    it('do not write and have no transactions', async () => {
      const { client, c } = await observed();
      const session = client.startSession({ snapshot: true });
      assert.throws(() => session.startTransaction());
      await c.findOne({}, { session });
      const error = await errorOf(c.insertOne({ _id: 1 }, { session }));
      assert.ok(error);
      assert.equal(await c.countDocuments(), 0);
    });
  });
});
