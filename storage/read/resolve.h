// Which version of a key a reader sees, given its memory tables and what LMDB holds.
//
// The rule of DESIGN, storage engine, "Snapshot at T": the newest version at or below the bound;
// else the oldest value that the checkpoint hung on the key's nodes; else LMDB. A node must be
// looked at after the reader's LMDB transaction began.
#pragma once

#include <optional>
#include <string_view>

#include "storage/read/view.h"

namespace evenkeel::storage {

enum class Found : uint8_t {
  kRecord,   // the key exists with the record
  kRemoved,  // the key does not exist
  kAskLmdb,  // memory knows nothing of it
};

struct Resolved {
  Found found = Found::kAskLmdb;
  Record record;
};

// Where the version is found in a node of `nodes`, newest table first, null where a table does not
// have the key.
Resolved ResolveNodes(const SkipNode* const* nodes, size_t count, uint64_t bound);

// Looks the key up in all `tables`.
Resolved ResolveKey(const ReadTables& tables, Table table, std::string_view key, uint64_t bound);

// The same for the writer, which sees the newest version of everything; `active` is the first of
// `tables`.
Resolved ResolveNewest(const ReadTables& tables, MemTable* active, Table table,
                       std::string_view key);

// The record of an LMDB value: of documents the timestamp is split off.
Record RecordOfLmdb(Table table, std::string_view value);

}  // namespace evenkeel::storage
