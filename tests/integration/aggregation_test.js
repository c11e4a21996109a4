// Pipelines give the same over a collection on one shard and over one that is spread over three.
'use strict';

const assert = require('node:assert/strict');
const { describe, it, before } = require('node:test');
const { useCluster, range } = require('../lib/cluster.js');
const { TINY_MEMORY } = require('../lib/memory.js');
const { Random } = require('../lib/random.js');

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const PIPELINES = 150;

// Stages over rows {_id, g, h, v, t, tags}, that leave such rows behind.
function middleStage(random, other) {
  return random.pick([
    () => ({ $match: { v: { $gte: random.below(60) } } }),
    () => ({ $set: { w: { $add: ['$v', random.below(5)] } } }),
    () => ({ $unset: 'tags' }),
    () => ({ $redact: { $cond: [{ $lt: ['$h', random.below(5)] }, '$$KEEP', '$$PRUNE'] } }),
    () => ({ $lookup: { from: other, localField: 'g', foreignField: 'k', as: 'found' } }),
    () => ({ $lookup: { from: other, localField: 'g', foreignField: 'k', as: 'found', pipeline: [{ $match: { v: { $gt: random.below(20) } } }] } }),
    () => ({
      $lookup: {
        from: other, let: { g: '$g' }, as: 'found',
        pipeline: [{ $match: { $expr: { $eq: ['$k', '$$g'] } } }, { $sort: { _id: 1 } }, { $limit: 1 }],
      },
    }),
    () => ({ $unionWith: { coll: other, pipeline: [{ $match: { _id: { $lt: random.below(1010) } } }] } }),
    () => ({
      $setWindowFields: {
        partitionBy: '$g', sortBy: { _id: 1 },
        output: {
          run: { $sum: '$v', window: { documents: ['unbounded', 'current'] } },
          near: { $max: '$v', window: { documents: [-2, 1] } },
          no: { $documentNumber: {} },
        },
      },
    }),
    () => ({ $graphLookup: { from: other, startWith: '$g', connectFromField: 'next', connectToField: 'k', as: 'chain', maxDepth: 2 } }),
  ])();
}

function lastStages(random) {
  return random.pick([
    () => [],
    () => [{ $group: { _id: '$g', n: { $sum: 1 }, s: { $sum: '$v' }, a: { $avg: '$h' }, top: { $top: { sortBy: { v: -1, _id: 1 }, output: '$_id' } } } }],
    () => [{ $group: { _id: '$h', m: { $median: { input: '$v', method: 'approximate' } }, d: { $stdDevPop: '$h' } } },
      { $set: { d: { $round: ['$d', 9] } } }],
    () => [{ $sort: { v: -1, _id: 1 } }, { $group: { _id: '$g', first: { $first: '$_id' }, last: { $lastN: { input: '$v', n: 2 } } } }],
    () => [{ $bucket: { groupBy: '$v', boundaries: [0, 20, 50], default: 'rest' } }],
    () => [{ $bucketAuto: { groupBy: '$_id', buckets: random.between(1, 6) } }],
    () => [{ $sort: { v: 1, _id: 1 } }, { $skip: random.below(10) }, { $limit: random.between(1, 20) }],
    () => [{ $facet: { n: [{ $count: 'n' }], by: [{ $sortByCount: '$h' }, { $sort: { count: 1, _id: 1 } }] } }],
    () => [{ $group: { _id: '$g', v: { $max: '$v' } } }, { $densify: { field: 'v', range: { step: 7, bounds: [0, 100] } } }],
  ])();
}

// Found documents have no order of their own.
function canonical(rows) {
  const text = (value) => JSON.stringify(value);
  for (const row of rows) {
    for (const field of ['found', 'chain']) row[field]?.sort((a, b) => (text(a) < text(b) ? -1 : 1));
  }
  return rows.map(text).sort();
}

// Sharded by the fields of the lookups, the shards join by themselves.
const KINDS = [
  ['enough memory', [], {}],
  ['memory for a few rows', TINY_MEMORY, {}],
  ['lookups by the shard key', [], { own: { g: 'hashed' }, other: { k: 'hashed' } }],
];

for (const [memory, args, keys] of KINDS) describe(`aggregations on one shard and on three, ${memory} (SEED=${SEED})`, () => {
  const cluster = useCluster({ shards: 3, args });
  let single, spread, otherSingle, otherSpread;

  before(async () => {
    const random = new Random(SEED);
    const rows = range(300).map((i) => ({
      _id: i, g: random.below(8), h: random.below(5), v: random.below(100), t: new Date(i * 3_600_000), tags: range(random.below(3)),
    }));
    const others = range(20).map((i) => ({ _id: 1000 + i, k: i % 10, g: i % 3, h: 1, v: i, next: (i * 3) % 10 }));
    single = cluster.collection();
    otherSingle = cluster.collection();
    spread = await cluster.sharded(keys.own);
    otherSpread = await cluster.sharded(keys.other);
    for (const collection of [single, spread]) await collection.insertMany(rows);
    for (const collection of [otherSingle, otherSpread]) await collection.insertMany(others);
  });

  it('agree', async () => {
    const random = new Random(SEED + 1);
    for (let i = 0; i < PIPELINES; ++i) {
      const seed = random.below(2 ** 31);
      const make = (other) => {
        const own = new Random(seed);
        const stages = range(own.below(4)).map(() => middleStage(own, other));
        return [...stages, ...lastStages(own)];
      };
      const pipeline = make(otherSingle.collectionName);
      const expected = canonical(await single.aggregate(pipeline).toArray());
      const actual = canonical(await spread.aggregate(make(otherSpread.collectionName)).toArray());
      assert.deepEqual(actual, expected, JSON.stringify(pipeline));
    }
  });

  it('$out and $merge leave the same behind', async () => {
    const [a, b] = [cluster.collection(), cluster.collection()];
    await single.aggregate([{ $match: { v: { $lt: 50 } } }, { $out: a.collectionName }]).toArray();
    await spread.aggregate([{ $match: { v: { $lt: 50 } } }, { $out: b.collectionName }]).toArray();
    assert.deepEqual(canonical(await a.find().toArray()), canonical(await b.find().toArray()));
    await single.aggregate([{ $set: { m: 1 } }, { $merge: { into: a.collectionName, whenNotMatched: 'discard' } }]).toArray();
    await spread.aggregate([{ $set: { m: 1 } }, { $merge: { into: b.collectionName, whenNotMatched: 'discard' } }]).toArray();
    assert.deepEqual(canonical(await a.find().toArray()), canonical(await b.find().toArray()));
    assert.equal(await a.countDocuments({ m: 1 }), await a.countDocuments({}));
    const target = await cluster.sharded();
    await spread.aggregate([{ $merge: { into: target.collectionName } }]).toArray();
    assert.equal(await target.countDocuments({}), 300);
  });
});
