// What a shard shows to its readers: one immutable object, replaced by one pointer swap.
//
// Reading the latest timestamp, the tables and what the layers above publish (prepared transactions
// too) one after another would lose or tear commits; whoever reads takes one view and uses nothing
// else.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/types.h"
#include "storage/memory/mem_table.h"
#include "storage/store.h"

namespace evenkeel::storage {

// The memory tables, oldest first; the last one is being written. Tables in front that are in LMDB
// are kept for history.
struct TableList {
  struct Entry {
    std::shared_ptr<MemTable> table;
    bool in_lmdb = false;
  };
  std::vector<Entry> entries;
  Timestamp history_floor;  // reads below it are too old
};

struct View {
  Timestamp latest;  // the newest durable commit timestamp
  LogIndex index;    // of the newest durable batch: bounds the counters
  std::shared_ptr<const TableList> tables;
  std::shared_ptr<const PublishedState> state;  // null before the first SetState
};

// The tables a read needs, newest first.
using ReadTables = absl::InlinedVector<const MemTable*, 6>;

// For the latest state: those not yet in LMDB.
ReadTables TablesForLatest(const TableList& list);
// For a snapshot at `timestamp`: from the oldest that holds a newer commit or is not in LMDB, up to
// the newest.
ReadTables TablesForSnapshot(const TableList& list, Timestamp timestamp);

}  // namespace evenkeel::storage
