// Messages to shards made out of clients' commands.
#include "router/shard_request.h"

#include <gtest/gtest.h>

#include "tests/unit/router/harness_await.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router {
namespace {

wire::Request RequestFrom(std::string_view json) {
  auto request = wire::ParseRequest(MessageFrom(Json(json)), absl::Now());
  EXPECT_TRUE(request.ok()) << request.status();
  return *std::move(request);
}

wire::ShardEnvelope Envelope() {
  wire::ShardEnvelope envelope;
  envelope.collection = CollectionId{7};
  envelope.version = CatalogVersion{3};
  return envelope;
}

TEST(ShardRequestTest, ACommandIsForwardedAsItIs) {
  const wire::Request request =
      RequestFrom(R"({"find": "c", "filter": {"a": 1}, "comment": "x", "$db": "db"})");
  const wire::Message message = ForwardCommand(request, Envelope());
  EXPECT_EQ(bson::ToJson(message.body),
            R"({"find":"c","filter":{"a":1},"comment":"x","$db":"db","$shard":{"c":7,"v":3}})");
}

TEST(ShardRequestTest, AnAliasIsForwardedByItsName) {
  const wire::Request request =
      RequestFrom(R"({"findandmodify": "c", "remove": true, "$db": "db"})");
  const wire::Message message = ForwardCommand(request, Envelope());
  EXPECT_EQ(message.body.Front().key, "findAndModify");
  EXPECT_TRUE(message.body.Contains("remove"));
  EXPECT_TRUE(message.body.Contains("$db"));
}

TEST(ShardRequestTest, SequencesAndTheirBytesAreKept) {
  wire::Message message;
  {
    wire::Request request = RequestFrom(R"({"insert": "c", "$db": "db"})");
    auto document = std::make_shared<const bson::Document>(Json(R"({"_id": 1})"));
    request.message.sequences.push_back({"documents", {document->view()}});
    request.message.owner =
        std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
            request.message.owner, document);
    message = ForwardCommand(request, Envelope());
  }
  ASSERT_EQ(message.sequences.size(), 1u);
  EXPECT_EQ(bson::ToJson(message.sequences[0].documents[0]), R"({"_id":1})");
}

TEST(ShardRequestTest, ANewCommandTakesWhatShardsNeedOfTheClients) {
  const wire::Request request = RequestFrom(
      R"({"find": "c", "limit": 3, "filter": {}, "readConcern": {"level": "local"},
          "$readPreference": {"mode": "primary"}, "$db": "db"})");
  bson::Builder body = StartCommand("find", "c", "db", &request);
  AppendFieldsExcept(body, request.body(), {"limit"});
  EXPECT_EQ(bson::ToJson(body.Finish()),
            R"({"find":"c","$db":"db","readConcern":{"level":"local"},"filter":{}})");
}

TEST(ShardRequestTest, RepliesLoseWhatTheRouterAdds) {
  const bson::Document fields = ReplyFields(
      Json(R"({"n": 1, "ok": 1, "operationTime": {"$timestamp": {"t": 1, "i": 1}}, "$x": 2})"));
  EXPECT_EQ(bson::ToJson(fields), R"({"n":1})");
}

}  // namespace
}  // namespace evenkeel::router
