// Implements the field between routers and shards.
#include "wire/protocol/peer_fields.h"

#include <algorithm>

namespace evenkeel::wire {

void AppendPeerFields(bson::Builder& builder, const PeerFields& fields, absl::Time now) {
  builder.OpenDocument(kPeerField).Append("t", fields.time);
  if (fields.deadline != absl::InfiniteFuture()) {
    const absl::Duration left = absl::Ceil(fields.deadline - now, absl::Milliseconds(1));
    builder.Append("left", std::max<int64_t>(absl::ToInt64Milliseconds(left), 1));
  }
  if (fields.operation != 0) builder.Append("r", static_cast<int64_t>(fields.operation));
  builder.Close();
}

PeerFields PeerFieldsOf(bson::View body, absl::Time now) {
  PeerFields fields;
  const bson::Value field = body[kPeerField];
  if (!field.Is(bson::Type::kObject)) return fields;
  for (const auto& [name, value] : field.AsDocument()) {
    if (name == "t" && value.Is(bson::Type::kTimestamp)) fields.time = value.AsTimestamp();
    if (name == "left" && value.Is(bson::Type::kInt64)) {
      fields.deadline = now + absl::Milliseconds(value.AsInt64());
    }
    if (name == "r" && value.Is(bson::Type::kInt64)) {
      fields.operation = static_cast<uint64_t>(value.AsInt64());
    }
  }
  return fields;
}

}  // namespace evenkeel::wire
