// The wrapper objects of Extended JSON: documents such as {"$oid": "…"} that stand for one value of
// another type.
#pragma once

#include <cstdint>

#include "base/bson/document.h"
#include "base/bson/view.h"

namespace evenkeel::bson {

enum class JsonWrapper : uint8_t {
  kNone,       // an ordinary document
  kValue,      // stands for a value
  kMalformed,  // begins like a wrapper, but is none
};

// Looks at a document whose own fields are unwrapped already; sets `*value` if it stands for one.
// Source: the Extended JSON 2.0 specification, with the older forms of $date and $binary, and
// $uuid.
JsonWrapper UnwrapJson(View document, OwnedValue* value);

}  // namespace evenkeel::bson
