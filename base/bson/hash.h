// MongoDB's hash of a BSON value: what hashed indexes and hashed shard keys use.
//
// Source: public behaviour of $toHashedIndexKey and convertShardKeyToHashed.
#pragma once

#include <cstdint>

#include "base/bson/view.h"

namespace evenkeel::bson {

// The low 64 bits, little endian, of an MD5 over seed 0, the canonical type and the value; numbers
// are truncated to 64-bit integers first, so 2.1, 2.9, 2 and NumberLong(2) hash alike. Missing
// hashes as null. convertShardKeyToHashed({foo: "bar"}) == 4975617422686807705.
int64_t HashValue(Value value);

}  // namespace evenkeel::bson
