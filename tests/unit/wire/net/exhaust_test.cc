// Tests of the rules for streamed replies.
#include "wire/net/exhaust.h"

#include <gtest/gtest.h>

#include "tests/unit/wire/protocol/bytes.h"

namespace evenkeel::wire {
namespace {

bool May(const char* json, uint32_t flags) {
  const auto request = ParseRequest(MakeMessage(Json(json), flags), absl::UnixEpoch());
  EXPECT_TRUE(request.ok()) << request.status();
  return request.ok() && MayExhaust(*request);
}

TEST(MayExhaust, GetMoreAndAwaitableHello) {
  const struct {
    const char* json;
    bool may;
  } cases[] = {
      {R"({"getMore": 1, "$db": "d"})", true},
      {R"({"hello": 1, "topologyVersion": {}, "$db": "d"})", true},
      {R"({"ismaster": 1, "topologyVersion": {}, "$db": "d"})", true},
      {R"({"hello": 1, "$db": "d"})", false},
      {R"({"find": "c", "$db": "d"})", false},
      {R"({"unknown": 1, "$db": "d"})", false},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(May(test.json, kExhaustAllowed), test.may) << test.json;
    EXPECT_FALSE(May(test.json, 0)) << test.json;
  }
}

TEST(NextExhaustRequest, TakesTheNewTopologyVersion) {
  const Message request =
      MakeMessage(Json(R"({"hello": 1, "topologyVersion": 1, "$db": "d"})"), kExhaustAllowed);
  const Message next = NextExhaustRequest(request, Json(R"({"ok": 1, "topologyVersion": 2})"));
  EXPECT_EQ(bson::ToJson(next.body),
            bson::ToJson(Json(R"({"hello": 1, "topologyVersion": 2, "$db": "d"})")));
  EXPECT_TRUE(next.exhaust_allowed());
}

TEST(NextExhaustRequest, OtherwiseIsTheSame) {
  const Message get_more = MakeMessage(Json(R"({"getMore": 1, "$db": "d"})"), kExhaustAllowed);
  EXPECT_EQ(NextExhaustRequest(get_more, Json(R"({"topologyVersion": 2})")).body.data(),
            get_more.body.data());
  EXPECT_EQ(NextExhaustRequest(get_more, Json("{}")).body.data(), get_more.body.data());
}

}  // namespace
}  // namespace evenkeel::wire
