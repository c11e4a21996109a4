// Namespaces and query contexts of commands.
#include "router/command.h"

#include "base/status.h"
#include "router/query_context.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class CommandTest : public AwaitTest {};

TEST_F(CommandTest, ANamespaceIsDatabaseAndCollection) {
  const auto request =
      wire::ParseRequest(MessageFrom(Json(R"({"find": "a.b", "$db": "db"})")), wall().Now());
  ASSERT_TRUE(request.ok());
  const CommandContext context{state(), *request, client(), {}, {}};
  EXPECT_EQ(*context.Namespace(), "db.a.b");
}

TEST_F(CommandTest, AContextHasTheTimesOfTheRouter) {
  const auto context = MakeQueryContext(state(), TimesNow(state()), "db.c", Json(R"({"x": 1})"));
  EXPECT_EQ(context->ns, "db.c");
  EXPECT_EQ(context->now_ms, absl::ToUnixMillis(wall().Now()));
  EXPECT_EQ(bson::ToJson(context->let), R"({"x":1})");
}

}  // namespace
}  // namespace evenkeel::router
