// The sort key that rows carry from a shard to the merger.
#pragma once

#include <string_view>

#include "base/bson/document.h"
#include "base/bson/view.h"
#include "query/exec/streaming.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

// The field behind all others of a row on its way to a merger: an array with one value per sorted
// field.
inline constexpr std::string_view kSortKeyField = "$sortKey";

// A copy of `document` with its sort key appended; `key` is an array.
bson::Document WithSortKey(bson::View document, bson::Value key);
// A copy without the field.
bson::Document WithoutSortKey(bson::View document);

// Appends the sort key to rows that already come in order. `pattern` outlives the operator.
class SortKeyOperator final : public StreamingOperator {
 public:
  SortKeyOperator(std::unique_ptr<Operator> input, const SortPattern& pattern,
                  const bson::StringComparator* collation)
      : StreamingOperator(std::move(input)), pattern_(pattern), collation_(collation) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  const SortPattern& pattern_;
  const bson::StringComparator* collation_;
};

}  // namespace evenkeel::query
