// The createIndexes command's fields and index specifications.
#include "query/request/create_indexes_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

struct SpecCase {
  std::string_view spec;
  int code = 0;
};

constexpr SpecCase kSpecs[] = {
    {R"({"key": {"a": 1}, "name": "a_1"})"},
    {R"({"key": {"a": 1, "b": -1}, "name": "n", "unique": true, "sparse": true, "v": 2, "background": true})"},
    {R"({"key": {"a": "hashed"}, "name": "n"})"},
    {R"({"key": {"a.$**": 1}, "name": "n"})"},
    {R"({"key": {"a": 1}})", 9},
    {R"({"name": "n"})", 9},
    {R"({"key": {}, "name": "n"})", 67},
    {R"({"key": {"a": 1}, "name": ""})", 67},
    {R"({"key": {"a": 1}, "name": 1})", 14},
    {R"({"key": {"a": 0}, "name": "n"})", 67},
    {R"({"key": {"a": "abc"}, "name": "n"})", 67},
    {R"({"key": {"a": true}, "name": "n"})", 67},
    {R"({"key": {"": 1}, "name": "n"})", 67},
    {R"({"key": {"a..b": 1}, "name": "n"})", 67},
    {R"({"key": {"$a": 1}, "name": "n"})", 67},
    {R"({"key": {"$**.a": 1}, "name": "n"})", 67},
    {R"({"key": {"a": "hashed", "b": "hashed"}, "name": "n"})", 31303},
    {R"({"key": {"a": "hashed"}, "name": "n", "unique": true})", 16764},
    {R"({"key": {"a": "wildcard"}, "name": "n"})", 7246202},
    {R"({"key": {"$**": 1}, "name": "n", "unique": true})", 67},
    {R"({"key": {"a": 1}, "name": "n", "wildcardProjection": {"b": 1}})", 2},
    {R"({"key": {"a": 1}, "name": "n", "nope": 1})", 197},
    {R"({"key": {"a": 1}, "name": "n", "hidden": 1})", 14},
    {R"({"key": {"a": 1}, "name": "n", "unique": null})", 14},
    {R"({"key": {"a": 1}, "name": "n", "expireAfterSeconds": "1"})", 67},
    {R"({"key": {"a": 1}, "name": "n", "expireAfterSeconds": -1})", 67},
    {R"({"key": {"a": 1, "b": 1}, "name": "n", "expireAfterSeconds": 1})", 67},
    {R"({"key": {"a": 1}, "name": "n", "sparse": true, "partialFilterExpression": {}})", 67},
    {R"({"key": {"_id": 1}, "name": "n", "hidden": true})", 197},
    {R"({"key": {"_id": -1}, "name": "n"})", 2},
    {R"({"key": {"a": 1}, "name": "_id_"})", 2},
    {R"({"key": {"a": 1}, "name": "n", "v": 1})", 67},
};

TEST(CreateIndexesRequest, Specifications) {
  for (const SpecCase& test : kSpecs) {
    const bson::Document spec = Json(test.spec);
    const absl::StatusOr<IndexSpec> parsed = ParseIndexSpec(spec);
    EXPECT_EQ(static_cast<int>(CodeOf(parsed.status())), test.code) << test.spec << parsed.status();
  }
}

constexpr CommandCase kCommands[] = {
    {R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "n"}], "enableLargeIndexKeys": true, "blocking": true})"},
    {R"({"createIndexes": "c"})", 40414},
    {R"({"createIndexes": "c", "indexes": []})", 2},
    {R"({"createIndexes": "c", "indexes": {}})", 14},
    {R"({"createIndexes": {}, "indexes": []})", 73},
    {R"({"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "n", "x": 1}], "ignoreUnknownIndexOptions": true})"},
};

TEST(CreateIndexesRequest, Commands) { CheckCommands(ParseCreateIndexes, kCommands); }

TEST(CreateIndexesRequest, FieldsOfASpecification) {
  const bson::Document spec = Json(
      R"({"key": {"a": 1, "b.c": -1, "h": "hashed"}, "name": "n", "sparse": 1, "expireAfterSeconds": 5})");
  EXPECT_EQ(CodeOf(ParseIndexSpec(spec).status()), ErrorCode::kCannotCreateIndex);
  const bson::Document plain =
      Json(R"({"key": {"a": 1, "b.c": -1, "h": "hashed"}, "name": "n", "sparse": 1})");
  const absl::StatusOr<IndexSpec> parsed = ParseIndexSpec(plain);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->fields.size(), 3u);
  EXPECT_EQ(parsed->fields[1].path, "b.c");
  EXPECT_EQ(parsed->fields[1].kind, IndexFieldKind::kDescending);
  EXPECT_EQ(parsed->fields[2].kind, IndexFieldKind::kHashed);
  EXPECT_TRUE(parsed->sparse);
}

TEST(CreateIndexesRequest, DefaultNames) {
  EXPECT_EQ(DefaultIndexName(Json(R"({"a": 1, "b.c": -1.0, "d": "hashed"})")),
            "a_1_b.c_-1_d_hashed");
}

}  // namespace
}  // namespace evenkeel::query
