// What must hold after every restart: each acknowledged write is there, nothing is half-applied, counts are exact, every index agrees
// with its documents, validate finds nothing.
'use strict';

const { MinKey } = require('mongodb');
const { INDEXES } = require('./load.js');

// Returns what is wrong, as texts; the model takes over what was found.
async function check(db, model) {
  const wrong = [];
  for (const [name, { collection, documents }] of Object.entries(model.collections)) {
    const found = await collection.find().toArray();
    wrong.push(...documents.settle(found).map((text) => `${name}: ${text}`));
    wrong.push(...await checkIndexes(name, collection, model.switches));
    wrong.push(...await checkCounts(db, collection, found.length));
  }
  const { collection, values } = model.unique;
  const found = await collection.find().toArray();
  wrong.push(...values.settle(found), ...await checkCounts(db, collection, found.length));
  wrong.push(...await checkTemporary(db, model.switches));
  return wrong;
}

async function checkIndexes(name, collection, switches) {
  const there = new Set((await collection.indexes()).map((index) => index.name));
  return Object.keys(INDEXES).flatMap((index) => switches.settle(`index ${name}.${index}`, there.has(index)));
}

// The counter, a scan, and a scan of each index must agree, and validate must be content.
async function checkCounts(db, collection, expected) {
  const name = collection.collectionName;
  const wrong = [];
  const counter = await collection.estimatedDocumentCount();
  if (counter !== expected) wrong.push(`${name}: the counter says ${counter}, a scan finds ${expected}`);
  for (const { name: index, key } of await collection.indexes()) {
    const [field, direction] = Object.entries(key)[0];
    if (typeof direction !== 'number') continue;
    const rows = await collection.find({ [field]: { $gte: new MinKey() } }, { hint: index, projection: { _id: 1 } }).toArray();
    if (rows.length !== expected) wrong.push(`${name}: index ${index} finds ${rows.length}, a scan ${expected}`);
  }
  const report = await db.command({ validate: name, full: true });
  if (!report.valid) wrong.push(`${name}: validate says ${JSON.stringify(report.errors ?? report)}`);
  return wrong;
}

// A collection that was dropped is away; one that was made has all its documents.
async function checkTemporary(db, switches) {
  const wrong = [];
  const there = new Set((await db.listCollections().toArray()).map((c) => c.name));
  for (const [key, expected] of switches.state) {
    const [kind, name] = key.split(' ');
    if (kind !== 'collection') continue;
    const count = await db.collection(name).countDocuments();
    if (expected === false && (there.has(name) || count > 0)) wrong.push(`${name} was dropped but is there with ${count} documents`);
    if (expected === true && count !== 20) wrong.push(`${name} has ${count} of 20 documents`);
    if (!there.has(name) && count > 0) wrong.push(`${name} has documents without a name`);
    if (expected === undefined) await db.collection(name).drop();
    switches.set(key, expected === true);
  }
  return wrong;
}

module.exports = { check };
