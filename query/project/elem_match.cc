// The projection operators $elemMatch and the positional one: of an array only the element that
// matches.
#include <optional>

#include "base/status.h"
#include "query/match/table.h"
#include "query/project/table.h"

namespace evenkeel::query::project {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;

void AppendOne(std::string_view key, Value element, bson::Builder& out) {
  out.OpenArray(key).Append("0", element).Close();
}

class ElemMatchOperator final : public FieldOperator {
 public:
  // `filter` is on {<name>: {$elemMatch: …}}, evaluated on the array as the field's value.
  explicit ElemMatchOperator(Filter filter) : filter_(std::move(filter)) {}

  absl::Status Apply(std::string_view key, Value value, const ApplyContext&,
                     bson::Builder& out) const override {
    if (!value.Is(Type::kArray)) return absl::OkStatus();
    const std::optional<int64_t> position = filter_.MatchedPositionOfValue(value);
    if (!position) return absl::OkStatus();
    AppendOne(key, value.AsDocument()[std::to_string(*position)], out);
    return absl::OkStatus();
  }

 private:
  Filter filter_;
};

class PositionalOperator final : public FieldOperator {
 public:
  absl::Status Apply(std::string_view key, Value value, const ApplyContext& context,
                     bson::Builder& out) const override {
    if (!value.Is(Type::kArray)) {
      out.Append(key, value);
      return absl::OkStatus();
    }
    if (context.position < 0) {
      return Error(
          Location(51246),
          "Executor error during find command :: caused by :: positional operator '.$' couldn't "
          "find a matching element in the array");
    }
    int64_t index = 0;
    for (const Element& element : value.AsDocument()) {
      if (index++ != context.position) continue;
      AppendOne(key, element.value, out);
      return absl::OkStatus();
    }
    return Error(
        Location(51247),
        "Executor error during find command :: caused by :: positional operator '.$' element "
        "mismatch");
  }
};

absl::StatusOr<std::unique_ptr<FieldOperator>> ParseElemMatch(std::string_view path, Value operand,
                                                              const QueryContext& context) {
  if (!operand.Is(Type::kObject)) {
    return Error(Location(31274),
                 "elemMatch: Invalid argument, object required, but got another type");
  }
  if (path.find('.') != path.npos) {
    return Error(Location(31275), "Cannot use $elemMatch projection on a nested field: {}", path);
  }
  bson::Builder condition;
  condition.Append("$elemMatch", operand);
  EVENKEEL_ASSIGN_OR_RETURN(Filter filter, Filter::ParseValue(condition.Finish(), context));
  return std::make_unique<ElemMatchOperator>(std::move(filter));
}

constexpr ProjectOp kElemMatchOps[] = {
    {.name = "$elemMatch",
     .parse = ParseElemMatch,
     .includes = true,
     .spec = "operator/projection/elemMatch",
     .tests = "projection/elemMatch"},
};

}  // namespace

std::unique_ptr<FieldOperator> MakePositional() { return std::make_unique<PositionalOperator>(); }

std::span<const ProjectOp> ElemMatchOps() { return kElemMatchOps; }

}  // namespace evenkeel::query::project
