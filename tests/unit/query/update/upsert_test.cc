// Documents of upserts.
#include "query/update/upsert.h"

#include "tests/unit/query/update/cases.h"

namespace evenkeel::query::update {
namespace {

absl::StatusOr<bson::Document> Upsert(std::string_view filter, std::string_view update) {
  const QueryContext context = TestContext();
  EVENKEEL_ASSIGN_OR_RETURN(const Filter parsed, Filter::Parse(Json(filter), context));
  EVENKEEL_ASSIGN_OR_RETURN(const Update compiled, ParseJson(update, R"({"f": []})", context));
  return compiled.BuildUpsert(parsed);
}

TEST(Upsert, BuildsDocuments) {
  struct UpsertCase {
    std::string_view filter;
    std::string_view update;
    std::string_view result;
  };
  constexpr UpsertCase kCases[] = {
      {R"({"_id": 1})", R"({"$set": {"a": 2}})", R"({"_id": 1, "a": 2})"},
      {R"({"b": 1, "_id": 1, "a": 2})", R"({"$set": {"c": 3}})",
       R"({"_id": 1, "a": 2, "b": 1, "c": 3})"},
      {R"({"_id": 1, "a.c": 1, "a.b": 2})", R"({"$set": {"a.d": 3}})",
       R"({"_id": 1, "a": {"b": 2, "c": 1, "d": 3}})"},
      {R"({"_id": 1, "a": {"$gt": 5}})", R"({"$set": {"b": 3}})", R"({"_id": 1, "b": 3})"},
      {R"({"$and": [{"_id": 1}, {"a": {"$eq": 5}}]})", R"({"$inc": {"a": 3}})",
       R"({"_id": 1, "a": 8})"},
      {R"({"_id": 1, "a": {"$in": [5]}, "b": {"$all": [6]}})", R"({"$set": {}})",
       R"({"_id": 1, "a": 5, "b": 6})"},
      {R"({"_id": 1})", R"({"$setOnInsert": {"a": 1}, "$set": {"b": 2}})",
       R"({"_id": 1, "a": 1, "b": 2})"},
      {R"({"a": 1})", R"({"$set": {"_id": 7}})", R"({"_id": 7, "a": 1})"},
      {R"({"_id": 1, "a": 5})", R"({"b": 2})", R"({"_id": 1, "b": 2})"},
      {R"({"a": 5})", R"({"b": 2, "_id": 3})", R"({"_id": 3, "b": 2})"},
      {R"({"_id": 1})", R"({"$push": {"a": 1}, "$unset": {"b": 1}})", R"({"_id": 1, "a": [1]})"},
      {R"({"_id": 1, "a": null})", R"({"$set": {"b": 1}})", R"({"_id": 1, "a": null, "b": 1})"},
      {R"({"_id": 1})", R"({"pipeline": [{"$set": {"a": {"$add": ["$_id", 1]}}}]})",
       R"({"_id": 1, "a": 2})"},
  };
  for (const UpsertCase& test : kCases) {
    const absl::StatusOr<bson::Document> made = Upsert(test.filter, test.update);
    ASSERT_TRUE(made.ok()) << test.filter << ": " << made.status();
    EXPECT_EQ(bson::ToJson(*made), bson::ToJson(Json(test.result))) << test.filter;
  }
}

TEST(Upsert, RefusesWhatHasNoDocument) {
  struct UpsertError {
    std::string_view filter;
    std::string_view update;
    int code;
  };
  constexpr UpsertError kCases[] = {
      {R"({"$and": [{"a": 1}, {"a": 2}]})", R"({"$set": {"b": 1}})", 54},
      {R"({"a": 1, "a.b": 2})", R"({"$set": {"b": 1}})", 54},
      {R"({"a": {"$all": [1, 2]}})", R"({"$set": {"b": 1}})", 54},
      {R"({"_id": 1})", R"({"$set": {"_id": 2}})", 66},
      {R"({"_id": 1})", R"({"_id": 2})", 66},
      {R"({"_id.a": 1})", R"({"$set": {"_id.b": 2}})", 66},
      {R"({})", R"({"$set": {"_id": [1]}})", 53},
      {R"({"a": 5})", R"({"$set": {"a.b": 1}})", 28},
      {R"({"a": 5})", R"({"$set": {"a.$": 1}})", 2},
  };
  for (const UpsertError& test : kCases) {
    const absl::StatusOr<bson::Document> made = Upsert(test.filter, test.update);
    ASSERT_FALSE(made.ok()) << test.filter << " " << test.update;
    EXPECT_EQ(static_cast<int>(CodeOf(made.status())), test.code) << test.filter << made.status();
  }
}

TEST(Upsert, MakesAnId) {
  const absl::StatusOr<bson::Document> made = Upsert(R"({"a": 1})", R"({"$set": {"b": 2}})");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->view().Front().key, "_id");
  EXPECT_EQ(made->view().Front().value.type(), bson::Type::kObjectId);
}

TEST(Upsert, PutsTheIdFirst) {
  EXPECT_EQ(bson::ToJson(*WithIdFirst(Json(R"({"a": 1, "_id": 2})"))),
            bson::ToJson(Json(R"({"_id": 2, "a": 1})")));
}

}  // namespace
}  // namespace evenkeel::query::update
