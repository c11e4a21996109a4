// Joins that every shard does by itself give what joins through the router give.
'use strict';

const assert = require('node:assert/strict');
const { describe, it, before } = require('node:test');
const { Decimal128, Double, Int32, Long, ObjectId } = require('mongodb');
const { useCluster, errorOf, range } = require('../lib/cluster.js');
const { Random } = require('../lib/random.js');
const { TINY_MEMORY } = require('../lib/memory.js');

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const ROWS = 400;
const OTHERS = 300;
const id = new ObjectId();

// Values of which some are equal in different types, and undefined for a missing field.
const VALUES = [
  undefined, null, new Int32(1), new Double(1), Long.fromNumber(1), Decimal128.fromString('1'), Decimal128.fromString('1.0'),
  new Double(1.5), Decimal128.fromString('1.5'), new Int32(0), new Double(-0), 'a', 'A', '', true, new Date(0), id,
  { x: new Int32(1) }, { x: new Double(1) }, { x: Long.fromNumber(2) }, /a/, ...range(20).map((i) => new Int32(i)),
];

function withKey(row, name, value) {
  if (value !== undefined) row[name] = value;
  return row;
}

const stagesOf = (part) => part.map((stage) => Object.keys(stage)[0]);
const isJoined = (name) => name === '$lookup' || name === '$_lookupUnwinding';

// Found documents have no order of their own.
function canonical(rows) {
  const text = (value) => JSON.stringify(value);
  for (const row of rows) if (Array.isArray(row.found)) row.found.sort((a, b) => (text(a) < text(b) ? -1 : 1));
  return rows.map(text).sort();
}

for (const [memory, args] of [['enough memory', []], ['memory for a few rows', TINY_MEMORY]]) describe(`local joins, ${memory} (SEED=${SEED})`, () => {
  const cluster = useCluster({ shards: 3, args });
  let own, other, view;  // sharded by a.k and by key; a view, which is read through the router

  before(async () => {
    const random = new Random(SEED);
    own = await cluster.sharded({ 'a.k': 'hashed' });
    other = await cluster.sharded({ key: 'hashed', n: 1 });
    await own.insertMany(range(ROWS).map((i) => ({ _id: i, a: withKey({}, 'k', random.pick(VALUES)), g: random.below(5), tags: range(random.below(3)) })));
    await other.insertMany(range(OTHERS).map((i) => withKey({ _id: i, n: random.below(10) }, 'key', random.pick(VALUES))));
    view = `${other.collectionName}_view`;
    await cluster.db.createCollection(view, { viewOn: other.collectionName, pipeline: [] });
  });

  const join = (extra = {}) => (from) => [{ $lookup: { from, localField: 'a.k', foreignField: 'key', as: 'found', ...extra } }];
  const local = {
    'a plain join': join(),
    'behind stages that keep the key': (from) => [{ $match: { g: { $lt: 4 } } }, { $set: { g2: { $add: ['$g', 1] } } }, { $unwind: '$tags' }, ...join()(from)],
    'before others': (from) => [...join()(from), { $match: { 'found.n': { $gt: 3 } } }, { $group: { _id: '$g', n: { $sum: { $size: '$found' } } } }],
    'unwound': (from) => [...join()(from), { $unwind: { path: '$found', preserveNullAndEmptyArrays: true, includeArrayIndex: 'no' } }, { $unset: 'no' }],
    'with a pipeline of its own': join({ let: { g: '$g' }, pipeline: [{ $match: { $expr: { $gt: ['$n', '$$g'] } } }, { $project: { n: 1 } }] }),
    'with a group in it': join({ pipeline: [{ $group: { _id: '$n', count: { $sum: 1 } } }] }),
    'with a limit in it': join({ let: { g: '$g' }, pipeline: [{ $sort: { n: 1, _id: 1 } }, { $limit: 2 }, { $set: { mine: '$$g' } }] }),
    'twice': (from) => [...join()(from), ...join({ as: 'again', pipeline: [{ $count: 'n' }] })(from)],
  };
  for (const [name, make] of Object.entries(local)) {
    it(`is the same: ${name}`, async () => {
      const { splitPipeline } = await own.aggregate(make(other.collectionName)).explain('queryPlanner');
      assert.ok(stagesOf(splitPipeline.shardsPart).some(isJoined), JSON.stringify(splitPipeline));
      assert.ok(!stagesOf(splitPipeline.mergerPart).some(isJoined), JSON.stringify(splitPipeline));
      const actual = canonical(await own.aggregate(make(other.collectionName)).toArray());
      const expected = canonical(await own.aggregate(make(view)).toArray());
      assert.ok(actual.length > 0);
      assert.deepEqual(actual, expected);
    });
  }

  const routed = {
    'a changed key': (from) => [{ $set: { 'a.k': { $add: ['$g', 1] } } }, ...join()(from)],
    'a key made by a group': (from) => [{ $group: { _id: '$g', a: { $first: '$a' } } }, ...join()(from)],
    'another local field': () => join({ localField: 'g' })(other.collectionName),
    'another foreign field': () => join({ foreignField: 'n' })(other.collectionName),
    'a pipeline without fields': (from) => [{ $lookup: { from, pipeline: [{ $count: 'n' }], as: 'found' } }],
    'a join within the join': (from) => join({ pipeline: [{ $lookup: { from, localField: 'n', foreignField: 'n', as: 'x' } }] })(from),
    'behind a sort': (from) => [{ $sort: { g: 1, _id: 1 } }, ...join()(from)],
  };
  for (const [name, make] of Object.entries(routed)) {
    it(`goes through the router: ${name}`, async () => {
      const { splitPipeline } = await own.aggregate(make(other.collectionName)).explain('queryPlanner');
      assert.ok(!stagesOf(splitPipeline.shardsPart).some(isJoined), JSON.stringify(splitPipeline));
    });
  }

  it('a collation is no matter of hashes', async () => {
    const options = { collation: { locale: 'en', strength: 2 } };
    const { splitPipeline } = await own.aggregate(join()(other.collectionName), options).explain('queryPlanner');
    assert.ok(!stagesOf(splitPipeline.shardsPart).some(isJoined));
  });

  it('a key that is pinned runs on one shard from end to end', async () => {
    const make = (from) => [{ $match: { 'a.k': 7 } }, ...join()(from), { $sort: { _id: 1 } }, { $limit: 3 }];
    const explained = await own.aggregate(make(other.collectionName)).explain('executionStats');
    assert.equal(explained.splitPipeline, null);
    assert.equal(Object.keys(explained.shards).length, 1);
    assert.deepEqual(canonical(await own.aggregate(make(other.collectionName)).toArray()), canonical(await own.aggregate(make(view)).toArray()));
  });

  it('small batches', async () => {
    const rows = await own.aggregate(join()(other.collectionName), { batchSize: 7 }).toArray();
    assert.deepEqual(canonical(rows), canonical(await own.aggregate(join()(view)).toArray()));
  });

  it('reads the snapshot of its transaction, with its own writes', async () => {
    const [a, b] = [await cluster.sharded(), await cluster.sharded()];
    await a.insertMany(range(30).map((_id) => ({ _id })));
    await b.insertMany(range(30).map((_id) => ({ _id, v: 'old' })));
    const pipeline = [{ $lookup: { from: b.collectionName, localField: '_id', foreignField: '_id', as: 'b' } }, { $unwind: '$b' }, { $group: { _id: '$b.v', n: { $sum: 1 } } }, { $sort: { _id: 1 } }];
    await cluster.client.withSession(async (session) => {
      session.startTransaction();
      await a.findOne({}, { session });
      await b.updateMany({ _id: { $gte: 10 } }, { $set: { v: 'new' } });
      assert.deepEqual(await a.aggregate(pipeline, { session }).toArray(), [{ _id: 'old', n: 30 }]);
      await b.updateOne({ _id: 3 }, { $set: { v: 'own' } }, { session });
      assert.deepEqual(await a.aggregate(pipeline, { session }).toArray(), [{ _id: 'old', n: 29 }, { _id: 'own', n: 1 }]);
      await session.abortTransaction();
    });
    assert.deepEqual(await a.aggregate(pipeline).toArray(), [{ _id: 'new', n: 20 }, { _id: 'old', n: 10 }]);
  });

  it('a collection that is made again is seen', async () => {
    const [a, b] = [await cluster.sharded(), await cluster.sharded()];
    await a.insertMany(range(9).map((_id) => ({ _id })));
    const pipeline = [{ $lookup: { from: b.collectionName, localField: '_id', foreignField: '_id', as: 'b' } }, { $match: { b: { $ne: [] } } }];
    for (const count of [0, 4, 7]) {
      await b.drop();
      if (count === 4) await cluster.admin({ shardCollection: b.namespace, key: { _id: 'hashed' } });
      if (count > 0) await b.insertMany(range(count).map((_id) => ({ _id })));
      await b.createIndex({ x: 1 });
      assert.equal((await a.aggregate(pipeline).toArray()).length, count);
    }
  });

  it('collections that lie whole on one shard', async () => {
    const lists = [];
    for (let i = 0; i < 6; ++i) {
      lists.push(cluster.collection());
      await lists[i].insertMany(range(50).map((_id) => ({ _id, k: (_id * (i + 3)) % 10, next: (_id + i) % 10 })));
    }
    const [first] = lists;
    const make = (from) => ({
      lookup: [{ $lookup: { from, localField: 'k', foreignField: 'next', as: 'found' } }],
      dependent: [{ $lookup: { from, let: { k: '$k' }, pipeline: [{ $match: { $expr: { $gt: ['$next', '$$k'] } } }, { $limit: 2 }], as: 'found' } }],
      graph: [{ $graphLookup: { from, startWith: '$k', connectFromField: 'next', connectToField: 'k', as: 'found', maxDepth: 2 } }],
      union: [{ $unionWith: { coll: from, pipeline: [{ $match: { k: { $lt: 5 } } }] } }, { $group: { _id: '$k', n: { $sum: 1 } } }],
    });
    let together = 0;
    for (const list of lists) {
      const through = `${list.collectionName}_view`;
      await cluster.db.createCollection(through, { viewOn: list.collectionName, pipeline: [] });
      const shardOf = async (of) => (await of.find().explain()).queryPlanner.winningPlan.shards[0].shardName;
      const same = await shardOf(first) === await shardOf(list);
      together += same ? 1 : 0;
      for (const [name, pipeline] of Object.entries(make(list.collectionName))) {
        const { splitPipeline } = await first.aggregate(pipeline).explain('queryPlanner');
        assert.equal(splitPipeline === null, same, name);
        const actual = canonical(await first.aggregate(pipeline).toArray());
        assert.deepEqual(actual, canonical(await first.aggregate(make(through)[name]).toArray()), name);
      }
    }
    assert.ok(together >= 1);  // the first with itself
  });

  it('errors of the join are those of the router', async () => {
    const make = (from) => join({ pipeline: [{ $project: { x: { $divide: [1, { $subtract: ['$n', '$n'] }] } } }] })(from);
    const [a, b] = [await errorOf(own.aggregate(make(other.collectionName)).toArray()), await errorOf(own.aggregate(make(view)).toArray())];
    assert.equal(a.code, b.code);
  });
});
