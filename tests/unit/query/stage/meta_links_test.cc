// Metadata of rows: who makes it, who reads it, what is left of it.
#include "query/stage/meta_links.h"

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "query/exec/row_meta.h"
#include "tests/unit/query/stage/run.h"

namespace evenkeel::query {
namespace {

std::vector<bson::Document> Inputs() {
  std::vector<bson::Document> rows;
  for (const char* row : {R"({"_id": 1, "a": 1, "b": 9})", R"({"_id": 2, "a": 2, "b": 4})",
                          R"({"_id": 3, "a": 5, "b": 0})"}) {
    rows.push_back(*bson::FromJson(row));
  }
  return rows;
}

// The rows as one JSON array, or the code of the error.
std::string RowsOf(std::string_view pipeline, const QueryContext& context = {}) {
  const auto rows = RunWhole(pipeline, Inputs(), context);
  if (!rows.ok()) return std::to_string(static_cast<int>(CodeOf(rows.status())));
  std::string text;
  for (const bson::Document& row : *rows) {
    text.append(text.empty() ? "" : " ")
        .append(bson::ToDisplay(bson::Value(bson::Type::kObject, row.view().data())));
  }
  return text;
}

TEST(Scores, PipelinesThatReadThem) {
  const struct {
    std::string_view pipeline, rows;
  } cases[] = {
      {R"([{"$score": {"score": "$a"}}, {"$project": {"s": {"$meta": "score"}}}])",
       "{ _id: 1, s: 1.0 } { _id: 2, s: 2.0 } { _id: 3, s: 5.0 }"},
      {R"([{"$score": {"score": "$a", "weight": 0.5}}, {"$set": {"s": {"$meta": "score"}}},
           {"$project": {"s": 1}}])",
       "{ _id: 1, s: 0.5 } { _id: 2, s: 1.0 } { _id: 3, s: 2.5 }"},
      {R"([{"$score": {"score": "$a", "normalization": "minMaxScaler"}},
           {"$project": {"s": {"$meta": "score"}}}])",
       "{ _id: 1, s: 0.0 } { _id: 2, s: 0.25 } { _id: 3, s: 1.0 }"},
      {R"([{"$score": {"score": 0, "normalization": "sigmoid"}}, {"$limit": 1},
           {"$project": {"s": {"$meta": "score"}}}])",
       "{ _id: 1, s: 0.5 }"},
      // Nobody reads them.
      {R"([{"$score": {"score": "$a"}}, {"$limit": 1}])", "{ _id: 1, a: 1, b: 9 }"},
      // Sorting, filtering and grouping by them, past a projection.
      {R"([{"$score": {"score": "$a"}}, {"$project": {"b": 1}},
           {"$sort": {"x": {"$meta": "score"}}}, {"$limit": 2}])",
       "{ _id: 3, b: 0 } { _id: 2, b: 4 }"},
      {R"([{"$score": {"score": "$a"}}, {"$match": {"$expr": {"$gt": [{"$meta": "score"}, 1]}}}])",
       "{ _id: 2, a: 2, b: 4 } { _id: 3, a: 5, b: 0 }"},
      {R"([{"$score": {"score": "$a"}},
           {"$group": {"_id": null, "m": {"$max": {"$meta": "score"}}}}])",
       "{ _id: null, m: 5.0 }"},
      {R"([{"$score": {"score": "$a"}}, {"$facet": {"x": [{"$limit": 1},
           {"$set": {"s": {"$meta": "score"}}}]}}])",
       "{ x: [ { _id: 1, a: 1, b: 9, s: 1.0 } ] }"},
      {R"([{"$score": {"score": "$a", "scoreDetails": true}}, {"$limit": 1},
           {"$project": {"r": {"$getField": {"field": "rawScore",
                                            "input": {"$meta": "scoreDetails"}}}}}])",
       "{ _id: 1, r: 1.0 }"},
      {R"([{"$score": {"score": "$a"}}, {"$project": {"d": {"$meta": "scoreDetails"}}}])", "40218"},
      {R"([{"$score": {"score": "$none"}}])", "14"},
      {R"([{"$score": {}}])", "40414"},
      {R"([{"$score": {"score": 1, "weight": 2}}])", "2"},
      {R"([{"$score": {"score": 1, "normalization": "max"}}])", "2"},
      {R"([{"$score": {"score": 1, "x": 2}}])", "40415"},
  };
  for (const auto& [pipeline, rows] : cases) EXPECT_EQ(RowsOf(pipeline), rows) << pipeline;
}

// Record ids are ten times the _id; the index is over `a`.
class FakeSource final : public RowSource {
 public:
  absl::StatusOr<int64_t> RecordIdOf(bson::View document) const override {
    return document["_id"].AsInt32() * 10;
  }
  absl::StatusOr<std::optional<bson::Document>> IndexKeyOf(bson::View document) const override {
    bson::Builder key;
    key.Append("a", document["a"]);
    return key.Finish();
  }
};

TEST(RowMeta, PipelinesThatReadIt) {
  const struct {
    std::string_view pipeline, rows;
  } cases[] = {
      {R"([{"$sort": {"a": -1}}, {"$limit": 2}, {"$project": {"k": {"$meta": "sortKey"}}}])",
       "{ _id: 3, k: [ 5 ] } { _id: 2, k: [ 2 ] }"},
      // The newest sort, past a projection.
      {R"([{"$sort": {"a": 1}}, {"$sort": {"b": 1, "a": 1}}, {"$skip": 1}, {"$project": {"_id": 1}},
           {"$limit": 1}, {"$set": {"k": {"$meta": "sortKey"}}}])",
       "{ _id: 2, k: [ 4, 2 ] }"},
      {R"([{"$sort": {"a": 1}}, {"$set": {"k": {"$meta": "sortKey"}}}, {"$sort": {"b": 1}},
           {"$limit": 1}, {"$project": {"k": 1, "l": {"$meta": "sortKey"}}}])",
       "{ _id: 3, k: [ 5 ], l: [ 0 ] }"},
      {R"([{"$limit": 1}, {"$set": {"k": {"$meta": "sortKey"}}}])", "{ _id: 1, a: 1, b: 9 }"},
      {R"([{"$match": {"a": 2}}, {"$project": {"r": {"$meta": "recordId"},
                                              "i": {"$meta": "indexKey"}}}])",
       "{ _id: 2, r: 20, i: { a: 2 } }"},
      {R"([{"$match": {"$expr": {"$eq": [{"$meta": "recordId"}, 30]}}}])",
       "{ _id: 3, a: 5, b: 0 }"},
      {R"([{"$project": {"b": 1}}, {"$sort": {"b": 1}}, {"$limit": 1},
           {"$set": {"r": {"$meta": "recordId"}, "k": {"$meta": "sortKey"}}}])",
       "{ _id: 3, b: 0, r: 30, k: [ 0 ] }"},
      {R"([{"$group": {"_id": null, "r": {"$push": {"$meta": "recordId"}}}},
           {"$set": {"s": {"$meta": "recordId"}}}])",
       "{ _id: null, r: [ 10, 20, 30 ] }"},
      {R"([{"$score": {"score": "$a"}}, {"$sort": {"x": {"$meta": "score"}}}, {"$limit": 1},
           {"$project": {"k": {"$meta": "sortKey"}, "s": {"$meta": "score"}}}])",
       "{ _id: 3, k: [ 5.0 ], s: 5.0 }"},
      {R"([{"$_rowMeta": {"recordId": true}}, {"$set": {"r": {"$meta": "recordId"}}}])", "40324"},
      {R"([{"$sort": 1}, {"$set": {"k": {"$meta": "sortKey"}}}])", "15973"},
  };
  QueryContext context;
  context.source = std::make_shared<FakeSource>();
  for (const auto& [pipeline, rows] : cases) EXPECT_EQ(RowsOf(pipeline, context), rows) << pipeline;
}

TEST(Scores, Fusion) {
  const std::string_view two = R"("p": [{"$score": {"score": "$a"}}],
                                  "q": [{"$score": {"score": "$b"}}, {"$match": {"_id": {"$lt": 3}}}])";
  const auto fusion = [&](std::string_view normalization, std::string_view rest,
                          std::string_view field) {
    return RowsOf(std::string(R"([{"$scoreFusion": {"input": {"pipelines": {)")
                      .append(two)
                      .append(R"(}, "normalization": ")")
                      .append(normalization)
                      .append("\"}")
                      .append(rest)
                      .append(R"(}}, {"$project": {"s": )")
                      .append(field)
                      .append("}}]"));
  };
  constexpr std::string_view kScore = R"({"$meta": "score"})";
  EXPECT_EQ(fusion("none", "", kScore), "{ _id: 1, s: 5.0 } { _id: 2, s: 3.0 } { _id: 3, s: 2.5 }");
  EXPECT_EQ(fusion("minMaxScaler", "", kScore),
            "{ _id: 1, s: 0.5 } { _id: 3, s: 0.5 } { _id: 2, s: 0.125 }");
  EXPECT_EQ(fusion("none", R"(, "combination": {"weights": {"p": 2, "q": 0}})", kScore),
            "{ _id: 3, s: 5.0 } { _id: 2, s: 2.0 } { _id: 1, s: 1.0 }");
  EXPECT_EQ(fusion("none", R"(, "combination": {"method": "expression",
                               "expression": {"$subtract": ["$$p", "$$q"]}})",
                   kScore),
            "{ _id: 3, s: 5.0 } { _id: 2, s: -2.0 } { _id: 1, s: -8.0 }");
  EXPECT_EQ(fusion("none", R"(, "scoreDetails": true)",
                   R"({"$size": {"$getField": {"field": "details",
                                              "input": {"$meta": "scoreDetails"}}}})"),
            "{ _id: 1, s: 2 } { _id: 2, s: 2 } { _id: 3, s: 2 }");
  EXPECT_EQ(fusion("none", R"(, "combination": {"method": "sum"})", kScore), "2");
  EXPECT_EQ(fusion("none", R"(, "combination": {"method": "expression"})", kScore), "9");
  EXPECT_EQ(fusion("none", R"(, "combination": {"weights": {"x": 1}})", kScore), "9967500");
  EXPECT_EQ(RowsOf(R"([{"$scoreFusion": {"input": {"pipelines": {"p": [{"$sort": {"a": 1}}]},
                                                "normalization": "none"}}}])"),
            "9402500");
  EXPECT_EQ(RowsOf(R"([{"$rankFusion": {"input": {"pipelines": {"p": [{"$sort": {"a": -1}}]}},
                                     "scoreDetails": true}}, {"$limit": 1},
                    {"$project": {"s": {"$round": [{"$meta": "score"}, 6]}}}])"),
            "{ _id: 3, s: 0.016393 }");
}

}  // namespace
}  // namespace evenkeel::query
