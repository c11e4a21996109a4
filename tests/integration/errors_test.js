// Errors as MongoDB's: code, codeName and message, and a connection that goes on after each.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { Long } = require('mongodb');
const { useCluster, errorOf } = require('../lib/cluster.js');

function nested(depth) {
  let document = { end: 1 };
  for (let i = 0; i < depth; ++i) document = { a: document };
  return document;
}

describe('errors', () => {
  const cluster = useCluster({ client: { maxPoolSize: 1 } });

  // command, database (test), code, codeName
  const cases = [
    [{ noSuchCommand: 1 }, 'test', 59, 'CommandNotFound'],
    [{ aggregate: 'c', pipeline: [{ $noSuchStage: {} }], cursor: {} }, 'test', 40324, 'Location40324'],
    [{ find: 'c', filter: { a: { $noSuchOperator: 1 } } }, 'test', 2, 'BadValue'],
    [{ find: 'c', filter: { $noSuchOperator: 1 } }, 'test', 2, 'BadValue'],
    [{ find: 'c', filter: 'text' }, 'test', 14, 'TypeMismatch'],
    [{ find: 'c', noSuchField: 1 }, 'test', 40415, null],
    [{ find: 'c', limit: 'text' }, 'test', 14, 'TypeMismatch'],
    [{ find: 'c', maxTimeMS: -1 }, 'test', 2, 'BadValue'],
    [{ find: 'c', filter: { a: { $in: 5 } } }, 'test', 2, 'BadValue'],
    [{ getMore: Long.fromNumber(123456), collection: 'c' }, 'test', 43, 'CursorNotFound'],
    [{ create: '$bad' }, 'test', 73, 'InvalidNamespace'],
    [{ create: '' }, 'test', 73, 'InvalidNamespace'],
    [{ shardCollection: 'test.c', key: { a: 'hashed' } }, 'test', 13, 'Unauthorized'],
    [{ shardCollection: 'test.c', key: { a: 'hashed', b: 'hashed' } }, 'admin', null, null],
    [{ dropIndexes: 'missing', index: '*' }, 'test', 26, 'NamespaceNotFound'],
    [{ collStats: 5 }, 'test', null, null],
    [{ aggregate: 'c', pipeline: [{}], cursor: {} }, 'test', 40323, null],
    [{ aggregate: 'c', pipeline: [] }, 'test', 9, 'FailedToParse'],
    [{ insert: 'c', documents: [] }, 'test', 16, 'InvalidLength'],
    [{ renameCollection: 'test.missing', to: 'test.other' }, 'admin', 26, 'NamespaceNotFound'],
    [{ startTransaction: true, find: 'c' }, 'test', null, null],
  ];
  for (const [command, database, code, codeName] of cases) {
    it(`${JSON.stringify(command)} on ${database}`, async () => {
      const error = await errorOf(cluster.client.db(database).command(command));
      if (code !== null) assert.equal(error.code, code, error.message);
      if (codeName !== null) assert.equal(error.codeName, codeName);
      assert.ok(error.errmsg.length > 5, 'a message that says what is wrong');
      assert.equal((await cluster.admin({ ping: 1 })).ok, 1);
    });
  }

  it('an update cannot nest a document deeper than an insert', async () => {
    for (const c of [cluster.collection(), await cluster.sharded()]) {
      await c.insertOne({ _id: 1 });
      const path = (depth) => Array(depth).fill('a').join('.');
      for (const [filter, update, options] of [
        [{ _id: 1 }, { $set: { [path(300)]: 1 } }, {}],
        [{ _id: 1 }, { $push: { [path(190)]: 1 } }, {}],
        [{ _id: 1 }, [{ $set: { [path(190)]: 1 } }], {}],
        [{ _id: 2 }, { $set: { [path(300)]: 1 } }, { upsert: true }],
        [{ _id: 3, [path(190)]: 1 }, { $set: { v: 1 } }, { upsert: true }],
      ]) {
        assert.equal((await errorOf(c.updateOne(filter, update, options))).code, 15, JSON.stringify(options));
      }
      assert.deepEqual(await c.find().toArray(), [{ _id: 1 }]);
    }
  });

  // statement, code of its write error
  const writeErrors = [
    [{ update: 'e', updates: [{ q: { _id: 1 }, u: { $set: { _id: 2 } } }] }, 66],
    [{ update: 'e', updates: [{ q: { _id: 1 }, u: { $set: { a: 1 }, $inc: { a: 1 } } }] }, 40],
    [{ update: 'e', updates: [{ q: {}, u: { a: 1 }, multi: true }] }, 9],
    [{ update: 'e', updates: [{ q: { _id: 1 }, u: { $noSuchOperator: { a: 1 } } }] }, 9],
    [{ update: 'e', updates: [{ q: { _id: 1 }, u: { $inc: { text: 1 } } }] }, 14],
    [{ update: 'e', updates: [{ q: { _id: 1 }, u: { $push: { text: 1 } } }] }, 2],
    [{ insert: 'e', documents: [{ _id: 1 }] }, 11000],
    [{ insert: 'e', documents: [{ _id: [1] }] }, 53],
    [{ delete: 'e', deletes: [{ q: { a: { $noSuchOperator: 1 } }, limit: 1 }] }, 2],
  ];
  for (const [command, code] of writeErrors) {
    it(`write error of ${JSON.stringify(command)}`, async () => {
      await cluster.db.collection('e').replaceOne({ _id: 1 }, { text: 'x' }, { upsert: true });
      const error = await errorOf(cluster.db.command(command).then((reply) => {
        assert.equal(reply.ok, 1);
        throw Object.assign(new Error('write error'), reply.writeErrors?.[0] ?? { code: 'none' });
      }));
      assert.equal(error.code, code, error.message);
      assert.deepEqual(await cluster.db.collection('e').findOne({ _id: 1 }), { _id: 1, text: 'x' });
    });
  }

  it('documents of 180 levels are kept, deeper ones are refused', async () => {
    const c = cluster.collection();
    await c.insertOne(nested(178));
    assert.equal(await c.countDocuments(), 1);
    const error = await errorOf(c.insertOne(nested(185)));
    assert.ok(error.code > 0, error.message);
    assert.equal(await c.countDocuments(), 1);
  });

  it('unusual values come back as they were', async () => {
    const { Binary, Decimal128, Double, Int32, MaxKey, MinKey, ObjectId, Timestamp, BSONRegExp, Code } = require('mongodb');
    const c = cluster.collection();
    const values = [NaN, Infinity, -Infinity, new Double(-0), Long.MAX_VALUE, Long.MIN_VALUE, Decimal128.fromString('NaN'),
      Decimal128.fromString('1E+6144'), new Int32(-1), '', '\u0000', 'ümläut 文字 🙂', {}, [], [[], {}], null, true, new Date(0),
      new Date(-62135596800000), new MinKey(), new MaxKey(), new Timestamp({ t: 5, i: 7 }), new Binary(Buffer.from([0, 255]), 128),
      new ObjectId('000000000000000000000000'), new BSONRegExp('^a.*b$', 'i'), new Code('f()'), { '': 1, $x: 1, 'a.b': 2 }];
    const { EJSON } = require('mongodb').BSON;
    for (const [i, v] of values.entries()) {
      await c.insertOne({ _id: i, v }, { ignoreUndefined: true });
      const found = await c.findOne({ _id: i }, { promoteValues: false, promoteLongs: false, bsonRegExp: true });
      assert.equal(EJSON.stringify(found.v, { relaxed: false }), EJSON.stringify(v, { relaxed: false }), `value ${i}`);
    }
  });
});
