// The whole cluster dies at every step of a move: it is done or undone afterwards, and all documents are there once.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { CLIENT_OPTIONS, range } = require('../lib/cluster.js');
const { Server } = require('../lib/server.js');

const NS = 'test.rows';
const ROWS = 3000;
const KEYS = [{ k: 'hashed' }, { _id: 'hashed' }];
// A job of resharding over three shards has a number of steps between these.
const PASSES_MIN = 20, PASSES_MAX = 60;

describe('a crash while a collection gets another shard key', () => {
  const server = new Server();
  let client;
  const connect = async () => { client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect(); };
  before(async () => {
    await server.start();
    await connect();
    await client.db('admin').command({ shardCollection: NS, key: KEYS[1] });
    await client.db('test').collection('rows').insertMany(range(ROWS).map((i) => ({ _id: i, k: i % 97, text: 'x'.repeat(50) })));
  });
  after(async () => {
    await client.close(true);
    await server.remove();
  });

  // Reshards with a crash at the point's pass number `passes`. True when it lived on.
  async function reshardWith(point, passes) {
    await client.close(true);
    await server.stop();
    await server.start({ env: { EVENKEEL_FAIL_POINTS: `${point}=crash:${passes + 1}` } });
    await connect();
    const key = async () => JSON.stringify((await client.db('config').collection('collections').findOne({ _id: NS })).key);
    const before = await key();
    const other = KEYS.find((one) => JSON.stringify(one) !== before);
    const resharded = await client.db('admin').command({ reshardCollection: NS, key: other }).then(() => true, () => false);
    if (!resharded) {
      await server.exited;
      await client.close(true);
      await server.start();
      await connect();
    }
    const now = await key();
    assert.ok(now === JSON.stringify(other) || (!resharded && now === before), now);
    await checkRows();
    return resharded;
  }

  async function checkRows() {
    const rows = client.db('test').collection('rows');
    assert.equal(await rows.countDocuments({}), ROWS);
    assert.equal(await rows.estimatedDocumentCount(), ROWS);
    assert.equal((await rows.distinct('_id')).length, ROWS);
    assert.equal(await rows.countDocuments({ k: 5 }), range(ROWS).filter((i) => i % 97 === 5).length);
    const { modifiedCount } = await rows.updateMany({ k: 7 }, { $inc: { n: 1 } });
    assert.equal(modifiedCount, range(ROWS).filter((i) => i % 97 === 7).length);
    const { valid, errors } = await client.db('test').command({ validate: 'rows', full: true });
    assert.ok(valid, JSON.stringify(errors));
    assert.equal(await client.db('config').collection('jobs').countDocuments({}), 0);
  }

  it('behind every step, until there is none left', async () => {
    let passes = 0;
    while (passes < PASSES_MAX && !await reshardWith('catalog_job_between_shards', passes)) ++passes;
    assert.ok(passes >= PASSES_MIN && passes < PASSES_MAX, `${passes} crashes`);
  });

  for (const [point, passes] of [
    ...[0, 1, 4].map((passes) => ['shard_move_between_slices', passes]),
    ['catalog_job_after_record', 0], ['catalog_job_before_last', 0],
  ]) {
    it(`${point}, ${passes} passes before`, async () => { assert.ok(!await reshardWith(point, passes)); });
  }
});
