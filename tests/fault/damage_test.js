// Damaged files: a log that is cut off starts again with what is before the cut; a log damaged in the middle is refused.
'use strict';

const assert = require('node:assert/strict');
const { describe, it, afterEach } = require('node:test');
const fs = require('node:fs');
const path = require('node:path');
const { MongoClient } = require('mongodb');
const { Server } = require('../lib/server.js');
const { CLIENT_OPTIONS, errorOf, range } = require('../lib/cluster.js');

const COUNT = 60;
const FIRST_RECORD = 512;  // the layout of a segment: docs/data_layout.md
const HEADER_BYTES = 64;

// The newest segment of the log, as a path.
function newestSegment(data) {
  const found = fs.readdirSync(data, { recursive: true }).map(String).filter((name) => /^log-\d+$/.test(path.basename(name)));
  return path.join(data, found.sort().at(-1));
}

// Where the records of a segment begin: [offset, length] of each.
function recordsOf(file) {
  const bytes = fs.readFileSync(file);
  const records = [];
  for (let at = FIRST_RECORD; at + HEADER_BYTES <= bytes.length && bytes.readUInt32LE(at) !== 0;) {
    const length = HEADER_BYTES + Math.ceil(bytes.readUInt32LE(at + 4) / 8) * 8;
    const kind = bytes.readUInt32LE(at + 28);
    if (kind < 1 || kind > 3) break;
    records.push({ at, length });
    at += length;
  }
  return records;
}

function overwrite(file, at, bytes) {
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, bytes, 0, bytes.length, at);
  fs.closeSync(fd);
}

describe('damaged logs', () => {
  let server;
  afterEach(() => server.remove());

  // A server with COUNT documents, one acknowledged after the other, then killed. Returns its newest segment.
  async function killedServer() {
    server = await new Server({ shards: 1 }).start();
    const client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect();
    for (const i of range(COUNT)) await client.db('test').collection('c').insertOne({ _id: i, text: 'x'.repeat(500) });
    await client.close();
    await server.kill();
    return newestSegment(server.data);
  }

  async function idsAfterStart() {
    await server.start();
    const client = await new MongoClient(server.uri, CLIENT_OPTIONS).connect();
    const db = client.db('test');
    const ids = (await db.collection('c').find().sort({ _id: 1 }).toArray()).map((d) => d._id);
    assert.equal(await db.collection('c').estimatedDocumentCount(), ids.length);
    assert.equal((await db.command({ validate: 'c', full: true })).valid, true);
    await db.collection('c').insertOne({ _id: 'new' });
    await client.close();
    return ids;
  }

  it('cut between records, inside a header and inside a payload: a prefix is left', async () => {
    for (const inside of [0, 20, HEADER_BYTES + 100]) {
      const segment = await killedServer();
      const records = recordsOf(segment);
      const cut = records[records.length - 30].at + inside;
      overwrite(segment, cut, Buffer.alloc(fs.statSync(segment).size - cut));
      const ids = await idsAfterStart();
      assert.ok(ids.length > 0 && ids.length < COUNT, `${ids.length} of ${COUNT}`);
      assert.deepEqual(ids, range(ids.length));
      await server.remove();
    }
    server = new Server();
  });

  it('rubbish behind the end is no record', async () => {
    const segment = await killedServer();
    const last = recordsOf(segment).at(-1);
    overwrite(segment, last.at + last.length, Buffer.from(range(4096).map((i) => (i * 131) & 255)));
    assert.deepEqual(await idsAfterStart(), range(COUNT));
  });

  it('one changed byte in the middle: refused with exit 1, naming the file', async () => {
    const segment = await killedServer();
    const records = recordsOf(segment);
    const { at } = records[Math.floor(records.length / 2)];
    const byte = fs.readFileSync(segment)[at + HEADER_BYTES + 10];
    overwrite(segment, at + HEADER_BYTES + 10, Buffer.from([byte ^ 0x40]));
    const error = await errorOf(server.start());
    assert.equal(error.exitCode, 1, error.message);
    assert.ok(error.message.includes(path.basename(segment)), error.message);
    overwrite(segment, at + HEADER_BYTES + 10, Buffer.from([byte]));
    assert.deepEqual(await idsAfterStart(), range(COUNT));
  });
});
