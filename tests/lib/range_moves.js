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

// The ranges of a row: {begin, end, shard} with numbers that are exact.
function spansOf({ ranges }) {
  const bounds = [...ranges.map(({ min }) => BigInt(String(min))), 2n ** 63n];
  return ranges.map(({ shard }, i) => ({ begin: bounds[i], end: bounds[i + 1], shard }));
}

// What changed hands between two rows: {from, to, width}.
function changedHands(before, after) {
  const changed = [];
  for (const old of spansOf(before)) {
    for (const now of spansOf(after)) {
      const begin = old.begin > now.begin ? old.begin : now.begin;
      const end = old.end < now.end ? old.end : now.end;
      if (begin < end && old.shard !== now.shard) changed.push({ from: old.shard, to: now.shard, width: end - begin });
    }
  }
  return changed;
}

// Hashes that each shard owns.
function widthsOf(row) {
  const widths = new Map();
  for (const { begin, end, shard } of spansOf(row)) widths.set(shard, (widths.get(shard) ?? 0n) + end - begin);
  return widths;
}

// True while the balancer's move of a collection is under way and has copied something.
async function isMoving(client, ns) {
  if (await client.db('config').collection('jobs').countDocuments({ _id: ns, kind: 'balancing' }) === 0) return false;
  const { moves } = await client.db('admin').command({ clusterMoves: 1 });
  return moves.some((row) => row.ns === ns && Number(row.documents) > 0);
}

module.exports = { until, newestRanges, isBalanced, setDraining, move, isMoving, changedHands, widthsOf };
