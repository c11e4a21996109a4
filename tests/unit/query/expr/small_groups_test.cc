// The small groups: bitwise, size, timestamp, type, accumulators as expressions, and what belongs
// nowhere else.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Bitwise, Results) {
  const Case cases[] = {
      {R"({"$bitAnd": [6, 3]})", "2"},
      {R"({"$bitAnd": []})", "-1"},
      {R"({"$bitOr": [4, {"$numberLong": "1"}]})", R"({"$numberLong": "5"})"},
      {R"({"$bitXor": [5, 1]})", "4"},
      {R"({"$bitNot": 0})", "-1"},
      {R"({"$bitAnd": [1, null]})", "null"},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {{R"({"$bitAnd": [1.5]})", 14}, {R"({"$bitNot": "x"})", 14}};
  CheckErrors(errors);
}

TEST(Size, Results) {
  const Case cases[] = {
      {R"({"$binarySize": "é"})", "2"},
      {R"({"$binarySize": {"$binary": {"base64": "AQID", "subType": "00"}}})", "3"},
      {R"({"$bsonSize": "$$ROOT"})", "12", R"({"a": 1})"},
      {R"({"$bsonSize": null})", "null"},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {{R"({"$binarySize": 1})", 51276}, {R"({"$bsonSize": 1})", 31393}};
  CheckErrors(errors);
}

TEST(TimestampParts, Results) {
  const Case cases[] = {
      {R"({"$tsSecond": {"$timestamp": {"t": 7, "i": 9}}})", R"({"$numberLong": "7"})"},
      {R"({"$tsIncrement": {"$timestamp": {"t": 7, "i": 9}}})", R"({"$numberLong": "9"})"},
      {R"({"$tsSecond": null})", "null"},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {{R"({"$tsSecond": 1})", 5687301},
                              {R"({"$tsIncrement": 1})", 5687302}};
  CheckErrors(errors);
}

TEST(Type, Results) {
  const Case cases[] = {
      {R"({"$type": "$none"})", R"("missing")"},
      {R"({"$type": 1})", R"("int")"},
      {R"({"$type": {"$numberLong": "1"}})", R"("long")"},
      {R"({"$type": 1.5})", R"("double")"},
      {R"({"$type": [[]]})", R"("array")"},
      {R"({"$isNumber": {"$numberDecimal": "1"}})", "true"},
      {R"({"$isNumber": "1"})", "false"},
      {R"({"$subtype": {"$binary": {"base64": "", "subType": "05"}}})", "5"},
      {R"({"$subtype": null})", "null"},
  };
  CheckCases(cases);
}

TEST(AccumulatorExpressions, TakeArgumentsOrOneArray) {
  constexpr std::string_view kDocument = R"({"a": [1, 2, 6, "x", null], "b": 4, "n": null})";
  const Case cases[] = {
      {R"({"$sum": "$a"})", "9", kDocument},  {R"({"$sum": ["$a", "$b"]})", "4", kDocument},
      {R"({"$sum": "$n"})", "0", kDocument},  {R"({"$avg": "$a"})", "3.0", kDocument},
      {R"({"$avg": ["x"]})", "null"},         {R"({"$max": ["$b", 7, null]})", "7", kDocument},
      {R"({"$min": "$a"})", "1", kDocument},  {R"({"$min": ["$n"]})", "null", kDocument},
      {R"({"$stdDevPop": [[1, 3]]})", "1.0"}, {R"({"$stdDevSamp": [1]})", "null"},
  };
  CheckCases(cases);
}

TEST(Misc, Results) {
  const Case cases[] = {
      {R"({"$toHashedIndexKey": {"$literal": {"foo": "bar"}}})",
       R"({"$numberLong": "4975617422686807705"})"},
      {R"({"$type": {"$createObjectId": {}}})", R"("objectId")"},
      {R"({"$meta": "indexKey"})", ""},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {
      {R"({"$rand": 1})", 10065},           {R"({"$rand": [1]})", 3040501},
      {R"({"$meta": 1})", 17307},           {R"({"$meta": "x"})", 17308},
      {R"({"$meta": "textScore"})", 40218}, {R"({"$subtype": 1})", 10389300}};
  CheckErrors(errors);
  for (int i = 0; i < 100; ++i) {
    const absl::StatusOr<bson::Document> got = EvaluateJson(R"({"$rand": {}})", "{}");
    ASSERT_TRUE(got.ok());
    const double value = (*got)["v"].AsDouble();
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 1);
  }
}

}  // namespace
}  // namespace evenkeel::query::expr
