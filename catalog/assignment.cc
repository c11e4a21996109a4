// Equal ranges over the hash space, and their form in config.assignments.
#include "catalog/assignment.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/check.h"
#include "base/status.h"

namespace evenkeel::catalog {

Assignment Assignment::Equal(std::string name, uint32_t shard_count) {
  EVENKEEL_CHECK(shard_count > 0);
  Assignment out;
  out.name_ = std::move(name);
  // 2^64 * i / n without 128-bit numbers: 2^64 = quotient * n + rest.
  const uint64_t quotient =
      UINT64_MAX / shard_count + (UINT64_MAX % shard_count + 1 == shard_count);
  const uint64_t rest = (UINT64_MAX % shard_count + 1) % shard_count;
  for (uint32_t i = 0; i < shard_count; ++i) {
    const uint64_t offset = quotient * i + rest * i / shard_count;
    out.ranges_.push_back({static_cast<int64_t>(offset ^ (uint64_t{1} << 63)), ShardId{i}});
  }
  return out;
}

absl::StatusOr<Assignment> Assignment::FromBson(bson::View document) {
  Assignment out;
  const bson::Value id = document["_id"], version = document["version"],
                    ranges = document["ranges"];
  if (!id.Is(bson::Type::kString) || !version.Is(bson::Type::kInt64) ||
      !ranges.Is(bson::Type::kArray)) {
    return Error(ErrorCode::kInvalidBSON, "damaged assignment {}", bson::ToJson(document));
  }
  out.name_ = std::string(id.AsString());
  out.version_ = version.AsInt64();
  for (const auto& [key, value] : ranges.AsDocument()) {
    const bson::View range = value.Is(bson::Type::kObject) ? value.AsDocument() : bson::View();
    const bson::Value min = range["min"], shard = range["shard"];
    if (!min.Is(bson::Type::kInt64) || !shard.Is(bson::Type::kInt32) || shard.AsInt32() < 0) {
      return Error(ErrorCode::kInvalidBSON, "damaged range of assignment '{}'", out.name_);
    }
    out.ranges_.push_back({min.AsInt64(), ShardId{static_cast<uint32_t>(shard.AsInt32())}});
  }
  const auto not_ascending = [](const HashRange& a, const HashRange& b) { return a.min >= b.min; };
  if (out.ranges_.empty() || out.ranges_[0].min != INT64_MIN ||
      std::adjacent_find(out.ranges_.begin(), out.ranges_.end(), not_ascending) !=
          out.ranges_.end()) {
    return Error(ErrorCode::kInvalidBSON, "assignment '{}' does not cover the hash space",
                 out.name_);
  }
  return out;
}

bson::Document Assignment::ToBson() const {
  bson::Builder out;
  out.Append("_id", name_).Append("version", version_).OpenArray("ranges");
  bson::ArrayAppender array(out);
  for (const HashRange& range : ranges_) {
    out.OpenDocument(array.NextKey());
    out.Append("min", range.min).Append("shard", static_cast<int32_t>(range.owner.value)).Close();
  }
  out.Close();
  return out.Finish();
}

const HashRange& Assignment::RangeOf(int64_t hash) const {
  const auto above =
      std::upper_bound(ranges_.begin(), ranges_.end(), hash,
                       [](int64_t value, const HashRange& range) { return value < range.min; });
  return *std::prev(above);
}

std::optional<ShardId> Assignment::OwnerOf(const storage::HashSpan& hashes) const {
  const auto above =
      std::upper_bound(ranges_.begin(), ranges_.end(), hashes.first,
                       [](int64_t value, const HashRange& range) { return value < range.min; });
  if (above != ranges_.end() && above->min <= hashes.last) return std::nullopt;
  return std::prev(above)->owner;
}

storage::HashSpan Assignment::SpanOf(size_t range) const {
  const int64_t last = range + 1 < ranges_.size() ? ranges_[range + 1].min - 1 : INT64_MAX;
  return {ranges_[range].min, last};
}

bool Assignment::OwnsNothing(ShardId shard) const {
  return std::none_of(ranges_.begin(), ranges_.end(),
                      [shard](const HashRange& range) { return range.owner == shard; });
}

std::vector<ShardId> Assignment::Owners() const {
  std::set<ShardId> owners;
  for (const HashRange& range : ranges_) owners.insert(range.owner);
  return {owners.begin(), owners.end()};
}

}  // namespace evenkeel::catalog
