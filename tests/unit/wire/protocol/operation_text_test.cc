// What the log shows of requests.
#include "wire/protocol/operation_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bson/json.h"

namespace evenkeel::wire {
namespace {

using testing::HasSubstr;
using testing::Not;

Message FromJson(const std::string& json) { return MakeMessage(*bson::FromJson(json)); }

TEST(OperationText, IdsAreCountedWithinTheProcess) {
  const uint64_t first = NewOperationId(), second = NewOperationId();
  EXPECT_EQ(second, first + 1);
  EXPECT_EQ(OperationText(0x5f3a91c2'0000000cull), "5f3a91c2-12");
  EXPECT_EQ(OperationText(0), "none");
}

TEST(OperationText, Namespaces) {
  const struct {
    std::string command, wanted;
  } cases[] = {
      {R"({"find": "people", "$db": "test"})", "test.people"},
      {R"({"getMore": {"$numberLong": "7"}, "collection": "people", "$db": "test"})",
       "test.people"},
      {R"({"aggregate": 1, "$db": "test"})", "test.$cmd"},
      {R"({"ping": 1, "$db": "admin"})", "admin.$cmd"},
      {R"({"ping": 1})", ".$cmd"},
  };
  for (const auto& tried : cases) {
    EXPECT_EQ(NamespaceText(FromJson(tried.command)), tried.wanted) << tried.command;
  }
}

TEST(OperationText, CommandsWithoutWhatAllHave) {
  EXPECT_EQ(CommandText(FromJson(R"({"find": "c", "filter": {"a": 1}, "$db": "test",
                                     "lsid": {"id": 1}, "comment": "x"})")),
            R"({ find: "c", filter: { a: 1 } })");
  EXPECT_EQ(CommandText(FromJson(R"({"createUser": "u", "pwd": "secret"})")),
            R"({ createUser: "u", pwd: ### })");
}

TEST(OperationText, LongCommandsAreCut) {
  const std::string one_long =
      R"({"find": "c", "filter": {"a": ")" + std::string(5'000, 'x') + R"("}, "limit": 3})";
  const std::string cut = CommandText(FromJson(one_long));
  EXPECT_LT(cut.size(), 300u);
  EXPECT_THAT(cut, HasSubstr("..., limit: 3"));
  std::string many = R"({"find": "c")";
  for (int i = 0; i < 500; ++i) many += R"(, "field)" + std::to_string(i) + R"(": "é")";
  const std::string text = CommandText(FromJson(many + "}"));
  EXPECT_LE(text.size(), kCommandTextBytesMax + 3);
  EXPECT_TRUE(text.ends_with("..."));
}

TEST(OperationText, SequencesAreCounted) {
  const bson::Document row = *bson::FromJson(R"({"q": {"a": 1}, "u": {"b": 2}})");
  Message command = FromJson(R"({"update": "c"})");
  command.sequences.push_back({"updates", {row.view(), row.view()}});
  EXPECT_EQ(CommandText(command), R"({ update: "c", updates: { q: { a: 1 }, u: { b: 2 } } [2] })");
  command.sequences[0].name = "documents";
  EXPECT_EQ(CommandText(command), R"({ update: "c", documents: [2] })");
  EXPECT_EQ(CommandText(FromJson(R"({"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]})")),
            R"({ insert: "c", documents: [2] })");
}

TEST(OperationText, WhatRepliesBring) {
  EXPECT_EQ(CountReturned(*bson::FromJson(R"({"cursor": {"firstBatch": [{}, {}]}})")), 2);
  EXPECT_EQ(CountReturned(*bson::FromJson(R"({"cursor": {"nextBatch": []}})")), 0);
  EXPECT_EQ(CountReturned(*bson::FromJson(R"({"values": [1, 2, 3]})")), 3);
  EXPECT_EQ(CountReturned(*bson::FromJson(R"({"n": 7})")), 7);
  EXPECT_EQ(CountReturned(*bson::FromJson(R"({"ok": 1})")), -1);
}

}  // namespace
}  // namespace evenkeel::wire
