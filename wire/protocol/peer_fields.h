// What a router adds to every request to a shard in another process: the field `$peer`.
#pragma once

#include <absl/time/time.h>

#include <string_view>

#include "base/bson/builder.h"
#include "base/bson/view.h"
#include "base/types.h"

namespace evenkeel::wire {

inline constexpr std::string_view kPeerField = "$peer";
// What a shard adds to replies that took long, for the router's log: {plan, keys, docs}.
inline constexpr std::string_view kStatsField = "$stats";

struct PeerFields {
  Timestamp time;  // t: the sender's clock, which the receiver's observes
  absl::Time deadline = absl::InfiniteFuture();  // left: milliseconds until the sender gives up
  uint64_t operation = 0;                        // r: the id of the client's request, for the log
};

void AppendPeerFields(bson::Builder& builder, const PeerFields& fields, absl::Time now);
// What is absent or malformed stays as it is by default.
PeerFields PeerFieldsOf(bson::View body, absl::Time now);

}  // namespace evenkeel::wire
