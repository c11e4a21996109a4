// What compiling and evaluating need beyond the query itself. One per command.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bson/compare.h"
#include "base/bson/document.h"
#include "base/types.h"
#include "query/memory_limits.h"

namespace evenkeel::query {

class ForeignReads;  // query/exec/foreign.h
class RowSource;     // query/exec/row_meta.h
class SpillFolder;   // query/spill/spill_folder.h

// Outlives everything compiled with it. One thread at a time.
struct QueryContext {
  std::string ns;                                     // "db.collection", for messages
  int64_t now_ms = 0;                                 // $$NOW
  Timestamp cluster_time;                             // $$CLUSTER_TIME
  bson::Document let;                                 // user variables, evaluated once
  const bson::StringComparator* collation = nullptr;  // null: bytes
  bool allow_disk_use = true;
  MemoryLimits memory;
  // Where operators put what exceeds their memory; null: nowhere.
  std::shared_ptr<SpillFolder> spill;
  bool internal = false;  // the pipeline was made by our own router: stages named $_… are allowed
  bool is_merge_part = false;  // the pipeline's inputs are partial results of shards
  // Knows the record ids and index keys of the input's rows; null where they have none.
  std::shared_ptr<const RowSource> source;
  // Reads of other collections, for stages like $lookup; null where there are none (shards).
  std::shared_ptr<ForeignReads> foreign;
};

}  // namespace evenkeel::query
