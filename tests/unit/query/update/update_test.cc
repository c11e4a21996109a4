// Kinds of updates: operators, replacements, pipelines, and what is refused.
#include "query/update/update.h"

#include "tests/unit/query/update/cases.h"

namespace evenkeel::query::update {
namespace {

constexpr Case kCases[] = {
    {R"({"a": 1})", R"({"_id": 1, "b": 2})", R"({"_id": 1, "a": 1})"},
    {R"({"a": 1, "_id": 1})", R"({"_id": 1, "b": 2})", R"({"_id": 1, "a": 1})"},
    {R"({"a": 1})", R"({"_id": 1, "a": 1})", ""},
    {R"({})", R"({"_id": 1, "a": 1})", R"({"_id": 1})"},
    {R"({"a": {"$timestamp": {"t": 0, "i": 0}}})", R"({"_id": 1})",
     R"({"_id": 1, "a": {"$timestamp": {"t": 17, "i": 3}}})"},
    {R"({"a": {"$x": 1}})", R"({"_id": 1})", R"({"_id": 1, "a": {"$x": 1}})"},
    {R"({"$set": {"a": 1}, "$unset": {"b": 1}, "$inc": {"c": 1}})", R"({"_id": 1, "b": 1, "c": 1})",
     R"({"_id": 1, "c": 2, "a": 1})"},
};

constexpr ErrorCase kErrors[] = {
    {R"({"a": 1, "$set": {"b": 1}})", 52},
    {R"({"$set": {"b": 1}, "a": 1})", 9},
    {R"({"$nope": {"b": 1}})", 9},
    {R"({"$set": 1})", 9},
    {R"({"$set": []})", 9},
    {R"({"_id": 2})", 66},
    {R"({"pipeline": [{"$match": {}}]})", 72},
};

TEST(Update, Applies) { CheckCases(kCases); }
TEST(Update, Errors) { CheckErrors(kErrors); }

TEST(Update, KnowsItsKind) {
  const QueryContext context = TestContext();
  EXPECT_EQ(ParseJson(R"({"$set": {}})", R"({"f": []})", context)->kind(), UpdateKind::kOperators);
  EXPECT_EQ(ParseJson("{}", R"({"f": []})", context)->kind(), UpdateKind::kReplacement);
  EXPECT_EQ(ParseJson(R"({"pipeline": []})", R"({"f": []})", context)->kind(),
            UpdateKind::kPipeline);
}

TEST(Update, RefusesTooLargeDocuments) {
  const QueryContext context = TestContext();
  const std::string big(9u << 20, 'x');
  const absl::StatusOr<Update> update =
      ParseJson(R"({"$set": {"b": ")" + big + R"("}})", R"({"f": []})", context);
  ASSERT_TRUE(update.ok());
  const bson::Document document = Json(R"({"_id": 1, "a": ")" + big + R"("})");
  const absl::StatusOr<UpdateOutcome> outcome = update->Apply(document, nullptr);
  EXPECT_EQ(CodeOf(outcome.status()), ErrorCode::kBSONObjectTooLarge);
}

// Dotted paths make as many levels as they have parts: what nobody could read again is not stored.
TEST(Update, RefusesTooDeepDocuments) {
  const QueryContext context = TestContext();
  for (const std::string_view form :
       {R"({"$set": {"%": 1}})", R"({"$push": {"%": 1}})", R"({"$inc": {"%": 1}})"}) {
    for (const int depth : {170, 190, 300, 2000}) {
      std::string path = "a";
      for (int i = 1; i < depth; ++i) path += ".a";
      std::string update_text(form);
      update_text.replace(update_text.find('%'), 1, path);
      const absl::StatusOr<Update> update = ParseJson(update_text, R"({"f": []})", context);
      ASSERT_TRUE(update.ok());
      const absl::Status status = update->Apply(Json(R"({"_id": 1})"), nullptr).status();
      EXPECT_EQ(CodeOf(status), depth < 180 ? ErrorCode::kOK : Location(15)) << form << depth;
    }
  }
}

TEST(Update, AppliesToOneDocumentAfterTheOther) {
  const QueryContext context = TestContext();
  const absl::StatusOr<Update> update = ParseJson(R"({"$inc": {"a": 1}})", R"({"f": []})", context);
  bson::Document document = Json(R"({"_id": 1, "a": 0})");
  for (int i = 0; i < 5; ++i) document = update->Apply(document, nullptr)->document;
  EXPECT_EQ(document["a"].AsInt32(), 5);
}

}  // namespace
}  // namespace evenkeel::query::update
