// The kinds of load: YCSB's workloads A to F as a table, and workers that carry them out.
//
// Source: the core workloads as YCSB's documentation describes them.
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bench/load/client.h"
#include "bench/load/key_chooser.h"
#include "bench/load/runner.h"

namespace evenkeel::bench {

// Shares of the operations in percent; they sum to 100.
struct Mix {
  std::string_view name;
  std::string_view meaning;
  int read = 0, update = 0, insert = 0, scan = 0, read_modify_write = 0;
  KeyOrder keys = KeyOrder::kZipfian;
};

// YCSB A to F.
std::span<const Mix> YcsbMixes();
// The mix of this name ("A" or "a"), or null.
const Mix* FindMix(std::string_view name);

// What workers of one run share: where the records are and how many there are.
struct Records {
  std::string uri;
  std::string database = "bench";
  std::string collection = "records";
  int collection_count = 1;  // above 1 the name gets a number and each operation takes one of them
  RecordShape shape;
  // The next free record number: records below it exist, or are being inserted by a running load.
  std::atomic<uint64_t> next{0};

  std::string CollectionName(int index) const;
};

// A worker that sends {ping: 1}: the ceiling of what a client and the network allow.
absl::StatusOr<std::unique_ptr<Worker>> MakePingWorker(const std::string& uri);
// A worker that carries out a mix over existing records. `records` outlives it.
absl::StatusOr<std::unique_ptr<Worker>> MakeMixWorker(Records& records, const Mix& mix, int thread);
// A worker that inserts batches until record number `end` is reached. `records` outlives it.
absl::StatusOr<std::unique_ptr<Worker>> MakeLoadWorker(Records& records, uint64_t end, int batch,
                                                       int thread);

// Drops and creates the collections, sharded by {_id: "hashed"} where the server knows how.
absl::Status PrepareCollections(const Records& records);

}  // namespace evenkeel::bench
