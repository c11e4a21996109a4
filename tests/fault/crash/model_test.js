// Tests of the crash test's own judgement: what it must find wrong, and what it must let pass.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { Documents, Switches, UniqueValues } = require('./model.js');

const doc = (n) => ({ _id: 'a', n });

describe('the crash test\'s model', () => {
  function settled(prepare, found) {
    const documents = new Documents();
    documents.begin([['a', doc(1)]]);
    documents.acknowledge([['a', doc(1)]]);
    prepare(documents);
    return documents.settle(found);
  }

  it('an acknowledged document must be there as it was', () => {
    assert.deepEqual(settled(() => {}, [doc(1)]), []);
    assert.equal(settled(() => {}, []).length, 1);
    assert.equal(settled(() => {}, [doc(2)]).length, 1);
    assert.ok(settled(() => {}, [doc(1), doc(1)]).length >= 1);
    assert.equal(settled(() => {}, [doc(1), { _id: 'b' }]).length, 1);
  });

  it('an open statement allows both states and no other', () => {
    const open = (documents) => documents.begin([['a', doc(2)]]);
    assert.deepEqual(settled(open, [doc(1)]), []);
    assert.deepEqual(settled(open, [doc(2)]), []);
    assert.equal(settled(open, [doc(3)]).length, 1);
    assert.equal(settled(open, []).length, 1);
    assert.deepEqual(settled((documents) => documents.begin([['a', null]]), []), []);
  });

  it('a refused statement allows the old state only', () => {
    const refused = (documents) => { documents.begin([['a', doc(2)]]); documents.refuse([['a', doc(2)]]); };
    assert.deepEqual(settled(refused, [doc(1)]), []);
    assert.equal(settled(refused, [doc(2)]).length, 1);
  });

  it('what was found counts from then on', () => {
    const documents = new Documents();
    documents.begin([['a', doc(1)]]);
    assert.deepEqual(documents.settle([]), []);
    assert.equal(documents.settle([doc(1)]).length, 1);
  });

  it('unique values: no doubles, and nothing that was told of is gone', () => {
    const values = new UniqueValues();
    values.inserted.set('x', 1);
    values.taken.add(1).add(2);
    assert.deepEqual(values.settle([{ _id: 'x', u: 1 }, { _id: 'y', u: 2 }]), []);
    assert.equal(values.settle([{ _id: 'x', u: 1 }, { _id: 'y', u: 2 }, { _id: 'z', u: 2 }]).length, 1);
    assert.equal(values.settle([{ _id: 'x', u: 1 }]).length, 3);
  });

  it('switches', () => {
    const switches = new Switches();
    switches.set('a', undefined);
    assert.deepEqual(switches.settle('a', true), []);
    assert.equal(switches.settle('a', false).length, 1);
  });
});
