// The reply of write commands.
#include "router/write/results.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/unit/router/fake_shard.h"

namespace evenkeel::router::write {
namespace {

TEST(WriteResultsTest, CountsAndUpsertsInTheOrderOfTheStatements) {
  WriteResults results;
  results.AddReplyCounts(Json(R"({"n": 2, "nModified": 1})"));
  results.AddReplyCounts(Json(R"({"n": 1, "nModified": {"$numberLong": "1"}})"));
  results.AddUpserted(5, Json(R"({"_id": "b"})")["_id"]);
  results.AddUpserted(2, Json(R"({"_id": "a"})")["_id"]);
  EXPECT_EQ(bson::ToJson(results.Reply(true, {})),
            R"({"n":3,"nModified":2,"upserted":[{"index":2,"_id":"a"},{"index":5,"_id":"b"}]})");
  EXPECT_EQ(bson::ToJson(WriteResults().Reply(false, {})), R"({"n":0})");
}

TEST(WriteResultsTest, ErrorsCarryTheClientsIndex) {
  WriteResults results;
  results.AddErrorEntry(
      7, Json(R"({"index": 0, "code": 11000, "errmsg": "dup", "keyValue": {"_id": 1}})"));
  results.AddError(3, MakeError(ErrorCode::kBadValue, "bad"));
  EXPECT_TRUE(results.has_errors());
  EXPECT_EQ(bson::ToJson(results.Reply(false, {})),
            R"({"n":0,"writeErrors":[{"index":3,"code":2,"errmsg":"bad"},)"
            R"({"index":7,"code":11000,"errmsg":"dup","keyValue":{"_id":1}}]})");
}

TEST(WriteResultsTest, ManyLongErrorsStayADocument) {
  WriteResults results;
  for (int i = 0; i < 2000; ++i) {
    results.AddError(i, MakeError(ErrorCode::kBadValue, std::string(10'000, 'x')));
  }
  EXPECT_LT(results.Reply(false, {}).SizeBytes(), 2u << 20);
}

struct ConcernCase {
  std::string_view w;
  int code;
};

TEST(WriteConcernTest, WhatCannotBeSatisfiedIsTold) {
  const ConcernCase cases[] = {{"1", 0}, {"0", 0}, {"\"majority\"", 0}, {"2", 100}, {"\"dc\"", 79}};
  for (const ConcernCase& c : cases) {
    const bson::Document given = Json("{\"w\": " + std::string(c.w) + "}");
    wire::WriteConcern concern;
    concern.given = true;
    concern.w = given["w"];
    const auto error = WriteConcernError(concern);
    EXPECT_EQ(error ? (*error)["code"].AsInt32() : 0, c.code) << c.w;
  }
  EXPECT_FALSE(WriteConcernError({}));
}

}  // namespace
}  // namespace evenkeel::router::write
