// Computes record ids and index keys of documents.
#include "shard/command/row_operators.h"

#include "base/bson/builder.h"
#include "base/digest.h"
#include "base/status.h"
#include "query/exec/carry.h"
#include "query/exec/sort_key.h"
#include "shard/command/index_values.h"
#include "storage/keys/key_encoding.h"

namespace evenkeel::shard {

absl::StatusOr<int64_t> CollectionSource::RecordIdOf(bson::View document) const {
  EVENKEEL_ASSIGN_OR_RETURN(const catalog::Placement place, entry_.PlacementOf(document));
  const std::string key =
      storage::DocKey(entry_.id, place.key, document["_id"], entry_.id_collation());
  const auto hash = bson::LoadLittle<uint64_t>(base::Xxh64(key).data());
  return static_cast<int64_t>(hash >> 1);
}

absl::StatusOr<std::optional<bson::Document>> CollectionSource::IndexKeyOf(
    bson::View document) const {
  if (index_ == nullptr) return std::nullopt;
  bson::Builder builder;
  EVENKEEL_ASSIGN_OR_RETURN(const IndexValues keys, IndexValuesOf(*index_, document));
  for (size_t i = 0; i < index_->fields.size() && i < keys.values.size(); ++i) {
    const std::string& name = index_->fields[i].path.dotted();
    if (keys.values[i].missing()) {
      builder.AppendNull(name);
    } else {
      builder.Append(name, keys.values[i]);
    }
  }
  return builder.Finish();
}

absl::Status RecordIdOperator::Process(query::Row row, query::Batch* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t id, source_.RecordIdOf(row.view));
  bson::Builder builder(row.view);
  builder.Append(query::kRecordIdField, id);
  out->push_back(query::Row::Own(builder.Finish()));
  return absl::OkStatus();
}

absl::Status ReturnKeyOperator::Process(query::Row row, query::Batch* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const auto key, source_.IndexKeyOf(row.view));
  bson::Builder builder;
  if (key) builder.AppendFields(key->view());
  for (const std::string_view name : {query::kRecordIdField, query::kSortKeyField}) {
    builder.Append(name, row.view[name]);
  }
  out->push_back(query::Row::Own(builder.Finish()));
  return absl::OkStatus();
}

}  // namespace evenkeel::shard
