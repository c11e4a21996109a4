// The tables of one shard and what a stored record is.
//
// Keys are byte strings, compared as unsigned bytes, at most limits::kLmdbKeyBytesMax long
// (storage/keys makes them so). DESIGN: storage engine, "Tables".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.h"

namespace evenkeel::storage {

enum class Table : uint8_t {
  kDocs = 0,   // collection id, placement key, encoded _id -> BSON
  kIndex = 1,  // index id, encoded key, document key -> type bits, document key if not in the key
  kSessions = 2,  // lsid, txnNumber, kind, statement -> retryable-write results
  kMeta = 3,      // name -> collections, indexes, ownership, dead ranges, the shard's identity
  kCounters = 4,  // counter key -> documents, bytes; latest state only
  kChanges = 5,   // of collections that are being copied: place in the copy -> what changed there
};
inline constexpr size_t kTableCount = 6;
// True for tables whose records keep their commit timestamps in LMDB too.
constexpr bool KeepsTimestamps(Table table) {
  return table == Table::kDocs || table == Table::kChanges;
}

// One record as a reader sees it. `value` points into a memory table or LMDB: valid as long as the
// slice it came from.
struct Record {
  std::string_view value;
  Timestamp
      commit_timestamp;  // zero for records that come from LMDB, except KeepsTimestamps(table)
};

// Hashes of shard keys from `first` to `last`, both included.
struct HashSpan {
  int64_t first = INT64_MIN;
  int64_t last = INT64_MAX;
  bool Contains(int64_t hash) const { return first <= hash && hash <= last; }
  bool Covers(const HashSpan& other) const { return first <= other.first && other.last <= last; }
  friend bool operator==(const HashSpan&, const HashSpan&) = default;
};

// Keys from `begin` on and below `end`; no `end`: to the table's last one. Of documents only those
// that `hashes` holds: storage/keys/placement.h.
struct TableRange {
  std::string begin;
  std::string end;
  HashSpan hashes = {};
};

// Documents and bytes of one counter.
struct Count {
  int64_t documents = 0;
  int64_t bytes = 0;
  friend bool operator==(Count, Count) = default;
};

}  // namespace evenkeel::storage
