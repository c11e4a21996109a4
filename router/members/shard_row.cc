// Reads and writes rows of config.shards.
#include "router/members/shard_row.h"

#include <charconv>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "wire/net/host_port.h"

namespace evenkeel::router {
namespace {

constexpr std::string_view kPrefix = "shard";

// As MongoDB shows the replica set of a shard.
std::string ConnectionString(std::string_view name, std::string_view host) {
  return std::string(name).append("/").append(host);
}

int64_t VersionOf(bson::View row) {
  const bson::Value version = row["version"];
  return version.IsNumber() ? bson::ToInt64Truncated(version) : 0;
}

// All fields but `left_out` and the version, which moves on.
bson::Builder NextVersion(bson::View row, std::string_view left_out) {
  bson::Builder out;
  for (const auto& [name, value] : row) {
    if (name != left_out && name != "version") out.Append(name, value);
  }
  out.Append("version", VersionOf(row) + 1);
  return out;
}

}  // namespace

std::string ShardName(ShardId shard) { return std::string(kPrefix) + std::to_string(shard.value); }

std::optional<ShardId> ShardNamed(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  const char* const end = digits.data() + digits.size();
  ShardId shard;
  const auto read = std::from_chars(digits.data(), end, shard.value);
  if (read.ec != std::errc() || read.ptr != end || ShardName(shard) != name) return std::nullopt;
  return shard;
}

std::optional<ShardRow> ShardRow::FromBson(bson::View document) {
  const bson::Value id = document["_id"], host = document["host"];
  if (!id.Is(bson::Type::kString) || !host.Is(bson::Type::kString)) return std::nullopt;
  const std::optional<ShardId> shard = ShardNamed(id.AsString());
  std::string_view address = host.AsString();
  if (const size_t slash = address.find('/'); slash != std::string_view::npos)
    address.remove_prefix(slash + 1);
  if (!shard || !wire::ParseHostPort(address)) return std::nullopt;
  return ShardRow{*shard, std::string(address), bson::Truthy(document["draining"]),
                  VersionOf(document)};
}

bson::Document NewShardRow(ShardId shard, std::string_view host, Timestamp now) {
  bson::Builder out;
  const std::string name = ShardName(shard);
  out.Append("_id", name)
      .Append("host", ConnectionString(name, host))
      .Append("state", int32_t{1})
      .Append("topologyTime", now)
      .Append("replSetConfigVersion", int64_t{-1})
      .Append("version", int64_t{1});
  return out.Finish();
}

bson::Document WithHost(bson::View row, std::string_view host) {
  bson::Builder out = NextVersion(row, "host");
  out.Append("host", ConnectionString(row["_id"].AsString(), host));
  return out.Finish();
}

bson::Document WithDraining(bson::View row, bool draining) {
  bson::Builder out = NextVersion(row, "draining");
  if (draining) out.Append("draining", true);
  return out.Finish();
}

bson::Document ShardSequenceRow(uint32_t next) {
  bson::Builder out;
  out.Append("_id", kShardSequence).Append("version", static_cast<int64_t>(next));
  return out.Finish();
}

}  // namespace evenkeel::router
