// Reads and writes catalog entries; checks names.
#include "catalog/collection.h"

#include <utility>

#include "base/bson/builder.h"
#include "base/bson/hash.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/collation/collation.h"

namespace evenkeel::catalog {
namespace {

constexpr size_t kDatabaseNameBytesMax = 63;
constexpr size_t kNamespaceBytesMax = 255;

bool BoolField(bson::View document, std::string_view name) {
  const bson::Value value = document[name];
  return !value.missing() && bson::Truthy(value);
}

uint64_t IdField(bson::View document, std::string_view name) {
  const bson::Value value = document[name];
  return value.Is(bson::Type::kInt64) ? static_cast<uint64_t>(value.AsInt64()) : 0;
}

std::string StringField(bson::View document, std::string_view name) {
  const bson::Value value = document[name];
  return value.Is(bson::Type::kString) ? std::string(value.AsString()) : std::string();
}

absl::StatusOr<std::vector<IndexEntry>> IndexesFromBson(bson::View array) {
  std::vector<IndexEntry> indexes;
  for (const auto& [key, value] : array) {
    if (!value.Is(bson::Type::kObject))
      return MakeError(ErrorCode::kInvalidBSON, "damaged index entry");
    const bson::View row = value.AsDocument();
    const bson::Value spec = row["spec"];
    if (!spec.Is(bson::Type::kObject))
      return MakeError(ErrorCode::kInvalidBSON, "damaged index entry");
    EVENKEEL_ASSIGN_OR_RETURN(IndexEntry index,
                              IndexEntry::FromSpec(IndexId{IdField(row, "id")}, spec.AsDocument()));
    index.ready = BoolField(row, "ready");
    indexes.push_back(std::move(index));
  }
  return indexes;
}

}  // namespace

absl::StatusOr<IndexEntry> IndexEntry::FromSpec(IndexId id, bson::View spec) {
  IndexEntry index;
  index.id = id;
  index.spec = bson::Document(spec);
  index.name = StringField(spec, "name");
  index.unique = BoolField(spec, "unique") || index.IsIdIndex();
  index.sparse = BoolField(spec, "sparse");
  EVENKEEL_ASSIGN_OR_RETURN(index.collation, query::Collation::Get(query::CollationOption(spec)));
  const bson::Value key = spec["key"];
  if (!key.Is(bson::Type::kObject) || key.AsDocument().empty() || index.name.empty()) {
    return Error(ErrorCode::kCannotCreateIndex, "index specification {} lacks a key or a name",
                 bson::ToJson(spec));
  }
  for (const auto& [path, kind] : key.AsDocument()) {
    IndexField field{bson::Path(path)};
    if (kind.Is(bson::Type::kString) && kind.AsString() == "hashed") {
      field.hashed = true;
    } else if (kind.IsNumber()) {
      field.direction = bson::ToDouble(kind) < 0 ? storage::Direction::kDescending
                                                 : storage::Direction::kAscending;
    } else {
      return Error(ErrorCode::kCannotCreateIndex,
                   "index kind {} of field '{}' is not supported yet", bson::ToDisplay(kind), path);
    }
    index.fields.push_back(std::move(field));
  }
  return index;
}

std::string_view CollectionEntry::database() const { return SplitNamespace(ns).database; }

std::string_view CollectionEntry::name() const { return SplitNamespace(ns).collection; }

const IndexEntry* CollectionEntry::FindIndex(std::string_view index_name) const {
  for (const IndexEntry& index : indexes) {
    if (index.name == index_name) return &index;
  }
  return nullptr;
}

absl::StatusOr<Placement> CollectionEntry::PlacementOf(bson::View document) const {
  if (!sharded()) return Placement();
  return shard_key->PlacementOf(document, placed_by());
}

absl::StatusOr<Placement> CollectionEntry::PlaceInCopy(bson::View document) const {
  Placement place;
  if (const auto& key = copied_to->shard_key) {
    EVENKEEL_ASSIGN_OR_RETURN(place, key->PlacementOf(document, PlacedByFor(*key)));
  }
  place.key = storage::DocKey(copied_to->id, place.key, document["_id"], id_collation());
  return place;
}

std::string CollectionEntry::DocKeyOfId(bson::Value id) const {
  const std::string place =
      sharded() ? storage::EncodeHash(bson::HashValue(id), placed_by()) : std::string();
  return storage::DocKey(this->id, place, id, id_collation());
}

absl::StatusOr<CollectionEntry> CollectionEntry::FromBson(bson::View document) {
  CollectionEntry entry;
  entry.ns = StringField(document, "_id");
  entry.id = CollectionId{IdField(document, "id")};
  entry.version = CatalogVersion{IdField(document, "version")};
  entry.kind =
      StringField(document, "kind") == "view" ? CollectionKind::kView : CollectionKind::kCollection;
  const bson::Value uuid = document["uuid"];
  if (entry.ns.empty() || entry.id.value == 0) {
    return Error(ErrorCode::kInvalidBSON, "damaged catalog entry {}", bson::ToJson(document));
  }
  if (uuid.Is(bson::Type::kBinary)) entry.uuid = std::string(uuid.AsBinary().bytes);
  if (const bson::Value options = document["options"]; options.Is(bson::Type::kObject)) {
    entry.options = bson::Document(options.AsDocument());
  }
  if (const bson::Value key = document["key"]; key.Is(bson::Type::kObject)) {
    EVENKEEL_ASSIGN_OR_RETURN(entry.shard_key, ShardKeyPattern::Parse(key.AsDocument()));
  }
  entry.shard_key_unique = BoolField(document, "unique");
  entry.assignment = StringField(document, "assignment");
  if (const bson::Value primary = document["primary"]; primary.Is(bson::Type::kInt32)) {
    entry.primary = ShardId{static_cast<uint32_t>(primary.AsInt32())};
  }
  if (const bson::Value indexes = document["indexes"]; indexes.Is(bson::Type::kArray)) {
    EVENKEEL_ASSIGN_OR_RETURN(entry.indexes, IndexesFromBson(indexes.AsDocument()));
  }
  entry.writes_closed = BoolField(document, "writesClosed");
  entry.retired = BoolField(document, "retired");
  if (const bson::Value copy = document["copiedTo"]; copy.Is(bson::Type::kObject)) {
    entry.copied_to.emplace();
    entry.copied_to->id = CollectionId{IdField(copy.AsDocument(), "id")};
    if (const bson::Value key = copy.AsDocument()["key"]; key.Is(bson::Type::kObject)) {
      EVENKEEL_ASSIGN_OR_RETURN(entry.copied_to->shard_key,
                                ShardKeyPattern::Parse(key.AsDocument()));
    }
    entry.copied_to->assignment = StringField(copy.AsDocument(), "assignment");
  }
  entry.job = StringField(document, "job");
  return entry;
}

bson::Document CollectionEntry::ToBson() const {
  bson::Builder out;
  out.Append("_id", ns)
      .Append("id", static_cast<int64_t>(id.value))
      .Append("version", static_cast<int64_t>(version.value))
      .Append("kind", kind == CollectionKind::kView ? "view" : "collection")
      .AppendBinary("uuid", 4, uuid)
      .Append("options", options);
  if (shard_key) {
    out.Append("key", shard_key->pattern())
        .Append("unique", shard_key_unique)
        .Append("assignment", assignment);
  } else {
    out.Append("primary", static_cast<int32_t>(primary.value));
  }
  out.OpenArray("indexes");
  bson::ArrayAppender array(out);
  for (const IndexEntry& index : indexes) {
    out.OpenDocument(array.NextKey());
    out.Append("id", static_cast<int64_t>(index.id.value))
        .Append("ready", index.ready)
        .Append("spec", index.spec)
        .Close();
  }
  out.Close();
  if (writes_closed) out.Append("writesClosed", true);
  if (retired) out.Append("retired", true);
  if (copied_to) {
    out.OpenDocument("copiedTo").Append("id", static_cast<int64_t>(copied_to->id.value));
    if (copied_to->shard_key) out.Append("key", copied_to->shard_key->pattern());
    if (moves_ranges()) out.Append("assignment", copied_to->assignment);
    out.Close();
  }
  if (!job.empty()) out.Append("job", job);
  return out.Finish();
}

Namespace SplitNamespace(std::string_view ns) {
  const size_t dot = ns.find('.');
  if (dot == std::string_view::npos) return {ns, {}};
  return {ns.substr(0, dot), ns.substr(dot + 1)};
}

absl::Status CheckDatabaseName(std::string_view database) {
  if (database.empty() || database.size() > kDatabaseNameBytesMax ||
      database.find_first_of(std::string_view("/\\. \"$\0", 7)) != std::string_view::npos) {
    return Error(ErrorCode::kInvalidNamespace, "Invalid database name: '{}'", database);
  }
  return absl::OkStatus();
}

absl::Status CheckCollectionName(std::string_view database, std::string_view collection) {
  EVENKEEL_RETURN_IF_ERROR(CheckDatabaseName(database));
  if (collection.empty() || collection.front() == '.' ||
      collection.find('$') != std::string_view::npos ||
      collection.find('\0') != std::string_view::npos) {
    return Error(ErrorCode::kInvalidNamespace, "Invalid collection name: '{}.{}'", database,
                 collection);
  }
  if (database.size() + 1 + collection.size() > kNamespaceBytesMax) {
    return Error(ErrorCode::kInvalidNamespace, "Fully qualified namespace is too long: '{}.{}'",
                 database, collection);
  }
  return absl::OkStatus();
}

}  // namespace evenkeel::catalog
