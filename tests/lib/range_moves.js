// Lets a shard leave and come back, and waits until the balancer has moved what that takes.
'use strict';

const assert = require('node:assert/strict');

const PATIENCE_MS = 120_000;
const POLL_MS = 50;

async function until(what, check) {
  for (const end = Date.now() + PATIENCE_MS; !(await check());) {
    assert.ok(Date.now() < end, `${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function newestRanges(client) {
  const [newest] = await client.db('config').collection('assignments').find().sort({ version: -1 }).limit(1).toArray();
  return newest;
}

// True when the shard owns ranges of the newest row if and only if it is to, and every collection has these.
async function isBalanced(client, shard, owns) {
  const newest = await newestRanges(client);
  if (newest.ranges.some((range) => range.shard === shard) !== owns) return false;
  const config = client.db('config');
  if (await config.collection('catalog').countDocuments({ assignment: { $exists: true, $ne: newest._id } }) > 0) return false;
  return await config.collection('jobs').countDocuments({ kind: 'balancing' }) === 0;
}

// Sends away what a shard has, or gives it its share again.
async function setDraining(client, shard, on) {
  const name = `shard${shard}`;
  await client.db('admin').command(on ? { startShardDraining: name } : { stopShardDraining: name });
}

async function move(client, shard, away) {
  await setDraining(client, shard, away);
  await until(`${away ? 'leaving' : 'coming back'} of shard${shard}`, () => isBalanced(client, shard, !away));
}

module.exports = { until, newestRanges, isBalanced, setDraining, move };
