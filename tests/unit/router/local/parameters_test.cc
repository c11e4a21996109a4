// getParameter, setParameter.
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class ParametersTest : public RouterTest {};

TEST_F(ParametersTest, NamedOnes) {
  EXPECT_EQ(Fields(Run(R"({"getParameter": 1, "featureCompatibilityVersion": 1, "logLevel": 1,)"
                       R"( "$db": "admin"})")),
            R"({"featureCompatibilityVersion":{"version":"7.0"},"logLevel":0})");
}

TEST_F(ParametersTest, AllOfThem) {
  for (const std::string_view all :
       {R"({"getParameter": "*", "$db": "admin"})",
        R"({"getParameter": {"allParameters": true}, "$db": "admin"})"}) {
    const bson::Document reply = Run(all);
    EXPECT_TRUE(reply.view().Contains("cursorTimeoutMillis")) << all;
    EXPECT_TRUE(reply.view().Contains("authenticationMechanisms")) << all;
  }
}

TEST_F(ParametersTest, Details) {
  EXPECT_EQ(Fields(Run(R"({"getParameter": {"showDetails": true}, "quiet": 1, "$db": "admin"})")),
            R"({"quiet":{"value":false,"settableAtRuntime":false,"settableAtStartup":false}})");
}

struct BadCase {
  std::string_view argument;
  int code;
};

TEST_F(ParametersTest, BadSelections) {
  const BadCase cases[] = {
      {R"({"showDetails": "yes"})", 14},
      {R"({"allParameters": "yes"})", 14},
      {R"({"allParameters": true, "setAt": 1})", 14},
      {R"({"allParameters": true, "setAt": "later"})", 2},
      {R"({"unknown": true})", 40415},
  };
  for (const BadCase& c : cases) {
    const std::string command =
        "{\"getParameter\": " + std::string(c.argument) + R"(, "quiet": 1, "$db": "admin"})";
    EXPECT_EQ(CodeOfReply(Run(command)), c.code) << c.argument;
  }
}

TEST_F(ParametersTest, UnknownOnes) {
  EXPECT_EQ(CodeOfReply(Run(R"({"getParameter": 1, "noSuch": 1, "$db": "admin"})")), 72);
}

TEST_F(ParametersTest, SettableOnes) {
  const std::string_view set =
      R"({"setParameter": 1, "internalDocumentSourceGroupMaxMemoryBytes": 5000, "$db": "admin"})";
  const std::string_view get =
      R"({"getParameter": {"showDetails": true}, "$db": "admin",
          "internalDocumentSourceGroupMaxMemoryBytes": 1})";
  EXPECT_EQ(Run(set)["was"].AsInt64(), 100 << 20);
  EXPECT_EQ(Run(set)["was"].AsInt64(), 5000);
  const bson::Document details = Run(get);
  const bson::View parameter = details["internalDocumentSourceGroupMaxMemoryBytes"].AsDocument();
  EXPECT_EQ(parameter["value"].AsInt64(), 5000);
  EXPECT_TRUE(parameter["settableAtRuntime"].AsBool());
}

TEST_F(ParametersTest, TheRateOfMoves) {
  const std::string_view set =
      R"({"setParameter": 1, "migrationBytesPerSecond": 5000, "$db": "admin"})";
  EXPECT_EQ(Run(set)["was"].AsInt64(), 0);
  EXPECT_EQ(Run(set)["was"].AsInt64(), 5000);
  EXPECT_EQ(Fields(Run(R"({"getParameter": 1, "migrationBytesPerSecond": 1, "$db": "admin"})")),
            R"({"migrationBytesPerSecond":5000})");
}

TEST_F(ParametersTest, WhatCannotBeSet) {
  const BadCase cases[] = {
      {R"("migrationBytesPerSecond": -1)", 2},
      {R"("migrationBytesPerSecond": 1.5)", 2},
      {R"("migrationBytesPerSecond": "fast")", 2},
      {R"("noSuch": 1)", 72},
      {R"("quiet": true)", 20},
      {R"("internalDocumentSourceGroupMaxMemoryBytes": 0)", 2},
      {R"("comment": "nothing")", 72},
  };
  for (const BadCase& test : cases) {
    const bson::Document reply =
        Run("{\"setParameter\": 1, " + std::string(test.argument) + ", \"$db\": \"admin\"}");
    EXPECT_EQ(CodeOfReply(reply), test.code) << test.argument;
  }
}

}  // namespace
}  // namespace evenkeel::router
