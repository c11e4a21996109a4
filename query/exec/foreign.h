// Reads of other collections by operators: $lookup, $graphLookup, $unionWith.
//
// An operator begins a read and answers Step::kNeedInput while rows are missing. Its driver, the
// router, takes the wanted reads, carries them out as ordinary targeted aggregations, puts the rows
// in, and pulls again. Operators stay synchronous and know no network.
//
//   ForeignReadPtr read = context.foreign->Begin(ns, pipeline, let);
//   … the driver: for (auto& read : foreign.TakeWanted()) fill(read);
//   … the operator: takes read->rows, and wants more unless read->ended, or drops the read.
#pragma once

#include <absl/status/status.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/document.h"

namespace evenkeel::query {

struct ForeignRead {
  std::string ns;                    // "db.collection", a view too
  bson::Document pipeline;           // an array of stages
  bson::Document let;                // variables of the pipeline, evaluated
  bool by_id = false;                // rows that come one by one are wanted in the order of `_id`
  std::vector<bson::Document> rows;  // arrived and not taken yet
  bool ended = false;                // nothing comes after `rows`
  bool wanted = false;               // waits for the driver
};
using ForeignReadPtr = std::shared_ptr<ForeignRead>;

// The reads of one pipeline. One thread at a time.
class ForeignReads {
 public:
  ForeignReadPtr Begin(std::string ns, bson::Document pipeline, bson::Document let) {
    auto read = std::make_shared<ForeignRead>();
    read->ns = std::move(ns);
    read->pipeline = std::move(pipeline);
    read->let = std::move(let);
    Want(read);
    return read;
  }
  // Asks for the next rows of a read that has not ended.
  void Want(ForeignReadPtr read) {
    if (!std::exchange(read->wanted, true)) wanted_.push_back(std::move(read));
  }
  // Gives a read up.
  void Drop(ForeignReadPtr read) {
    std::erase(wanted_, read);
    if (!read->ended) dropped_.push_back(std::move(read));
  }
  bool HasWanted() const { return !wanted_.empty(); }
  // The reads whose next rows are waited for, each once.
  std::vector<ForeignReadPtr> TakeWanted() {
    for (const ForeignReadPtr& read : wanted_) read->wanted = false;
    return std::exchange(wanted_, {});
  }
  // The reads that were given up before their end.
  std::vector<ForeignReadPtr> TakeDropped() { return std::exchange(dropped_, {}); }

 private:
  std::vector<ForeignReadPtr> wanted_, dropped_;
};

}  // namespace evenkeel::query
