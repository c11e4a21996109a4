// What the database must contain: the state of every document as acknowledged, and for statements whose outcome is unknown both
// states that are allowed.
//
// Every document belongs to one client, which sends one statement at a time, so a document has at most one unknown outcome.
'use strict';

const assert = require('node:assert/strict');

class Documents {
  constructor() {
    this.known = new Map();    // id → document; an id that is absent has no entry
    this.pending = new Map();  // id → the document (or null: absent) that a statement in flight may have left
  }

  get(id) { return this.known.get(id) ?? null; }

  // A statement that sets `changes` (id → document or null) is about to be sent.
  begin(changes) {
    for (const [id, document] of changes) this.pending.set(id, document);
  }

  // The statement was acknowledged.
  acknowledge(changes) {
    for (const [id, document] of changes) {
      this.set(id, document);
      this.pending.delete(id);
    }
  }

  // The statement did nothing, the server says.
  refuse(changes) {
    for (const [id] of changes) this.pending.delete(id);
  }

  set(id, document) {
    if (document === null) this.known.delete(id);
    else this.known.set(id, document);
  }

  // Compares with all documents found and takes over what is there. Returns what is wrong, as texts.
  settle(found) {
    const wrong = [];
    const there = new Map(found.map((d) => [d._id, d]));
    if (there.size !== found.length) wrong.push(`${found.length - there.size} documents appear twice`);
    for (const id of new Set([...this.known.keys(), ...this.pending.keys(), ...there.keys()])) {
      const seen = there.get(id) ?? null;
      const allowed = [this.get(id), ...(this.pending.has(id) ? [this.pending.get(id)] : [])];
      if (!allowed.some((d) => same(d, seen))) {
        wrong.push(`${id} is ${show(seen)}, expected ${allowed.map(show).join(' or ')}`);
      }
      this.set(id, seen);
    }
    this.pending.clear();
    return wrong;
  }
}

function same(a, b) {
  if (a === null || b === null) return a === b;
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

function show(document) {
  if (document === null) return 'absent';
  const { pad, ...rest } = document;
  return JSON.stringify({ ...rest, ...(pad !== undefined && { pad: `${pad.slice(0, 3)}…${pad.length}` }) });
}

// Values that a unique index keeps apart; documents are only added, never removed.
class UniqueValues {
  constructor() {
    this.taken = new Set();     // values that an acknowledged insert or a duplicate-key error has told of
    this.inserted = new Map();  // _id → value of acknowledged inserts
  }

  settle(found) {
    const wrong = [];
    const values = found.map((d) => d.u);
    const there = new Set(values);
    if (there.size !== values.length) wrong.push('the unique index holds one value twice');
    for (const value of this.taken) if (!there.has(value)) wrong.push(`unique value ${value}, told of before, is absent`);
    const byId = new Map(found.map((d) => [d._id, d.u]));
    for (const [id, value] of this.inserted) if (byId.get(id) !== value) wrong.push(`unique document ${id} is absent`);
    for (const d of found) {
      this.taken.add(d.u);
      this.inserted.set(d._id, d.u);
    }
    return wrong;
  }
}

// Things that are either there or not: indexes, collections.
class Switches {
  constructor() {
    this.state = new Map();  // name → true, false or undefined (unknown)
  }

  set(name, value) { this.state.set(name, value); }

  settle(name, there) {
    const expected = this.state.get(name);
    this.state.set(name, there);
    return expected === undefined || expected === there ? [] : [`${name} is ${there ? 'there' : 'absent'}, expected the opposite`];
  }
}

module.exports = { Documents, Switches, UniqueValues };
