// Implements reading a write command's batch.
#include "query/request/batch.h"

#include "base/limits.h"
#include "base/status.h"
#include "query/request/fields.h"

namespace evenkeel::query {

absl::StatusOr<std::vector<bson::View>> ReadBatch(bson::View command, std::string_view where,
                                                  std::string_view name,
                                                  const std::vector<bson::View>* sequence) {
  std::vector<bson::View> batch;
  if (sequence) {
    batch = *sequence;
  } else {
    const bson::Value field = command[name];
    if (field.IsNullish()) return MissingField(where, name);
    EVENKEEL_ASSIGN_OR_RETURN(batch, ReadDocuments(where, name, field));
  }
  if (batch.empty() || batch.size() > static_cast<size_t>(limits::kWriteBatchCountMax)) {
    return Error(ErrorCode::kInvalidLength,
                 "Write batch sizes must be between 1 and {}. Got {} operations.",
                 limits::kWriteBatchCountMax, batch.size());
  }
  return batch;
}

}  // namespace evenkeel::query
