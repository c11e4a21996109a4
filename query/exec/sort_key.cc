// Attaching and removing sort keys.
#include "query/exec/sort_key.h"

#include "base/bson/builder.h"

namespace evenkeel::query {

bson::Document WithSortKey(bson::View document, bson::Value key) {
  bson::Builder builder(document);
  builder.Append(kSortKeyField, key);
  return builder.Finish();
}

bson::Document WithoutSortKey(bson::View document) {
  bson::Builder builder;
  for (const auto& [key, value] : document) {
    if (key != kSortKeyField) builder.Append(key, value);
  }
  return builder.Finish();
}

absl::Status SortKeyOperator::Process(Row row, Batch* out) {
  const bson::Document key = pattern_.KeyOf(row.view, collation_);
  out->push_back(
      Row::Own(WithSortKey(row.view, bson::Value(bson::Type::kArray, key.view().data()))));
  return absl::OkStatus();
}

}  // namespace evenkeel::query
