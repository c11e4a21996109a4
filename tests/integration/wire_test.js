// The wire protocol itself, over a plain socket: sections in any order, checksums, flags, broken messages.
'use strict';

const assert = require('node:assert/strict');
const { describe, it, beforeEach, afterEach } = require('node:test');
const { Long } = require('mongodb');
const { useCluster, range } = require('../lib/cluster.js');
const { FLAG, OP_COMPRESSED, OP_MSG, OP_REPLY, Wire, bodySection, frame, int32, opMsg, opQuery, sequenceSection } = require('../lib/wire.js');
const { Random } = require('../lib/random.js');

describe('wire protocol', () => {
  const cluster = useCluster();
  let wire;
  beforeEach(async () => { wire = await Wire.connect(cluster.server.port); });
  afterEach(() => wire.close());

  async function assertAlive() {
    assert.equal((await wire.command({ ping: 1 })).ok, 1);
  }
  async function assertClosed() {
    assert.equal(await wire.receive(), null);
    await wire.closed();
    assert.equal((await cluster.admin({ ping: 1 })).ok, 1);
  }

  it('hello as OP_QUERY is answered with OP_REPLY, and only hello', async () => {
    wire.send(opQuery(7, 'admin.$cmd', { isMaster: 1, helloOk: true }));
    const reply = await wire.receive();
    assert.equal(reply.opcode, OP_REPLY);
    assert.equal(reply.responseTo, 7);
    assert.equal(reply.document.msg, 'isdbgrid');
    assert.equal(reply.document.helloOk, true);
    wire.send(opQuery(8, 'test.c', { a: 1 }));
    const refused = await wire.receive();
    if (refused !== null) assert.equal(refused.document.ok ?? 0, 0);
  });

  it('document sequences before and after the body', async () => {
    for (const [i, sequencesFirst] of [false, true].entries()) {
      const sections = [sequenceSection('documents', [{ _id: `${i}-1` }, { _id: `${i}-2` }])];
      assert.equal((await wire.command({ insert: 'wire', $db: 'test' }, { sections, sequencesFirst })).n, 2);
    }
    const reply = await wire.command({ update: 'wire', $db: 'test' },
      { sections: [sequenceSection('updates', [{ q: { _id: '0-1' }, u: { $set: { a: 1 } } }, { q: { _id: '1-1' }, u: { $set: { a: 1 } } }])] });
    assert.equal(reply.nModified, 2);
    assert.equal((await wire.command({ delete: 'wire', $db: 'test' }, { sections: [sequenceSection('deletes', [{ q: { a: 1 }, limit: 0 }])] })).n, 2);
  });

  it('a sequence named twice, or also in the body, is an error', async () => {
    const one = sequenceSection('documents', [{ _id: 'x' }]);
    assert.equal((await wire.command({ insert: 'wire', $db: 'test' }, { sections: [one, one] })).ok, 0);
    assert.equal((await wire.command({ insert: 'wire', $db: 'test', documents: [{ _id: 'y' }] }, { sections: [one] })).ok, 0);
    await assertAlive();
  });

  it('checksums: a good one is accepted, a bad one is not', async () => {
    assert.equal((await wire.command({ ping: 1 }, { checksum: 'good' })).ok, 1);
    const reply = await wire.command({ ping: 1 }, { checksum: 'bad' });
    if (reply !== null) assert.equal(reply.ok, 0);
  });

  it('moreToCome: carried out without a reply', async () => {
    wire.send(opMsg(50, [bodySection({ insert: 'wire', documents: [{ _id: 'fire' }], $db: 'test', writeConcern: { w: 0 } })], FLAG.moreToCome));
    wire.send(opMsg(51, [bodySection({ ping: 1, $db: 'admin' })]));
    assert.equal((await wire.receive()).responseTo, 51);
    assert.ok(await cluster.db.collection('wire').findOne({ _id: 'fire' }));
  });

  it('exhaust: one getMore streams the batches to the end', async () => {
    const c = cluster.collection();
    await c.insertMany(range(95).map((i) => ({ _id: i })));
    const { cursor } = await wire.command({ find: c.collectionName, batchSize: 10, sort: { _id: 1 }, $db: 'test' });
    const seen = cursor.firstBatch.map((d) => d._id);
    wire.send(opMsg(60, [bodySection({ getMore: Long.fromBigInt(BigInt(cursor.id.toString())), collection: c.collectionName, batchSize: 10, $db: 'test' })], FLAG.exhaustAllowed));
    for (;;) {
      const reply = await wire.receive();
      seen.push(...reply.document.cursor.nextBatch.map((d) => d._id));
      if (!(reply.flags & FLAG.moreToCome)) break;
    }
    assert.deepEqual(seen, range(95));
    await assertAlive();
  });

  it('unknown flag bits: a required one is refused, an optional one is ignored', async () => {
    assert.equal((await wire.command({ ping: 1 }, { flags: 1 << 20 })).ok, 1);
    const reply = await wire.command({ ping: 1 }, { flags: 1 << 5 });
    if (reply !== null) assert.equal(reply.ok, 0);
  });

  it('awaitable hello: answers after maxAwaitTimeMS', async () => {
    const { topologyVersion: { processId, counter } } = await wire.command({ hello: 1 });
    const started = Date.now();
    const reply = await wire.command({ hello: 1, topologyVersion: { processId, counter: Long.fromNumber(counter) }, maxAwaitTimeMS: 300 });
    assert.equal(reply.ok, 1);
    assert.ok(Date.now() - started >= 250);
  });

  it('many requests at once are answered in order', async () => {
    for (const i of range(200)) wire.send(opMsg(1000 + i, [bodySection({ ping: 1, $db: 'admin' })]));
    for (const i of range(200)) assert.equal((await wire.receive()).responseTo, 1000 + i);
  });

  it('a request that arrives byte by byte', async () => {
    const message = opMsg(70, [bodySection({ ping: 1, $db: 'admin' })]);
    for (const byte of message) {
      wire.send(Buffer.from([byte]));
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    assert.equal((await wire.receive()).document.ok, 1);
  });

  const ping = bodySection({ ping: 1, $db: 'admin' });
  const lost = {
    'an unknown opcode': frame(1, 4711, Buffer.alloc(20)),
    'a length below the header': Buffer.concat([int32(8), int32(1), int32(0), int32(OP_MSG)]),
    'a negative length': Buffer.concat([int32(-1), int32(1), int32(0), int32(OP_MSG)]),
    'a length above the maximum': Buffer.concat([int32(48_000_001), int32(1), int32(0), int32(OP_MSG)]),
    'text of another protocol': Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  };
  for (const [what, bytes] of Object.entries(lost)) {
    it(`closes the connection after ${what}`, async () => {
      wire.send(bytes);
      await assertClosed();
    });
  }

  const broken = {
    'no section': opMsg(1, []),
    'two bodies': opMsg(1, [ping, ping]),
    'no body': opMsg(1, [sequenceSection('documents', [{ a: 1 }])]),
    'an unknown section kind': opMsg(1, [ping, Buffer.from([7, 0, 0])]),
    'a section cut off': opMsg(1, [ping.subarray(0, ping.length - 3)]),
    'a document length past the end': opMsg(1, [Buffer.concat([Buffer.from([0]), int32(1000), Buffer.alloc(10)])]),
    'a sequence length past the end': opMsg(1, [ping, Buffer.concat([Buffer.from([1]), int32(1000), Buffer.from('documents\0')])]),
    'a sequence length that wraps': opMsg(1, [ping, Buffer.concat([Buffer.from([1]), int32(-5), Buffer.from('documents\0')])]),
    'compressed rubbish': frame(1, OP_COMPRESSED, Buffer.concat([int32(OP_MSG), int32(100), Buffer.from([1]), Buffer.from('rubbish')])),
    'compressed claiming 2 GB': frame(1, OP_COMPRESSED, Buffer.concat([int32(OP_MSG), int32(0x7FFFFFFF), Buffer.from([2]), Buffer.from('rubbish')])),
    'compressed by an unknown compressor': frame(1, OP_COMPRESSED, Buffer.concat([int32(OP_MSG), int32(10), Buffer.from([99]), Buffer.alloc(10)])),
    'compressed twice': frame(1, OP_COMPRESSED, Buffer.concat([int32(OP_COMPRESSED), int32(10), Buffer.from([0]), Buffer.alloc(10)])),
  };
  for (const [what, bytes] of Object.entries(broken)) {
    it(`an error or a closed connection for ${what}`, async () => {
      wire.send(bytes);
      const reply = await wire.receive();
      if (reply !== null) assert.equal(reply.document.ok, 0);
      assert.equal((await cluster.admin({ ping: 1 })).ok, 1);
    });
  }

  it('random damage never takes the server down', async () => {
    const seed = Date.now() >>> 0;
    const random = new Random(seed);
    const good = opMsg(1, [bodySection({ insert: 'fuzz', $db: 'test', documents: [{ a: 'text', b: [1, 2, { c: null }], d: new Date() }] }),
      sequenceSection('documents', [{ _id: 1 }])]);
    for (const _ of range(300)) {
      const message = Buffer.from(good);
      for (let i = random.between(1, 6); i > 0; --i) message[random.between(4, message.length - 1)] = random.below(256);
      const victim = await Wire.connect(cluster.server.port);
      victim.send(message);
      victim.socket.end();
      await Promise.race([victim.receive(), victim.closed()]);
      victim.close();
    }
    assert.equal((await cluster.admin({ ping: 1 })).ok, 1, `seed ${seed}`);
  });
});
