// Rows of config.shards: the truth about who the shards of the cluster are.
//
//   {_id: "shard3", host: "shard3/10.0.0.4:27018", state: 1, draining: true, version: 2, …}
//
// `draining` is only there while it is true. Each change of a row gives it the next `version`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/types.h"

namespace evenkeel::router {

struct ShardRow {
  ShardId shard;
  std::string host;  // "10.0.0.4:27018"
  bool draining = false;
  int64_t version = 0;  // 0: written by a version that did not number them
  // Nothing for what cannot be used: no shard's name, no address.
  static std::optional<ShardRow> FromBson(bson::View document);
};

// "shard3".
std::string ShardName(ShardId shard);
std::optional<ShardId> ShardNamed(std::string_view name);

bson::Document NewShardRow(ShardId shard, std::string_view host, Timestamp now);
// The same row with the next version.
bson::Document WithHost(bson::View row, std::string_view host);
bson::Document WithDraining(bson::View row, bool draining);

// The number for the next shard, which is never given out again: the row "shards" of
// config.sequences.
inline constexpr std::string_view kShardSequence = "shards";
bson::Document ShardSequenceRow(uint32_t next);

}  // namespace evenkeel::router
