// Documents of upserts and their places.
#include "router/write/upsert.h"

#include "base/status.h"
#include "router/query_context.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router::write {
namespace {

class UpsertTest : public AwaitTest {
 protected:
  RoutePtr Route(std::string_view key) {
    AddSharded("db.s", key);
    state().cluster->Forget("db.s");
    RouteRetry retry(state(), "db.s", {});
    return *Await(retry.Route());
  }
};

struct Case {
  std::string_view key, filter, update;
  bool keeps;
};

TEST_F(UpsertTest, WhenTheNewDocumentSurelyHasThePinnedKey) {
  const Case cases[] = {
      {R"({"k": "hashed"})", R"({"k": 1})", R"({"$set": {"x": 1}})", true},
      {R"({"k": "hashed"})", R"({"k": 1})", R"({"$set": {"k": 2}})", false},
      {R"({"k": "hashed"})", R"({"k": 1})", R"({"$setOnInsert": {"k": 2}})", false},
      {R"({"k": "hashed"})", R"({"k": 1})", R"({"$rename": {"x": "k"}})", false},
      {R"({"k": "hashed"})", R"({"k": 1})", R"({"x": 1})", false},
      {R"({"k": "hashed"})", R"({"k": {"$in": [1, 2]}})", R"({"$set": {"x": 1}})", false},
      {R"({"k": "hashed"})", R"({"x": 1})", R"({"$set": {"x": 1}})", false},
      {R"({"_id": "hashed"})", R"({"_id": 1})", R"({"x": 1})", true},
      {R"({"a.b": "hashed"})", R"({"a.b": 1})", R"({"$set": {"a.c": 2}})", false},
  };
  for (const Case& c : cases) {
    const RoutePtr route = Route(c.key);
    const bson::Document filter = Json(c.filter), update = Json(c.update);
    const UpsertParts parts{filter, {}, bson::Value(bson::Type::kObject, update.view().data()), {}};
    EXPECT_EQ(KeepsShardKey(*route, parts), c.keeps) << c.key << " " << c.filter << " " << c.update;
  }
}

TEST_F(UpsertTest, TheDocumentIsMadeOfFilterAndUpdate) {
  const bson::Document filter = Json(R"({"a": 1})"), update = Json(R"({"$set": {"b": 2}})");
  const auto made =
      BuildUpsertDocument(state(), TimesNow(state()), *Route(R"({"k": "hashed"})"),
                          {filter, {}, bson::Value(bson::Type::kObject, update.view().data()), {}});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE((*made)["_id"].Is(bson::Type::kObjectId));
  EXPECT_EQ((*made)["a"].AsInt32(), 1);
  EXPECT_EQ((*made)["b"].AsInt32(), 2);
}

TEST_F(UpsertTest, FirstWriteErrorReadsAnEntry) {
  EXPECT_TRUE(FirstWriteError(Json(R"({"n": 1})")).ok());
  const absl::Status status =
      FirstWriteError(Json(R"({"writeErrors": [{"index": 0, "code": 11000, "errmsg": "dup"}]})"));
  EXPECT_EQ(CodeOf(status), ErrorCode::kDuplicateKey);
  EXPECT_EQ(MessageOf(status), "dup");
}

}  // namespace
}  // namespace evenkeel::router::write
