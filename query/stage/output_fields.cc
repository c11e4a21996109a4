// Parsing of one output field.
#include "query/stage/output_fields.h"

#include "base/status.h"
#include "query/accum/table.h"

namespace evenkeel::query::stage {

absl::StatusOr<accum::OutputField> ParseOutputField(const bson::Element& field, ParseScope& scope) {
  if (field.key.find('.') != std::string_view::npos) {
    return Error(Location(40235), "The field name '{}' cannot contain '.'", field.key);
  }
  if (field.key.starts_with('$')) {
    return Error(Location(40236), "The field name '{}' cannot be an operator name", field.key);
  }
  if (!field.value.Is(bson::Type::kObject) || field.value.AsDocument().empty()) {
    return Error(Location(40234), "The field '{}' must be an accumulator object", field.key);
  }
  const bson::View accumulator = field.value.AsDocument();
  if (accumulator.CountFields() != 1) {
    return Error(Location(40238), "The field '{}' must specify one accumulator", field.key);
  }
  const bson::Element op = accumulator.Front();
  if (!op.key.starts_with('$')) {
    return Error(Location(40234), "The field '{}' must be an accumulator object", field.key);
  }
  accum::OutputField parsed{std::string(field.key), {}};
  EVENKEEL_ASSIGN_OR_RETURN(parsed.accumulator,
                            accum::ParseGroupAccumulator(op.key, op.value, scope));
  return parsed;
}

}  // namespace evenkeel::query::stage
