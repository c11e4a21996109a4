// Parsing of {n: …, input: …}.
#include "query/accum/parse_n.h"

#include "base/bson/number.h"

namespace evenkeel::query::accum {

absl::StatusOr<AccumSpec> ParseWithN(const AccumOp& op, bson::Value args, ParseScope& scope) {
  if (!args.Is(bson::Type::kObject)) {
    return Error(Location(5787801), "specification must be an object; found {}", op.name);
  }
  AccumSpec spec{.op = &op};
  for (const auto& [key, value] : args.AsDocument()) {
    if (key != "n" && key != "input") {
      return Error(Location(5787901), "Unknown argument for 'n' operator: {}", key);
    }
    EVENKEEL_ASSIGN_OR_RETURN((key == "n" ? spec.argument : spec.input),
                              Expression::Parse(value, scope));
  }
  if (spec.argument == nullptr) return Error(Location(5787906), "Missing value for 'n'");
  if (spec.input == nullptr) return Error(Location(5787907), "Missing value for 'input'");
  return spec;
}

absl::Status ReadN(bson::Value argument, size_t* n) {
  if (!argument.IsNumber()) {
    return Error(Location(5787902), "Value for 'n' must be of integral type");
  }
  const std::optional<int64_t> exact = bson::ToInt64Exact(argument);
  if (!exact) return Error(Location(5787903), "Value for 'n' must be of integral type");
  if (*exact <= 0) return Error(Location(5787908), "'n' must be greater than 0, found {}", *exact);
  *n = static_cast<size_t>(*exact);
  return absl::OkStatus();
}

}  // namespace evenkeel::query::accum
