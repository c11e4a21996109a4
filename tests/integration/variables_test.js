// Variables of commands: `let` is evaluated once, $$NOW and $$CLUSTER_TIME are one moment on all shards.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { useCluster, errorOf } = require('../lib/cluster.js');

describe('variables of commands', () => {
  const cluster = useCluster();
  const filled = async () => {
    const c = await cluster.sharded();
    await c.insertMany(Array.from({ length: 200 }, (_, i) => ({ _id: i, n: i % 10 })));
    return c;
  };

  it('are expressions, evaluated before any document is read', async () => {
    const c = await filled();
    const let_ = { three: { $add: [1, 2] }, six: { $multiply: ['$$three', 2] } };
    const isSix = { $expr: { $eq: ['$n', '$$six'] } };
    assert.equal((await c.find(isSix, { let: let_ }).toArray()).length, 20);
    assert.equal((await c.aggregate([{ $match: isSix }, { $set: { t: '$$three' } }], { let: let_ }).toArray())[0].t, 3);
    const updated = await c.updateMany(isSix, [{ $set: { six: '$$six' } }], { let: let_ });
    assert.equal(updated.modifiedCount, 20);
    const changed = await c.findOneAndUpdate(isSix, [{ $set: { three: '$$three' } }], { let: let_, returnDocument: 'after' });
    assert.equal(changed.three, 3);
    assert.equal((await c.deleteMany(isSix, { let: let_ })).deletedCount, 20);
    assert.match(JSON.stringify(await c.find(isSix, { let: let_ }).explain()), /queryPlanner/);
  });

  it('are refused when they read documents or have a system name', async () => {
    const c = await filled();
    const codeOf = async (wrong) => (await errorOf(c.find({}, { let: wrong }).toArray())).code;
    assert.equal(await codeOf({ a: '$n' }), 4890500);
    assert.equal(await codeOf({ a: '$$ROOT' }), 4890500);
    assert.equal(await codeOf({ NOW: 1 }), 9);
    assert.equal(await codeOf({ a: '$$b', b: 1 }), 17276);
  });

  it('have one random value for all documents', async () => {
    const c = await filled();
    const rows = await c.aggregate([{ $project: { r: '$$r' } }], { let: { r: { $rand: {} } } }).toArray();
    assert.equal(new Set(rows.map((row) => row.r)).size, 1);
  });

  it('of the system are the same on every shard, and in the pipelines of other collections', async () => {
    const c = await filled();
    const stages = [
      { $lookup: { from: c.collectionName, pipeline: [{ $limit: 1 }, { $project: { at: '$$NOW' } }], as: 'other' } },
      { $project: { now: '$$NOW', time: '$$CLUSTER_TIME', other: { $first: '$other.at' } } },
    ];
    const rows = await c.aggregate(stages).toArray();
    assert.equal(rows.length, 200);
    assert.equal(new Set(rows.flatMap((row) => [row.now.getTime(), row.other.getTime()])).size, 1);
    assert.equal(new Set(rows.map((row) => row.time.toString())).size, 1);
    await c.updateMany({}, [{ $set: { at: '$$NOW' } }]);
    assert.equal((await c.distinct('at')).length, 1);
    await c.updateMany({}, { $currentDate: { at: true, stamp: { $type: 'timestamp' } } });
    assert.equal((await c.distinct('at')).length, 1);
    assert.equal((await c.distinct('stamp')).length, 1);
  });
});
