// What find shows of a row besides the document, or in its place: its record id, its index key.
#pragma once

#include <memory>

#include "catalog/collection.h"
#include "query/exec/row_meta.h"
#include "query/exec/streaming.h"

namespace evenkeel::shard {

// What the shard knows of a row of a collection. `entry` outlives it, and so does `index`, which
// the plan reads; null for a scan.
class CollectionSource final : public query::RowSource {
 public:
  CollectionSource(const catalog::CollectionEntry& entry, const catalog::IndexEntry* index)
      : entry_(entry), index_(index) {}
  absl::StatusOr<int64_t> RecordIdOf(bson::View document) const override;
  absl::StatusOr<std::optional<bson::Document>> IndexKeyOf(bson::View document) const override;

 private:
  const catalog::CollectionEntry& entry_;
  const catalog::IndexEntry* const index_;
};

// Appends "$recordId": a number that stands for the document's place, the same as long as it is
// there. `source` outlives the operator. Source: "showRecordId" in the MongoDB manual.
class RecordIdOperator final : public query::StreamingOperator {
 public:
  RecordIdOperator(std::unique_ptr<query::Operator> input, const query::RowSource& source)
      : StreamingOperator(std::move(input)), source_(source) {}

 protected:
  absl::Status Process(query::Row row, query::Batch* out) override;

 private:
  const query::RowSource& source_;
};

// Replaces documents by the fields of an index, keeping what rows carry ("$sortKey", "$recordId");
// of a document with several keys the first is shown. Without an index nothing but that is left.
// `source` outlives the operator. Source: "returnKey" in the MongoDB manual.
class ReturnKeyOperator final : public query::StreamingOperator {
 public:
  ReturnKeyOperator(std::unique_ptr<query::Operator> input, const query::RowSource& source)
      : StreamingOperator(std::move(input)), source_(source) {}

 protected:
  absl::Status Process(query::Row row, query::Batch* out) override;

 private:
  const query::RowSource& source_;
};

}  // namespace evenkeel::shard
