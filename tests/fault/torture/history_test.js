// The checker finds what snapshot isolation forbids, and nothing else.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { History } = require('./history.js');

// transactions: [appends, reads as an object, outcome]; lists: the final ones as an object.
function anomalies(transactions, lists) {
  const history = new History();
  for (const [appends, reads, outcome] of transactions) {
    Object.assign(history.begin(appends), { reads: new Map(Object.entries(reads)), outcome });
  }
  return history.anomalies(new Map(Object.entries(lists)));
}

describe('anomalies', () => {
  const good = [[['a', 'b'], { a: [], b: [] }, 'committed'], [['a'], { a: [1], b: [1] }, 'committed'], [['b'], {}, 'unknown']];
  const cases = [
    ['a good history', good, { a: [1, 2], b: [1] }, null],
    ['an unknown outcome that happened', good, { a: [1, 2], b: [1, 3] }, null],
    ['a lost append', good, { a: [1], b: [1] }, /2 was committed/],
    ['half a transaction', [[['a', 'b'], {}, 'unknown']], { a: [1], b: [] }, /by halves/],
    ['an aborted append (G1a)', [[['a'], {}, 'aborted']], { a: [1], b: [] }, /aborted/],
    ['a read that no list explains (G1b)', [[['a'], { a: [] }, 'committed'], [[], { a: [1, 9] }, 'committed']], { a: [1], b: [] }, /no beginning/],
    ['a torn snapshot (G-single)', [[['a', 'b'], {}, 'committed'], [[], { a: [1], b: [] }, 'committed']], { a: [1], b: [1] }, /but not in b/],
    ['a lost update', [[['a'], { a: [] }, 'committed'], [['a'], { a: [] }, 'committed']], { a: [1, 2], b: [] }, /lost updates/],
    ['a double append', [[['a'], {}, 'committed']], { a: [1, 1], b: [] }, /twice/],
  ];
  for (const [name, transactions, lists, wanted] of cases) {
    it(name, () => {
      const found = anomalies(transactions, lists);
      if (wanted === null) return assert.deepEqual(found, []);
      return assert.match(found.join('\n'), wanted);
    });
  }
});
