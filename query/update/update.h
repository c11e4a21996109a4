// A compiled update: operators ({$set: …}), a replacement, or (later) a pipeline.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "base/bson/document.h"
#include "query/context.h"
#include "query/match/filter.h"

namespace evenkeel::query {

enum class UpdateKind : uint8_t { kOperators, kReplacement, kPipeline };

struct UpdateOutcome {
  bson::Document document;  // the new one; meaningless when !changed
  bool changed = false;     // false: nothing to write (nMatched without nModified)
};

class Update {
 public:
  class Impl;
  // `update` is the statement's u (document or array). Errors: MongoDB's, e.g. 9 for an unknown
  // modifier, 40 for conflicting paths.
  static absl::StatusOr<Update> Parse(bson::Value update, bson::View array_filters,
                                      const QueryContext& context);
  Update(Update&&) noexcept;
  Update& operator=(Update&&) noexcept;
  ~Update();

  UpdateKind kind() const;
  // Applies to an existing document. `filter` for the positional operator. Errors: 66 when _id
  // would change, 10334 for a too large result, 28, 14 … Deterministic given the document and the
  // context.
  absl::StatusOr<UpdateOutcome> Apply(bson::View document, const Filter* filter) const;
  // The document that an upsert inserts: the filter's equalities, then the update; `_id` first,
  // made new when neither gives one.
  absl::StatusOr<bson::Document> BuildUpsert(const Filter& filter) const;

 private:
  explicit Update(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evenkeel::query
