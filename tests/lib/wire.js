// A plain socket that speaks MongoDB's wire protocol, for tests of the protocol itself.
'use strict';

const net = require('node:net');
const { BSON } = require('mongodb');

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_COMPRESSED = 2012;
const OP_MSG = 2013;
// Damaged text that a test has sent may come back in an error message.
const AS_IT_IS = { validation: { utf8: false } };
const FLAG = { checksumPresent: 1, moreToCome: 2, exhaustAllowed: 1 << 16 };

// CRC32C, bit by bit: slow and obviously right.
function crc32c(bytes) {
  let crc = 0xFFFFFFFF;
  for (const byte of bytes) {
    crc ^= byte;
    for (let i = 0; i < 8; ++i) crc = (crc >>> 1) ^ (crc & 1 ? 0x82F63B78 : 0);
  }
  return (crc ^ 0xFFFFFFFF) >>> 0;
}

function int32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value | 0);
  return bytes;
}

function frame(requestId, opcode, body) {
  return Buffer.concat([int32(16 + body.length), int32(requestId), int32(0), int32(opcode), body]);
}

// A kind-0 section.
function bodySection(document) { return Buffer.concat([Buffer.from([0]), BSON.serialize(document)]); }

// A kind-1 section: a named sequence of documents.
function sequenceSection(name, documents) {
  const content = Buffer.concat([Buffer.from(`${name}\0`), ...documents.map((d) => BSON.serialize(d))]);
  return Buffer.concat([Buffer.from([1]), int32(4 + content.length), content]);
}

// A whole OP_MSG. `checksum`: 'good', 'bad' or nothing.
function opMsg(requestId, sections, flags = 0, checksum = undefined) {
  const withFlags = checksum ? flags | FLAG.checksumPresent : flags;
  const body = Buffer.concat([int32(withFlags), ...sections, ...(checksum ? [int32(0)] : [])]);
  const message = frame(requestId, OP_MSG, body);
  if (checksum) {
    const sum = crc32c(message.subarray(0, message.length - 4));
    message.writeUInt32LE(checksum === 'good' ? sum : (sum ^ 1) >>> 0, message.length - 4);
  }
  return message;
}

class Wire {
  static async connect(port) {
    const socket = net.connect(port, '127.0.0.1');
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new Wire(socket);
  }

  constructor(socket) {
    this.socket = socket;
    this.received = Buffer.alloc(0);
    this.waiting = [];
    this.ended = false;
    this.nextId = 1;
    socket.on('data', (bytes) => { this.received = Buffer.concat([this.received, bytes]); this.deliver(); });
    socket.on('error', () => {});
    socket.on('close', () => { this.ended = true; this.deliver(); });
  }

  deliver() {
    while (this.waiting.length > 0) {
      const length = this.received.length >= 4 ? this.received.readInt32LE(0) : Infinity;
      if (this.received.length >= length) {
        this.waiting.shift()(parse(this.received.subarray(0, length)));
        this.received = this.received.subarray(length);
      } else if (this.ended) {
        this.waiting.shift()(null);
      } else {
        return;
      }
    }
  }

  send(bytes) { this.socket.write(bytes); }

  // The next message from the server, or null when the connection was closed instead.
  receive() {
    return new Promise((resolve) => { this.waiting.push(resolve); this.deliver(); });
  }

  // Sends one command as OP_MSG and returns the reply's document, or null.
  async command(document, options = {}) {
    const sections = [bodySection({ ...document, $db: document.$db ?? 'admin' }), ...(options.sections ?? [])];
    this.send(opMsg(this.nextId++, options.sequencesFirst ? sections.reverse() : sections, options.flags ?? 0, options.checksum));
    return (await this.receive())?.document ?? null;
  }

  // Resolves when the server has closed the connection.
  closed() { return this.ended ? Promise.resolve() : new Promise((resolve) => this.socket.once('close', resolve)); }

  close() { this.socket.destroy(); }
}

function parse(message) {
  const responseTo = message.readInt32LE(8);
  const opcode = message.readInt32LE(12);
  if (opcode === OP_MSG) {
    const flags = message.readUInt32LE(16);
    const end = flags & FLAG.checksumPresent ? message.length - 4 : message.length;
    if (end < message.length && message.readUInt32LE(end) !== crc32c(message.subarray(0, end))) throw new Error('the reply has a bad checksum');
    return { opcode, responseTo, flags, document: BSON.deserialize(message.subarray(21, end), AS_IT_IS) };
  }
  if (opcode === OP_REPLY) return { opcode, responseTo, flags: message.readInt32LE(16), document: BSON.deserialize(message.subarray(36), AS_IT_IS) };
  return { opcode, responseTo };
}

// The old query message that a driver's first hello may use.
function opQuery(requestId, namespace, document) {
  return frame(requestId, OP_QUERY, Buffer.concat([int32(0), Buffer.from(`${namespace}\0`), int32(0), int32(-1), BSON.serialize(document)]));
}

module.exports = { FLAG, OP_COMPRESSED, OP_MSG, OP_QUERY, OP_REPLY, Wire, bodySection, crc32c, frame, int32, opMsg, opQuery, sequenceSection };
