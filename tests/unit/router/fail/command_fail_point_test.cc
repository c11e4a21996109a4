// Which commands a fail point concerns, and how they are counted.
#include "router/fail/command_fail_point.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/router/harness_await.h"

namespace evenkeel::router::fail {
namespace {

wire::Request RequestOf(std::string_view json) {
  auto request = wire::ParseRequest(MessageFrom(Json(json)), absl::UnixEpoch());
  EXPECT_TRUE(request.ok()) << request.status();
  return *std::move(request);
}

CommandRule RuleOf(std::string_view json) {
  auto rule = CommandRule::Parse(Json(json));
  EXPECT_TRUE(rule.ok()) << rule.status();
  return *std::move(rule);
}

TEST(CommandRuleTest, Concerns) {
  struct Case {
    std::string data, request;
    bool concerned;
  };
  const std::string find = R"({"find": "c", "$db": "d"})";
  const std::string get_more =
      R"({"getMore": {"$numberLong": "1"}, "collection": "c", "$db": "d"})";
  const Case cases[] = {
      {R"({"failCommands": ["find"]})", find, true},
      {R"({"failCommands": ["insert", "find"]})", find, true},
      {R"({"failCommands": ["insert"]})", find, false},
      {R"({"failCommands": ["Find", "noSuchCommand"]})", find, false},
      {R"({"failCommands": []})", find, false},
      {R"({})", find, false},
      {R"({"failAllCommands": true})", find, true},
      {R"({"failAllCommands": true})", R"({"configureFailPoint": "x", "$db": "admin"})", false},
      {R"({"failCommands": ["configureFailPoint"]})",
       R"({"configureFailPoint": "x", "$db": "admin"})", false},
      {R"({"failCommands": ["findandmodify"]})", R"({"findAndModify": "c", "$db": "d"})", true},
      {R"({"failCommands": ["findAndModify"]})", R"({"findandmodify": "c", "$db": "d"})", true},
      {R"({"failCommands": ["find"], "namespace": "d.c"})", find, true},
      {R"({"failCommands": ["find"], "namespace": "d.e"})", find, false},
      {R"({"failCommands": ["find"], "namespace": "dd.c"})", find, false},
      {R"({"failCommands": ["getMore"], "namespace": "d.c"})", get_more, true},
      {R"({"failCommands": ["getMore"], "namespace": "d.cc"})", get_more, false},
      {R"({"failCommands": ["ping"], "namespace": "d.c"})", R"({"ping": 1, "$db": "d"})", false},
      {R"({"failCommands": ["find"], "appName": "app"})", find, true},
      {R"({"failCommands": ["find"], "appName": "other"})", find, false},
  };
  wire::ClientState client;
  client.metadata = Json(R"({"application": {"name": "app"}})");
  for (const Case& c : cases) {
    EXPECT_EQ(RuleOf(c.data).Concerns(RequestOf(c.request), client), c.concerned)
        << c.data << " " << c.request;
  }
}

TEST(CommandRuleTest, TheFirstHelloNamesItsApplication) {
  const wire::ClientState nobody;
  const CommandRule rule = RuleOf(R"({"failCommands": ["hello", "isMaster"], "appName": "app"})");
  EXPECT_TRUE(rule.Concerns(
      RequestOf(R"({"hello": 1, "client": {"application": {"name": "app"}}, "$db": "admin"})"),
      nobody));
  EXPECT_TRUE(rule.Concerns(
      RequestOf(R"({"isMaster": 1, "client": {"application": {"name": "app"}}, "$db": "admin"})"),
      nobody));
  EXPECT_FALSE(rule.Concerns(RequestOf(R"({"hello": 1, "client": {}, "$db": "admin"})"), nobody));
  EXPECT_FALSE(rule.Concerns(RequestOf(R"({"hello": 1, "$db": "admin"})"), nobody));
}

TEST(CommandRuleTest, Failure) {
  const CommandRule rule = RuleOf(
      R"({"failCommands": ["insert"], "errorCode": 91, "errorLabels": ["A", "B"],
          "blockConnection": true, "blockTimeMS": 30, "closeConnection": true,
          "failInternalCommands": true, "unknown": 1,
          "writeConcernError": {"code": 64, "errmsg": "x"}})");
  const Failure& failure = *rule.failure;
  EXPECT_EQ(failure.code, ErrorCode::kShutdownInProgress);
  EXPECT_EQ(failure.labels, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(failure.block, absl::Milliseconds(30));
  EXPECT_TRUE(failure.close_connection);
  EXPECT_EQ((*failure.write_concern_error)["code"].AsInt32(), 64);
  const CommandRule plain = RuleOf(R"({"blockTimeMS": 30, "errorCode": null})");
  EXPECT_EQ(plain.failure->block, absl::ZeroDuration());
  EXPECT_FALSE(plain.failure->code || plain.failure->labels || plain.failure->close_connection);
}

TEST(CommandRuleTest, BadData) {
  struct Case {
    std::string data;
    ErrorCode code;
  };
  const Case cases[] = {
      {R"({"failCommands": "find"})", ErrorCode::kTypeMismatch},
      {R"({"failCommands": ["find", 1]})", ErrorCode::kTypeMismatch},
      {R"({"errorCode": "91"})", ErrorCode::kTypeMismatch},
      {R"({"errorCode": 0})", ErrorCode::kBadValue},
      {R"({"errorLabels": "A"})", ErrorCode::kTypeMismatch},
      {R"({"errorLabels": [1]})", ErrorCode::kTypeMismatch},
      {R"({"closeConnection": 1})", ErrorCode::kTypeMismatch},
      {R"({"blockConnection": 1})", ErrorCode::kTypeMismatch},
      {R"({"blockConnection": true})", ErrorCode::kInvalidOptions},
      {R"({"blockConnection": true, "blockTimeMS": -1})", ErrorCode::kInvalidOptions},
      {R"({"blockTimeMS": "1"})", ErrorCode::kTypeMismatch},
      {R"({"writeConcernError": 91})", ErrorCode::kTypeMismatch},
      {R"({"appName": 1})", ErrorCode::kTypeMismatch},
      {R"({"namespace": 1})", ErrorCode::kTypeMismatch},
      {R"({"failInternalCommands": 1})", ErrorCode::kTypeMismatch},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CodeOf(CommandRule::Parse(Json(c.data)).status()), c.code) << c.data;
  }
}

TEST(CommandFailPointTest, OnlyCommandsThatItConcernsAreCounted) {
  const wire::ClientState client;
  const wire::Request find = RequestOf(R"({"find": "c", "$db": "d"})");
  const wire::Request insert = RequestOf(R"({"insert": "c", "$db": "d"})");
  CommandFailPoint point;
  EXPECT_EQ(point.Draw(find, client), nullptr);
  point.Set(base::FailPointMode::Times(2), RuleOf(R"({"failCommands": ["find"]})"));
  std::string seen;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(point.Draw(insert, client), nullptr);
    seen.push_back(point.Draw(find, client) ? 'x' : '.');
  }
  EXPECT_EQ(seen, "xx..");
  EXPECT_EQ(point.hits(), 2u);
  point.Set(base::FailPointMode::Skip(1), RuleOf(R"({"failCommands": ["find"]})"));
  EXPECT_EQ(point.Draw(find, client), nullptr);
  EXPECT_NE(point.Draw(find, client), nullptr);
  EXPECT_EQ(point.hits(), 3u);
}

TEST(CommandFailPointsTest, Names) {
  CommandFailPoints points;
  EXPECT_EQ(points.Find("failCommand"), &points.fail_command);
  EXPECT_EQ(points.Find("failGetMoreAfterCursorCheckout"), &points.fail_get_more);
  EXPECT_EQ(points.Find("storage_log_before_sync"), nullptr);
}

}  // namespace
}  // namespace evenkeel::router::fail
