// Operators that give rows their metadata: record ids, index keys and sort keys.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "base/bson/builder.h"
#include "query/exec/streaming.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

// Where rows come from: knows what no operator can tell by the document alone.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // A number that stands for the document's place, the same as long as it is there.
  virtual absl::StatusOr<int64_t> RecordIdOf(bson::View document) const = 0;
  // The fields of the index by which the document was found; nothing without an index.
  virtual absl::StatusOr<std::optional<bson::Document>> IndexKeyOf(bson::View document) const = 0;
};

// Appends kRecordIdMetaField and kIndexKeyMetaField as wanted. `source` outlives the operator;
// null: rows have neither.
class RowMetaOperator final : public StreamingOperator {
 public:
  struct Wanted {
    bool record_id = false, index_key = false;
    bool any() const { return record_id || index_key; }
  };
  RowMetaOperator(std::unique_ptr<Operator> input, const RowSource* source, Wanted wanted)
      : StreamingOperator(std::move(input)), source_(source), wanted_(wanted) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  const RowSource* const source_;
  const Wanted wanted_;
};

// Sets kSortMetaField: an array with one value per sorted field. `pattern` outlives the operator.
class SortMetaOperator final : public StreamingOperator {
 public:
  SortMetaOperator(std::unique_ptr<Operator> input, const SortPattern& pattern,
                   const bson::StringComparator* collation)
      : StreamingOperator(std::move(input)), pattern_(pattern), collation_(collation) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  const SortPattern& pattern_;
  const bson::StringComparator* const collation_;
};

// Takes all metadata away.
class DropMetaOperator final : public StreamingOperator {
 public:
  explicit DropMetaOperator(std::unique_ptr<Operator> input)
      : StreamingOperator(std::move(input)) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;
};

}  // namespace evenkeel::query
