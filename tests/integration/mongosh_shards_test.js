// The real mongosh adds shards to a cluster of processes, drains and removes them; sh.status() shows the truth at every step.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, it } = require('node:test');
const { ProcessCluster } = require('../lib/processes.js');
const { mongosh, mongoshValue } = require('../lib/mongosh.js');

describe('mongosh: shards that come and go', () => {
  let cluster;
  before(async () => { cluster = await (await ProcessCluster.create({ shards: 2, routers: 1 })).start(); });
  after(() => cluster.remove());
  const shell = (script) => mongosh(cluster.routers[0].uri, script);
  const value = (script) => mongoshValue(cluster.routers[0].uri, script);

  // The shards in the text of sh.status(): [id, whether it is drained].
  async function status() {
    const output = await shell('sh.status()');
    const [, shards] = /shards\n\[([^]*?)\n?\]\n---/.exec(output) ?? assert.fail(output);
    return shards.split(/\n\s*\{/).filter((row) => row.includes('_id')).map((row) => [/_id: '(\w+)'/.exec(row)[1], /draining: true/.test(row)]);
  }

  it('sh.addShard', async () => {
    const shard = await cluster.newShard();
    const added = await value(`sh.stopBalancer(); return sh.addShard('${shard.address}');`);
    assert.deepEqual([added.shardAdded, added.ok], ['shard2', 1]);
    assert.deepEqual(await status(), [['shard0', false], ['shard1', false], ['shard2', false]]);
    const listed = await value('return db.adminCommand({ listShards: 1 }).shards.map((row) => [row._id, row.host, row.state]);');
    assert.deepEqual(listed[2], ['shard2', `shard2/${shard.address}`, 1]);
  });

  it('removeShard: started, ongoing, completed', async () => {
    const first = await value(`
      const t = db.getSiblingDB('t');
      t.c.insertMany([{ _id: 1 }, { _id: 2 }]);
      sh.moveCollection('t.c', 'shard2');
      return db.adminCommand({ removeShard: 'shard2' });`);
    assert.deepEqual([first.msg, first.state, first.shard, first.ok], ['draining started successfully', 'started', 'shard2', 1]);
    assert.deepEqual(await status(), [['shard0', false], ['shard1', false], ['shard2', true]]);
    const rest = await value(`
      const ongoing = db.adminCommand({ removeShard: 'shard2' });
      sh.moveCollection('t.c', 'shard1');
      const completed = db.adminCommand({ removeShard: 'shard2' });
      let gone;
      try { db.adminCommand({ removeShard: 'shard2' }); } catch (error) { gone = error.codeName; }
      return { ongoing, completed, gone, count: db.getSiblingDB('t').c.countDocuments() };`);
    assert.deepEqual([rest.ongoing.state, rest.ongoing.dbsToMove, rest.ongoing.collectionsToMove], ['ongoing', ['t'], ['t.c']]);
    assert.deepEqual([rest.completed.msg, rest.completed.state], ['removeshard completed successfully', 'completed']);
    assert.deepEqual([rest.gone, rest.count], ['ShardNotFound', 2]);
    assert.deepEqual(await status(), [['shard0', false], ['shard1', false]]);
  });
});
