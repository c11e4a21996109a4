// Which requests are under way, and how they are told to end.
#include "router/session/operation_table.h"

#include <gtest/gtest.h>

#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

constexpr absl::Time kNow = absl::UnixEpoch();

class OperationTableTest : public testing::Test {
 protected:
  OperationTableTest() {
    client_.connection_id = 7;
    client_.remote = "127.0.0.1:5000";
  }
  static wire::Request Request(std::string_view json, uint64_t operation = 0) {
    wire::Message message = wire::MakeMessage(Json(json));
    message.operation = operation;
    return *wire::ParseRequest(std::move(message), kNow);
  }

  wire::ClientState client_;
  OperationTable table_;
};

constexpr std::string_view kFind = R"({"find": "c", "$db": "db"})";
constexpr std::string_view kOfSession =
    R"({"find": "c", "$db": "db",
        "lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}}})";

TEST_F(OperationTableTest, AnOperationIsThereUntilItIsOver) {
  EXPECT_TRUE(table_.Running().empty());
  {
    const auto place = table_.Enter(client_, Request(kFind), kNow);
    ASSERT_EQ(table_.Running().size(), 1u);
    EXPECT_EQ(table_.Running()[0]->id, place.operation().id);
    EXPECT_EQ(table_.Running()[0]->client->remote, "127.0.0.1:5000");
    EXPECT_TRUE(table_.Idle().empty());
  }
  EXPECT_TRUE(table_.Running().empty());
  EXPECT_EQ(table_.Idle().size(), 1u);
  table_.Disconnected(7);
  EXPECT_TRUE(table_.Idle().empty());
}

TEST_F(OperationTableTest, NumbersAreThoseOfTheLogAndNeverTwoTheSame) {
  const auto a = table_.Enter(client_, Request(kFind, 0xABCD'0000'0000'0005), kNow);
  const auto b = table_.Enter(client_, Request(kFind, 0x1234'0000'8000'0005), kNow);
  const auto last = table_.Enter(client_, Request(kFind, 0x7FFF'FFFF), kNow);
  const auto wraps = table_.Enter(client_, Request(kFind, 0x7FFF'FFFF), kNow);
  EXPECT_EQ(a.operation().id, 5);
  EXPECT_EQ(b.operation().id, 6);
  EXPECT_EQ(last.operation().id, INT32_MAX);
  EXPECT_EQ(wraps.operation().id, 1);
}

TEST_F(OperationTableTest, KillingCancelsOneOnly) {
  const auto a = table_.Enter(client_, Request(kFind), kNow);
  const auto b = table_.Enter(client_, Request(kFind), kNow);
  EXPECT_TRUE(table_.Kill(a.operation().id));
  EXPECT_TRUE(a.operation().killed.token().IsCancelled());
  EXPECT_FALSE(b.operation().killed.token().IsCancelled());
  EXPECT_FALSE(table_.Kill(99));
  client_.disconnected.Cancel();
  EXPECT_TRUE(b.operation().killed.token().IsCancelled());
}

TEST_F(OperationTableTest, ASessionsOperationsAreKilledButForOne) {
  const auto a = table_.Enter(client_, Request(kOfSession), kNow);
  const auto b = table_.Enter(client_, Request(kOfSession), kNow);
  const auto other = table_.Enter(client_, Request(kFind), kNow);
  table_.KillOfSession(a.operation().lsid, b.operation().id);
  EXPECT_TRUE(a.operation().killed.token().IsCancelled());
  EXPECT_FALSE(b.operation().killed.token().IsCancelled());
  EXPECT_FALSE(other.operation().killed.token().IsCancelled());
}

TEST_F(OperationTableTest, ThereIsNewsOfAClientOnceItHasSaidWhoItIs) {
  { const auto first = table_.Enter(client_, Request(kFind), kNow); }
  client_.metadata = Json(R"({"application": {"name": "a"}})");
  const auto second = table_.Enter(client_, Request(kFind), kNow);
  EXPECT_EQ(second.operation().client->metadata["application"].AsDocument()["name"].AsString(),
            "a");
}

}  // namespace
}  // namespace evenkeel::router
