// $densify: adds documents where a series of numbers or dates has gaps.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/bson/path.h"
#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/exec/sorter.h"
#include "query/window/units.h"

namespace evenkeel::query {

// A parsed $densify.
struct DensifySpec {
  enum class Extent : uint8_t { kFull, kPartition, kExplicit };
  bson::Path field;
  std::vector<bson::Path> partition_by;
  bson::OwnedValue step;  // a number above 0
  std::optional<window::Unit> unit;
  Extent extent = Extent::kFull;
  bson::OwnedValue low, high;  // for kExplicit; `high` is exclusive
};

// Rows come out in the order of the field (of the partition first, when each has its own extent);
// rows without a value of it come first and are left alone. `spec` and `context` outlive the
// operator. Errors: 5733201 and 6053600 for values that do not fit, 5897900 past 500,000 added
// documents. Limits   the context's memory; past it the rows go to disk.
class DensifyOperator final : public Operator {
 public:
  DensifyOperator(std::unique_ptr<Operator> input, const DensifySpec& spec,
                  const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;
  void AppendStats(bson::Builder* out) const override;

 private:
  struct Less {
    const bson::StringComparator* collation;
    bool operator()(const bson::Document& a, const bson::Document& b) const;
  };
  // How far a partition's series has come.
  struct Series {
    bson::OwnedValue base;  // where it begins
    int64_t steps = 0;      // the next document to add is base + steps * step
  };
  using SeriesMap = std::map<bson::Document, Series, Less>;

  absl::Status Take(Row row);
  absl::Status Check(bson::Value value) const;
  // Orders sort keys {p: partition, an array, v: the value of the field}.
  int CompareKeys(bson::View a, bson::View b) const;
  // The next row of the input with the gap before it, or the ends of all series.
  absl::Status MakeMore();
  bson::OwnedValue ValueAt(const Series& series) const;
  // Adds documents of a series up to `end`.
  absl::Status FillTo(const bson::Document& partition, Series& series, bson::Value end,
                      bool inclusive);
  absl::Status FillEnds();
  int Compare(bson::Value a, bson::Value b) const;

  std::unique_ptr<Operator> input_;
  const DensifySpec& spec_;
  const bson::StringComparator* collation_;
  const MemoryBudget budget_;  // of what is added
  Sorter sorter_;
  bool ended_ = false;
  int64_t added_ = 0;
  bson::OwnedValue least_, most_;  // of all values
  SeriesMap series_;
  std::vector<Row> ready_;
  size_t ready_bytes_ = 0;
  size_t at_ = 0;
  Batch batch_;
};

}  // namespace evenkeel::query
