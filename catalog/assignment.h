// Which shard owns which part of the hash space: the ranges that collections share.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/document.h"
#include "base/types.h"
#include "storage/table.h"

namespace evenkeel::catalog {

// [min, next range's min), the last one up to the end of the space.
struct HashRange {
  int64_t min = INT64_MIN;
  ShardId owner;
  friend bool operator==(const HashRange&, const HashRange&) = default;
};

// Of a new cluster. When shards join or leave, later versions come beside it.
inline constexpr std::string_view kDefaultAssignment = "default";

class Assignment {
 public:
  Assignment() = default;
  // Requires ranges that cover the space, ascending.
  Assignment(std::string name, int64_t version, std::vector<HashRange> ranges)
      : name_(std::move(name)), version_(version), ranges_(std::move(ranges)) {}
  // `shard_count` ranges whose widths differ by at most 1.
  static Assignment Equal(std::string name, uint32_t shard_count);
  // From config.assignments. Errors: InvalidBSON when the ranges do not cover the space.
  static absl::StatusOr<Assignment> FromBson(bson::View document);
  bson::Document ToBson() const;

  const std::string& name() const { return name_; }
  int64_t version() const { return version_; }
  std::span<const HashRange> ranges() const { return ranges_; }
  const HashRange& RangeOf(int64_t hash) const;
  ShardId OwnerOf(int64_t hash) const { return RangeOf(hash).owner; }
  // Their common owner; nothing where a range begins inside of the span.
  std::optional<ShardId> OwnerOf(const storage::HashSpan& hashes) const;
  std::vector<ShardId> Owners() const;  // ascending, each once
  // The hashes of the range with that number.
  storage::HashSpan SpanOf(size_t range) const;
  bool OwnsNothing(ShardId shard) const;
  bool Owns(ShardId shard, int64_t hash) const { return OwnerOf(hash) == shard; }

 private:
  std::string name_;
  int64_t version_ = 1;
  std::vector<HashRange> ranges_;  // ascending by min, the first is INT64_MIN
};

}  // namespace evenkeel::catalog
