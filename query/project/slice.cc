// The projection operator $slice: a part of an array.
#include <algorithm>
#include <limits>
#include <optional>

#include "base/bson/number.h"
#include "base/status.h"
#include "query/project/table.h"

namespace evenkeel::query::project {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

class SliceOperator final : public FieldOperator {
 public:
  // `skip` from the end when negative.
  SliceOperator(int64_t skip, int64_t limit) : skip_(skip), limit_(limit) {}

  absl::Status Apply(std::string_view key, Value value, const ApplyContext&,
                     bson::Builder& out) const override {
    if (!value.Is(Type::kArray)) {
      out.Append(key, value);
      return absl::OkStatus();
    }
    const View array = value.AsDocument();
    const auto size = static_cast<int64_t>(array.CountFields());
    const int64_t begin = skip_ < 0 ? std::max<int64_t>(0, size + skip_) : std::min(skip_, size);
    const int64_t end = begin + std::min(limit_, size - begin);
    out.OpenArray(key);
    bson::ArrayAppender elements(out);
    int64_t index = 0;
    for (const Element& element : array) {
      if (index >= begin && index < end) elements.Add(element.value);
      ++index;
    }
    out.Close();
    return absl::OkStatus();
  }

 private:
  int64_t skip_;
  int64_t limit_;
};

// Numbers are truncated and held within 32 bits, as in MongoDB.
int64_t Clamp(Value number) {
  return std::clamp<int64_t>(bson::ToInt64Truncated(number), std::numeric_limits<int32_t>::min(),
                             std::numeric_limits<int32_t>::max());
}

absl::StatusOr<std::unique_ptr<FieldOperator>> ParseSlice(std::string_view, Value operand,
                                                          const QueryContext&) {
  if (operand.IsNumber()) {
    const int64_t count = Clamp(operand);
    const int64_t limit = std::numeric_limits<int32_t>::max();
    return count < 0 ? std::make_unique<SliceOperator>(count, limit)
                     : std::make_unique<SliceOperator>(0, count);
  }
  if (!operand.Is(Type::kArray)) {
    return Error(Location(28667),
                 "Invalid $slice syntax: $slice only supports numbers and [skip, limit] arrays");
  }
  const View parts = operand.AsDocument();
  const bool two_numbers =
      parts.CountFields() == 2 && parts["0"].IsNumber() && parts["1"].IsNumber();
  if (!two_numbers) return std::unique_ptr<FieldOperator>();
  const int64_t limit = Clamp(parts["1"]);
  if (limit <= 0) return Error(Location(28724), "$slice limit must be positive, found {}", limit);
  return std::make_unique<SliceOperator>(Clamp(parts["0"]), limit);
}

constexpr ProjectOp kSliceOps[] = {
    {.name = "$slice",
     .parse = ParseSlice,
     .spec = "operator/projection/slice",
     .tests = "projection/slice"},
};

}  // namespace

std::span<const ProjectOp> SliceOps() { return kSliceOps; }

}  // namespace evenkeel::query::project
