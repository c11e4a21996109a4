// A sort specification and the comparison it stands for.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "base/bson/document.h"
#include "base/bson/path.h"
#include "query/context.h"

namespace evenkeel::query {

struct SortField {
  bson::Path path;
  bool ascending = true;
};

class SortPattern {
 public:
  // Errors: BadValue for directions other than 1, -1, {$meta: …}; 15976 for an empty one in $sort is the caller's.
  static absl::StatusOr<SortPattern> Parse(bson::View spec);
  const std::vector<SortField>& fields() const { return fields_; }
  bool empty() const { return fields_.empty(); }
  bson::View spec() const { return spec_.view(); }

  // The sort key of a document: an array with one value per field; of arrays the lowest (ascending) or highest element counts, as in MongoDB.
  bson::Document KeyOf(bson::View document, const bson::StringComparator* collation) const;
  // Compares two sort keys.
  int CompareKeys(bson::View a, bson::View b, const bson::StringComparator* collation) const;
  // Compares two documents without making keys when no arrays are in the way.
  int CompareDocuments(bson::View a, bson::View b, const bson::StringComparator* collation) const;

 private:
  std::vector<SortField> fields_;
  bson::Document spec_;
};

}  // namespace evenkeel::query
