// {$meta: …} of record ids, index keys and sort keys, in find and in pipelines, on one shard and on three.
'use strict';

const assert = require('node:assert/strict');
const { before, describe, it } = require('node:test');
const { errorOf, range, useCluster } = require('../lib/cluster.js');

const ROWS = 30;
const recordId = { $meta: 'recordId' }, indexKey = { $meta: 'indexKey' }, sortKey = { $meta: 'sortKey' };

describe('metadata of rows', () => {
  const cluster = useCluster();
  const collections = {};
  before(async () => {
    collections.unsharded = cluster.collection();
    collections.sharded = await cluster.sharded();
    for (const c of Object.values(collections)) {
      await c.insertMany(range(ROWS).map((i) => ({ _id: i, a: i % 4, b: { c: ROWS - i } })));
      await c.createIndex({ a: 1, 'b.c': 1 });
    }
  });

  for (const kind of ['unsharded', 'sharded']) {
    // The record ids as showRecordId has them, by _id.
    const ids = async () => new Map((await collections[kind].find({}, { showRecordId: true }).toArray()).map((d) => [d._id, d.$recordId]));

    it(`${kind}: find`, async () => {
      const c = collections[kind];
      const wanted = await ids();
      assert.equal(new Set([...wanted.values()].map(String)).size, ROWS);
      // A projection of nothing but metadata keeps the other fields.
      for (const row of await c.find({}, { projection: { r: recordId } }).toArray()) {
        assert.deepEqual(row, { _id: row._id, a: row._id % 4, b: { c: ROWS - row._id }, r: wanted.get(row._id) });
      }
      for (const row of await c.find({ a: 2 }, { projection: { _id: 1, i: indexKey, r: recordId } }).toArray()) {
        assert.deepEqual(row, { _id: row._id, i: { a: 2, 'b.c': ROWS - row._id }, r: wanted.get(row._id) });
      }
      for (const row of await c.find({ a: 2 }, { projection: { b: 0, i: indexKey }, hint: { $natural: 1 } }).toArray()) assert.deepEqual(row, { _id: row._id, a: 2 });
      const sorted = await c.find({}, { projection: { k: sortKey, a: 1 }, sort: { a: -1, _id: 1 }, skip: 1, limit: 3 }).toArray();
      assert.deepEqual(sorted, [7, 11, 15].map((_id) => ({ _id, a: 3, k: [3, _id] })));
      assert.equal((await errorOf(c.find({}, { projection: { k: sortKey } }).toArray())).code, 2);
    });

    it(`${kind}: pipelines`, async () => {
      const c = collections[kind];
      const wanted = await ids();
      const rows = await c.aggregate([
        { $match: { a: 1 } }, { $sort: { 'b.c': 1 } }, { $limit: 2 }, { $project: { a: 1 } },
        { $set: { k: sortKey, r: recordId, i: indexKey } },
      ]).toArray();
      assert.deepEqual(rows, [29, 25].map((_id) => ({ _id, a: 1, k: [ROWS - _id], r: wanted.get(_id), i: { a: 1, 'b.c': ROWS - _id } })));
      // The last sort counts, also behind a merge; without one, and behind a group, there is nothing.
      const twice = await c.aggregate([{ $sort: { a: 1 } }, { $sort: { _id: -1 } }, { $skip: 1 }, { $limit: 2 }, { $project: { k: sortKey } }]).toArray();
      assert.deepEqual(twice, [28, 27].map((_id) => ({ _id, k: [_id] })));
      assert.deepEqual(await c.aggregate([{ $match: { _id: 3 } }, { $project: { k: sortKey } }]).toArray(), [{ _id: 3 }]);
      assert.deepEqual(await c.aggregate([{ $sort: { _id: 1 } }, { $group: { _id: 1 } }, { $set: { k: sortKey, r: recordId } }]).toArray(), [{ _id: 1 }]);
      const [group] = await c.aggregate([{ $match: { a: 0 } }, { $group: { _id: '$a', ids: { $addToSet: recordId } } }]).toArray();
      assert.deepEqual(group.ids.map(String).sort(), range(ROWS).filter((i) => i % 4 === 0).map((i) => String(wanted.get(i))).sort());
      const found = await c.aggregate([{ $match: { $expr: { $eq: [recordId, wanted.get(5)] } } }]).toArray();
      assert.deepEqual(found, [{ _id: 5, a: 1, b: { c: ROWS - 5 } }]);
      const [facet] = await c.aggregate([{ $match: { _id: { $in: [3, 4] } } }, { $sort: { _id: 1 } }, { $facet: { x: [{ $limit: 1 }, { $project: { r: recordId, k: sortKey } }], y: [{ $skip: 1 }] } }]).toArray();
      assert.deepEqual(facet, { x: [{ _id: 3, r: wanted.get(3), k: [3] }], y: [{ _id: 4, a: 0, b: { c: ROWS - 4 } }] });
    });
  }

  it('what only routers may ask for', async () => {
    for (const stage of [{ $_rowMeta: { recordId: true } }, { $_sortMeta: { a: 1 } }]) {
      const { code } = await errorOf(collections.sharded.aggregate([stage, { $project: { r: recordId } }]).toArray());
      assert.equal(code, 40324);
    }
  });

  it('rows of a view', async () => {
    const { db } = cluster;
    await db.createCollection('some_view', { viewOn: collections.sharded.collectionName, pipeline: [{ $match: { a: 1 } }] });
    const rows = await db.collection('some_view').find({}, { projection: { k: sortKey }, sort: { _id: 1 }, limit: 2 }).toArray();
    assert.deepEqual(rows.map(({ _id, k }) => [_id, k]), [[1, [1]], [5, [5]]]);
  });
});
