// Compressed messages as the driver negotiates them.
'use strict';

const assert = require('node:assert/strict');
const { describe, it } = require('node:test');
const { MongoClient } = require('mongodb');
const { CLIENT_OPTIONS, useCluster, range } = require('../lib/cluster.js');

describe('compression', () => {
  const cluster = useCluster();

  for (const compressors of [['snappy'], ['zlib'], ['zlib', 'snappy']]) {
    it(compressors.join(', '), async () => {
      const client = await new MongoClient(cluster.server.uri, { ...CLIENT_OPTIONS, compressors }).connect();
      try {
        const c = client.db('test').collection(`compressed_${compressors.join('_')}`);
        await c.insertMany(range(2000).map((i) => ({ _id: i, text: `some text ${i} `.repeat(50) })));
        const found = await c.find().sort({ _id: 1 }).toArray();
        assert.equal(found.length, 2000);
        assert.equal(found[1234].text, 'some text 1234 '.repeat(50));
      } finally {
        await client.close();
      }
    });
  }

  it('hello offers what both sides know, in the client\'s order', async () => {
    const reply = await cluster.admin({ hello: 1, compression: ['zstd', 'unknown', 'zlib', 'snappy'] });
    assert.deepEqual(reply.compression, ['zstd', 'zlib', 'snappy']);
    assert.equal((await cluster.admin({ hello: 1, compression: ['unknown'] })).compression, undefined);
  });
});
