// A list of rows that is written once and read in order, as often as wanted: in memory, past its
// limit on disk.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/spill/spill_file.h"

namespace evenkeel::query {

// Limits   `budget_bytes` in memory; past it the rows go to disk, or 292 and 146 where that is not
// allowed. `context` outlives the buffer.
class RowBuffer {
 public:
  // `operator_name` is a literal.
  RowBuffer(const QueryContext& context, std::string_view operator_name, size_t budget_bytes)
      : context_(&context), budget_(context, operator_name, budget_bytes) {}

  absl::Status Append(Row row);
  // After the last row, before the first reader.
  absl::Status Finish();
  size_t size() const { return count_; }
  bool has_spilled() const { return file_ != nullptr; }

  // One pass over the rows. Several may be under way; the buffer outlives them.
  class Reader {
   public:
    explicit Reader(const RowBuffer& buffer);
    // The next row, valid until the next call; nothing at the end.
    absl::StatusOr<std::optional<bson::View>> Next();

   private:
    const RowBuffer& buffer_;
    std::optional<SpillReader> spilled_;  // come first
    size_t next_ = 0;                     // of those in memory
  };

 private:
  absl::Status Spill();

  const QueryContext* context_;
  const MemoryBudget budget_;
  std::vector<Row> rows_;
  size_t held_bytes_ = 0;
  size_t count_ = 0;
  std::unique_ptr<SpillFile> file_;
  std::optional<SpillWriter> writer_;
  SpillRun run_;
};

}  // namespace evenkeel::query
