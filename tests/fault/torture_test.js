// The torture of transactions, short; longer: ./dev torture --minutes N.
'use strict';

const assert = require('node:assert/strict');
const { it } = require('node:test');
const { Torture } = require('./torture/torture.js');

const SECONDS = 45;

it('transactions survive what happens to routers and shards', async () => {
  const seed = 1 + Math.floor(Math.random() * 2 ** 31);
  const torture = new Torture({ seconds: SECONDS, seed });
  const problems = await torture.run();
  assert.deepEqual(problems, [], `seed ${seed}, data in ${torture.cluster.folder}`);
  const { transfers, sums, appends, swaps, numbers, kills } = torture.counts;
  for (const count of [transfers, sums, appends, swaps, numbers, kills]) assert.ok(count > 0, JSON.stringify(torture.counts));
  await torture.remove();
});
