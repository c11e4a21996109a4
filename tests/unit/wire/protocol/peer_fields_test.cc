// The field between routers and shards.
#include "wire/protocol/peer_fields.h"

#include <gtest/gtest.h>

#include "base/bson/json.h"

namespace evenkeel::wire {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(PeerFields, SurviveTheJourney) {
  for (const absl::Duration left : {absl::Milliseconds(1), absl::Seconds(3), absl::Hours(30)}) {
    bson::Builder body;
    body.Append("find", "c");
    AppendPeerFields(body, {.time = {77}, .deadline = kNow + left, .operation = ~0ull}, kNow);
    const PeerFields fields = PeerFieldsOf(body.Finish(), kNow);
    EXPECT_EQ(fields.time, Timestamp{77});
    EXPECT_EQ(fields.operation, ~0ull);
    EXPECT_EQ(fields.deadline, kNow + left);
  }
}

TEST(PeerFields, NoDeadlineIsNoDeadlineAndAPassedOneIsNear) {
  bson::Builder endless, late;
  AppendPeerFields(endless, {}, kNow);
  EXPECT_EQ(PeerFieldsOf(endless.Finish(), kNow).deadline, absl::InfiniteFuture());
  AppendPeerFields(late, {.deadline = kNow - absl::Seconds(5)}, kNow);
  EXPECT_EQ(PeerFieldsOf(late.Finish(), kNow).deadline, kNow + absl::Milliseconds(1));
}

TEST(PeerFields, WhatIsMalformedIsLeftOut) {
  for (const char* json :
       {"{}", R"({"$peer": 1})", R"({"$peer": {"t": 5, "left": "x", "r": "y"}})"}) {
    const PeerFields fields = PeerFieldsOf(*bson::FromJson(json), kNow);
    EXPECT_EQ(fields.time, Timestamp{});
    EXPECT_EQ(fields.operation, 0u);
    EXPECT_EQ(fields.deadline, absl::InfiniteFuture());
  }
}

}  // namespace
}  // namespace evenkeel::wire
