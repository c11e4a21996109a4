// Projects rows and keeps what they carry.
#include "query/exec/carry.h"

#include <algorithm>

#include "base/bson/builder.h"
#include "base/status.h"

namespace evenkeel::query {

absl::Status CarryingProjectOperator::Process(Row row, Batch* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Document projected, projection_.Apply(row.view, filter_));
  bson::Builder builder;
  for (const auto& [key, value] : projected.view()) {
    // An exclusion has kept them already.
    if (std::find(carried_.begin(), carried_.end(), key) == carried_.end()) {
      builder.Append(key, value);
    }
  }
  for (const std::string_view name : carried_) builder.Append(name, row.view[name]);
  out->push_back(Row::Own(builder.Finish()));
  return absl::OkStatus();
}

}  // namespace evenkeel::query
