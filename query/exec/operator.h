// Operators pull batches of rows. Synchronous machines: where input must be waited for, they say so
// and are asked again.
//
// The driver (a coroutine in shard/command or router) feeds an InputQueue and pulls at the last
// operator.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/bson/document.h"

namespace evenkeel::bson {
class Builder;
}

namespace evenkeel::query {

// One document on its way: a view, and its bytes when the row owns them. A borrowed row (empty
// `owned`) is valid until the driver ends its slice; an operator that keeps rows beyond one Pull
// makes them owned first.
struct Row {
  bson::View view;
  std::unique_ptr<bson::Document> owned;

  static Row Borrow(bson::View view) { return {view, nullptr}; }
  static Row Own(bson::Document document) {
    Row row;
    row.owned = std::make_unique<bson::Document>(std::move(document));
    row.view = row.owned->view();
    return row;
  }
  void MakeOwned() {
    if (owned) return;
    owned = std::make_unique<bson::Document>(view);
    view = owned->view();
  }
};

using Batch = std::vector<Row>;

// How many rows one Pull aims at: enough to spread its cost, few enough to stay in the cache.
inline constexpr size_t kBatchRows = 128;

enum class Step : uint8_t {
  kRows,       // `out` has at least one more row
  kNeedInput,  // the driver must feed the input first
  kEnd,        // nothing more will come
};

class Operator {
 public:
  virtual ~Operator() = default;
  // Appends up to about kBatchRows rows to `out`. Errors end the query. After kEnd it is not called
  // again.
  virtual absl::StatusOr<Step> Pull(Batch* out) = 0;
  // Appends what explain shows of the operator beside its rows: names and units are MongoDB's.
  virtual void AppendStats([[maybe_unused]] bson::Builder* out) const {}
};

// The driver's end: rows go in, Finish says that no more will come.
class InputQueue final : public Operator {
 public:
  void Push(Row row) { rows_.push_back(std::move(row)); }
  void Finish() { finished_ = true; }
  bool empty() const { return rows_.empty(); }
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  std::deque<Row> rows_;
  bool finished_ = false;
};

// Pulls until the end and collects the documents. Requires that all input is there: kNeedInput is
// InternalError. For tests and for callers that have everything in memory.
absl::StatusOr<std::vector<bson::Document>> RunToEnd(Operator& last);

// Merges several sorted inputs by their "$sortKey" fields, which it removes. kNeedInput while any
// unfinished input is empty.
class SortedMerge;  // query/exec/sorted_merge.h

}  // namespace evenkeel::query
