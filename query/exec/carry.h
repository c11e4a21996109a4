// The projection of find where rows carry fields of their own that must survive it.
#pragma once

#include <string_view>
#include <vector>

#include "query/exec/streaming.h"

namespace evenkeel::query {

// The field that find's showRecordId adds behind all others.
inline constexpr std::string_view kRecordIdField = "$recordId";

// Applies a projection and appends the named fields of the input, where it has them. `projection`
// and `filter` (for the positional operator; may be null) outlive the operator.
class CarryingProjectOperator final : public StreamingOperator {
 public:
  CarryingProjectOperator(std::unique_ptr<Operator> input, const Projection& projection,
                          const Filter* filter, std::vector<std::string_view> carried)
      : StreamingOperator(std::move(input)),
        projection_(projection),
        filter_(filter),
        carried_(std::move(carried)) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  const Projection& projection_;
  const Filter* filter_;
  const std::vector<std::string_view> carried_;
};

}  // namespace evenkeel::query
