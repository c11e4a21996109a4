// Parses shard key patterns and places documents.
#include "catalog/shard_key.h"

#include <cstddef>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/hash.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/limits.h"
#include "base/status.h"
#include "storage/keys/key_encoding.h"

namespace evenkeel::catalog {
namespace {

// The value of a shard key field: missing counts as null. Errors: an array on the path.
absl::StatusOr<bson::Value> FieldOf(bson::View document, const bson::Path& path) {
  bson::Value value(bson::Type::kObject, document.data());
  for (size_t i = 0; i < path.size() && !value.missing(); ++i) {
    if (value.Is(bson::Type::kArray)) break;
    value = value.Is(bson::Type::kObject) ? value.AsDocument()[path.part(i)] : bson::Value();
  }
  if (value.Is(bson::Type::kArray)) {
    return Error(ErrorCode::kShardKeyNotFound,
                 "Shard key cannot contain array values or array descendants: field '{}'",
                 path.dotted());
  }
  if (value.missing()) return bson::Value(bson::Type::kNull, nullptr);
  return value;
}

// True when one path is the other or leads to it: both cannot have a value of their own.
bool Overlap(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && (b.size() == a.size() || b[a.size()] == '.');
}

}  // namespace

absl::StatusOr<ShardKeyPattern> ShardKeyPattern::Parse(bson::View pattern) {
  ShardKeyPattern key;
  key.pattern_ = bson::Document(pattern);
  for (const auto& [field, value] : pattern) {
    const bool hashed = value.Is(bson::Type::kString) && value.AsString() == "hashed";
    if (field.empty() || field.front() == '$' || field.front() == '.' || field.back() == '.' ||
        field.find("..") != std::string_view::npos) {
      return Error(ErrorCode::kBadValue, "shard key has an invalid field name '{}'", field);
    }
    if (key.fields_.empty() && !hashed) {
      return Error(ErrorCode::kBadValue,
                   "shard key {} is not supported: its first field must be \"hashed\"",
                   bson::ToJson(pattern));
    }
    if (!key.fields_.empty() && hashed) {
      return Error(ErrorCode::kBadValue,
                   "shard key {} is not supported: only its first field may be \"hashed\"",
                   bson::ToJson(pattern));
    }
    if (!hashed && (!value.IsNumber() || bson::ToInt64Exact(value) != 1)) {
      return Error(ErrorCode::kBadValue, "shard key field '{}' must be 1 or \"hashed\", not {}",
                   field, bson::ToDisplay(value));
    }
    for (const bson::Path& other : key.fields_) {
      if (!Overlap(other.dotted(), field)) continue;
      return Error(ErrorCode::kBadValue, "shard key fields '{}' and '{}' overlap", other.dotted(),
                   field);
    }
    key.fields_.emplace_back(field);
  }
  if (key.fields_.empty()) return MakeError(ErrorCode::kBadValue, "shard key is empty");
  return key;
}

absl::StatusOr<int64_t> ShardKeyPattern::HashOf(bson::View document) const {
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, FieldOf(document, fields_[0]));
  // Undefined is equal to null where collections are joined, so it lies there.
  return bson::HashValue(value.IsNullish() ? bson::Value() : value);
}

absl::StatusOr<Placement> ShardKeyPattern::PlacementOf(bson::View document,
                                                       storage::PlacedBy by) const {
  Placement out;
  EVENKEEL_ASSIGN_OR_RETURN(out.hash, HashOf(document));
  out.key = storage::EncodeHash(out.hash, by);
  for (size_t i = 1; i < fields_.size(); ++i) {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, FieldOf(document, fields_[i]));
    storage::AppendEncoded(value, storage::Direction::kAscending, &out.key);
  }
  if (out.key.size() > limits::kPlacementKeyBytesMax) {
    return Error(ErrorCode::kBadValue, "shard key of {} bytes is longer than {}", out.key.size(),
                 limits::kPlacementKeyBytesMax);
  }
  return out;
}

bson::Document ShardKeyPattern::KeyOf(bson::View document) const {
  bson::Builder out;
  for (const bson::Path& path : fields_) {
    const bson::Value value = bson::LookupPlain(document, path);
    if (value.missing()) {
      out.AppendNull(path.dotted());
    } else {
      out.Append(path.dotted(), value);
    }
  }
  return out.Finish();
}

}  // namespace evenkeel::catalog
