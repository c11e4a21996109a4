// Appends metadata to rows.
#include "query/exec/row_meta.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status.h"
#include "query/expr/meta.h"

namespace evenkeel::query {

absl::Status RowMetaOperator::Process(Row row, Batch* out) {
  if (source_ == nullptr) {
    out->push_back(std::move(row));
    return absl::OkStatus();
  }
  bson::Builder builder(row.view);
  if (wanted_.record_id) {
    EVENKEEL_ASSIGN_OR_RETURN(const int64_t id, source_->RecordIdOf(row.view));
    builder.Append(kRecordIdMetaField, id);
  }
  if (wanted_.index_key) {
    EVENKEEL_ASSIGN_OR_RETURN(const auto key, source_->IndexKeyOf(row.view));
    if (key) builder.AppendDocument(kIndexKeyMetaField, key->view());
  }
  out->push_back(Row::Own(builder.Finish()));
  return absl::OkStatus();
}

absl::Status SortMetaOperator::Process(Row row, Batch* out) {
  const bson::Document key = pattern_.KeyOf(row.view, collation_);
  bson::Builder builder;
  for (const auto& [name, value] : row.view) {
    if (name != kSortMetaField) builder.Append(name, value);
  }
  builder.AppendArray(kSortMetaField, key.view());
  out->push_back(Row::Own(builder.Finish()));
  return absl::OkStatus();
}

absl::Status DropMetaOperator::Process(Row row, Batch* out) {
  bson::Builder builder;
  for (const auto& [name, value] : row.view) {
    const auto is_it = [&name = name](const MetaKind& kind) { return kind.field == name; };
    if (std::none_of(std::begin(kMetaKinds), std::end(kMetaKinds), is_it)) {
      builder.Append(name, value);
    }
  }
  out->push_back(Row::Own(builder.Finish()));
  return absl::OkStatus();
}

}  // namespace evenkeel::query
