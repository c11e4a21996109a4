// Operators that treat one row after the other and hold nothing: filter, rewrite, skip, limit,
// unwind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/bson/path.h"
#include "query/exec/operator.h"
#include "query/expr/expression.h"
#include "query/match/filter.h"
#include "query/project/projection.h"

namespace evenkeel::query {

// Base: takes the input's rows one by one.
class StreamingOperator : public Operator {
 public:
  explicit StreamingOperator(std::unique_ptr<Operator> input) : input_(std::move(input)) {}
  absl::StatusOr<Step> Pull(Batch* out) final;

 protected:
  // Appends what becomes of `row`: nothing, one row, or several.
  virtual absl::Status Process(Row row, Batch* out) = 0;
  // True when no further input can change the result.
  virtual bool Done() const { return false; }

 private:
  std::unique_ptr<Operator> input_;
  Batch batch_;
};

// Keeps the rows that match. `filter` outlives the operator.
class FilterOperator final : public StreamingOperator {
 public:
  FilterOperator(std::unique_ptr<Operator> input, const Filter& filter)
      : StreamingOperator(std::move(input)), filter_(filter) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  const Filter& filter_;
};

// Applies a projection. `projection` and `filter` (for the positional operator; may be null)
// outlive the operator. With `keep_sort_key` the field "$sortKey" of the input is copied to the
// output.
class ProjectOperator final : public StreamingOperator {
 public:
  ProjectOperator(std::unique_ptr<Operator> input, const Projection& projection,
                  const Filter* filter = nullptr, bool keep_sort_key = false)
      : StreamingOperator(std::move(input)),
        projection_(projection),
        filter_(filter),
        keep_sort_key_(keep_sort_key) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  const Projection& projection_;
  const Filter* filter_;
  bool keep_sort_key_;
};

// Replaces each document by what an expression gives. Errors: 40228 when that is no object.
class ReplaceRootOperator final : public StreamingOperator {
 public:
  ReplaceRootOperator(std::unique_ptr<Operator> input, const Expression& root,
                      const QueryContext& context)
      : StreamingOperator(std::move(input)), root_(root), evaluation_(context) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  const Expression& root_;
  Evaluation evaluation_;
};

class SkipOperator final : public StreamingOperator {
 public:
  SkipOperator(std::unique_ptr<Operator> input, int64_t count)
      : StreamingOperator(std::move(input)), left_(count) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  int64_t left_;
};

class LimitOperator final : public StreamingOperator {
 public:
  LimitOperator(std::unique_ptr<Operator> input, int64_t count)
      : StreamingOperator(std::move(input)), left_(count) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;
  bool Done() const override { return left_ == 0; }

 private:
  int64_t left_;
};

// What $unwind is told.
struct UnwindOptions {
  bson::Path path;                     // without "$"
  std::optional<bson::Path> index_as;  // includeArrayIndex
  bool preserve_empty = false;         // preserveNullAndEmptyArrays
};

// One document per element of an array. `options` outlive the operator.
class UnwindOperator final : public StreamingOperator {
 public:
  UnwindOperator(std::unique_ptr<Operator> input, const UnwindOptions& options)
      : StreamingOperator(std::move(input)), options_(options) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  const UnwindOptions& options_;
};

// The document with `value` at the path that is unwound (missing: the field taken away), and the
// index where it is wanted.
bson::Document Unwound(bson::View document, const UnwindOptions& options, bson::Value value,
                       std::optional<int64_t> index);

// Yields documents that it owns, without input.
class DocumentsOperator final : public Operator {
 public:
  explicit DocumentsOperator(std::vector<bson::Document> documents)
      : documents_(std::move(documents)) {}
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  std::vector<bson::Document> documents_;
  size_t next_ = 0;
};

}  // namespace evenkeel::query
