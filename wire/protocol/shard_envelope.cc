// Writes and reads the `$shard` field.
#include "wire/protocol/shard_envelope.h"

#include "base/status.h"

namespace evenkeel::wire {

void AppendEnvelope(bson::Builder& builder, const ShardEnvelope& envelope) {
  builder.OpenDocument(kShardField);
  builder.Append("c", static_cast<int64_t>(envelope.collection.value));
  builder.Append("v", static_cast<int64_t>(envelope.version.value));
  if (envelope.times) {
    builder.AppendDate("n", envelope.times->now_ms).Append("k", envelope.times->cluster_time);
  }
  if (envelope.merge) builder.Append("m", true);
  if (envelope.early) builder.Append("e", true);
  if (!envelope.target.empty()) builder.AppendBinary("t", 0, envelope.target);
  if (!envelope.statements.empty()) builder.AppendArray("s", envelope.statements);
  if (!envelope.only.empty()) builder.AppendArray("o", envelope.only);
  builder.Close();
}

absl::StatusOr<ShardEnvelope> ParseEnvelope(bson::View body) {
  const bson::Value field = body[kShardField];
  if (!field.Is(bson::Type::kObject)) {
    return MakeError(ErrorCode::kInvalidOptions, "an internal request lacks the field $shard");
  }
  ShardEnvelope envelope;
  CommandTimes times;
  for (const auto& [key, value] : field.AsDocument()) {
    if (key == "c" && value.Is(bson::Type::kInt64)) {
      envelope.collection = {static_cast<uint64_t>(value.AsInt64())};
    } else if (key == "v" && value.Is(bson::Type::kInt64)) {
      envelope.version = {static_cast<uint64_t>(value.AsInt64())};
    } else if (key == "n" && value.Is(bson::Type::kDate)) {
      times.now_ms = value.AsDateMillis();
      envelope.times = times;
    } else if (key == "k" && value.Is(bson::Type::kTimestamp)) {
      times.cluster_time = value.AsTimestamp();
      envelope.times = times;
    } else if (key == "m" && value.Is(bson::Type::kBool)) {
      envelope.merge = value.AsBool();
    } else if (key == "e" && value.Is(bson::Type::kBool)) {
      envelope.early = value.AsBool();
    } else if (key == "t" && value.Is(bson::Type::kBinary)) {
      envelope.target = value.AsBinary().bytes;
    } else if (key == "s" && value.Is(bson::Type::kArray)) {
      envelope.statements = value.AsDocument();
    } else if (key == "o" && value.Is(bson::Type::kArray)) {
      envelope.only = value.AsDocument();
    } else if (key == "f" && value.Is(bson::Type::kArray)) {
      continue;  // wire/protocol/foreign_collections.h
    } else {
      return Error(ErrorCode::kInvalidOptions, "unknown or mistyped field '$shard.{}'", key);
    }
  }
  return envelope;
}

}  // namespace evenkeel::wire
