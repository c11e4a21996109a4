// Finds the function of an output field.
#include "query/expr/kernel.h"
#include "query/window/function.h"

namespace evenkeel::query::window {
namespace {

const WindowOp* FindFunction(std::string_view name) {
  for (const std::span<const WindowOp> group :
       {FillFunctions(), RankFunctions(), SeriesFunctions()}) {
    for (const WindowOp& row : group) {
      if (row.name == name) return &row;
    }
  }
  return nullptr;
}

// $rank and its like say themselves what may stand beside them.
bool TakesNothing(std::string_view name) {
  return name == "$rank" || name == "$denseRank" || name == "$documentNumber";
}

}  // namespace

absl::StatusOr<FunctionPtr> ParseFunction(bson::Value spec, const SortPattern& sort,
                                          ParseScope& scope) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kFailedToParse,
                 "The field of a window function must be an object, found {}",
                 expr::TypeName(spec.type()));
  }
  FunctionCall call{.sort = sort, .scope = scope};
  for (const auto& [key, value] : spec.AsDocument()) {
    if (TakesNothing(call.name)) {
      return Error(Location(5371601), "{} takes no other arguments, found '{}'", call.name, key);
    }
    if (key == "window") {
      call.window = value;
    } else if (key.starts_with('$') && call.name.empty()) {
      call.name = key;
      call.args = value;
    } else {
      return Error(ErrorCode::kFailedToParse, "Window function found an unknown argument: '{}'",
                   key);
    }
  }
  if (call.name.empty()) {
    return Error(ErrorCode::kFailedToParse, "Expected a $-prefixed window function");
  }
  if (TakesNothing(call.name) && !call.window.missing()) {
    return Error(Location(5371601), "{} does not accept a 'window' field", call.name);
  }
  if (const WindowOp* op = FindFunction(call.name)) return op->parse(call);
  return ParseAccumulated(call);
}

absl::Status CheckArguments(const FunctionCall& call, std::span<const std::string_view> names) {
  if (!call.args.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "Argument to {} must be an object, found {}", call.name,
                 expr::TypeName(call.args.type()));
  }
  for (const bson::Element& field : call.args.AsDocument()) {
    bool known = false;
    for (const std::string_view name : names) known = known || name == field.key;
    if (!known) {
      return Error(ErrorCode::kFailedToParse, "{} got the unexpected argument '{}'", call.name,
                   field.key);
    }
  }
  return absl::OkStatus();
}

absl::Status RequireOneSortField(const FunctionCall& call, ErrorCode code) {
  if (call.sort.fields().size() == 1) return absl::OkStatus();
  return Error(code,
               "{} must be specified with a top level sortBy expression with exactly one "
               "element",
               call.name);
}

absl::Status RefuseWindow(const FunctionCall& call) {
  if (call.window.missing()) return absl::OkStatus();
  return Error(ErrorCode::kFailedToParse, "{} does not accept a 'window' field", call.name);
}

}  // namespace evenkeel::query::window
