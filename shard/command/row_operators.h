// What find shows of a row besides the document, or in its place: its record id, its index key.
#pragma once

#include <memory>

#include "catalog/collection.h"
#include "query/exec/streaming.h"

namespace evenkeel::shard {

// Appends "$recordId": a number that stands for the document's place, the same as long as it is
// there. `entry` outlives the operator. Source: "showRecordId" in the MongoDB manual.
class RecordIdOperator final : public query::StreamingOperator {
 public:
  RecordIdOperator(std::unique_ptr<query::Operator> input, const catalog::CollectionEntry& entry)
      : StreamingOperator(std::move(input)), entry_(entry) {}

 protected:
  absl::Status Process(query::Row row, query::Batch* out) override;

 private:
  const catalog::CollectionEntry& entry_;
};

// Replaces documents by the fields of an index, keeping what rows carry ("$sortKey", "$recordId");
// of a document with several keys the first is shown. Without an index nothing but that is left.
// `index` outlives the operator. Source: "returnKey" in the MongoDB manual.
class ReturnKeyOperator final : public query::StreamingOperator {
 public:
  ReturnKeyOperator(std::unique_ptr<query::Operator> input, const catalog::IndexEntry* index)
      : StreamingOperator(std::move(input)), index_(index) {}

 protected:
  absl::Status Process(query::Row row, query::Batch* out) override;

 private:
  const catalog::IndexEntry* const index_;
};

}  // namespace evenkeel::shard
