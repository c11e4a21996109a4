// A sort specification and the comparison it stands for.
//
// Sort keys follow index keys: a missing field counts as null, an empty array as undefined, an
// array by its lowest element (ascending) or highest (descending). Fields that go through one array
// are taken from the same element together. Source: "cursor.sort()", "$sort" in the MongoDB manual.
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
  // Errors: 15974 for a direction that is no number, 15975 for one other than 1 and -1, 16410,
  // 15998, 40353 for bad paths, 13103 for more than 32 fields, CommandNotSupported for {$meta: …}.
  // An empty specification is allowed; 15976 for it is the $sort stage's.
  static absl::StatusOr<SortPattern> Parse(bson::View spec);
  const std::vector<SortField>& fields() const { return fields_; }
  bool empty() const { return fields_.empty(); }
  bson::View spec() const { return spec_.view(); }

  // The sort key of a document: an array with one value per field.
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
