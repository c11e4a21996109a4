// Sessions: use, expiry, end.
#include "router/session/session_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/unit/router/fake_shard.h"

namespace evenkeel::router {
namespace {

class SessionTableTest : public testing::Test {
 protected:
  base::FakeWallClock wall_{absl::FromUnixSeconds(1000)};
  SessionTable table_{&wall_};
};

TEST_F(SessionTableTest, ASessionIsTheSameAtEachUse) {
  EXPECT_EQ(table_.Use("a"), table_.Use("a"));
  EXPECT_NE(table_.Use("a"), table_.Use("b"));
  EXPECT_EQ(table_.size(), 2u);
}

TEST_F(SessionTableTest, UnusedSessionsExpire) {
  table_.Use("old");
  table_.Use("refreshed");
  wall_.Advance(absl::Minutes(20));
  table_.Use("new");
  table_.Refresh("refreshed");
  table_.Refresh("unknown");
  wall_.Advance(absl::Minutes(15));
  EXPECT_THAT(table_.Expire(),
              testing::ElementsAre(testing::Pointee(testing::Field(&Session::id, "old"))));
  EXPECT_EQ(table_.size(), 2u);
}

TEST_F(SessionTableTest, EndForgetsAtOnce) {
  const auto before = table_.Use("a");
  table_.End("a");
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_NE(table_.Use("a"), before);
}

TEST(SessionIdTest, OnlyUuidsAreIds) {
  const auto good =
      Json(R"({"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}})");
  EXPECT_EQ(SessionIdOf(good)->size(), 16u);
  for (const std::string_view bad :
       {R"({})", R"({"id": 1})", R"({"id": {"$binary": {"base64": "AAEC", "subType": "04"}}})",
        R"({"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "00"}}})"}) {
    EXPECT_EQ(CodeOf(SessionIdOf(Json(bad)).status()), ErrorCode::kTypeMismatch) << bad;
  }
}

}  // namespace
}  // namespace evenkeel::router
