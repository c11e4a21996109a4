// What tests of updates and deletes share: collections, commands, tables of cases.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {

using Rows = std::vector<std::string>;

inline const std::string kTxn =
    R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}},
       "txnNumber": {"$numberLong": "1"})";

// {n, m: nModified, u: upserted [index:_id], e: errors [index:code]}, what is zero left out.
inline std::string OutcomeOf(bson::View reply) {
  if (!reply["code"].missing()) return "code " + tests::Field(reply, "code");
  std::string out = "n " + tests::Field(reply, "n");
  if (!reply["nModified"].missing()) out += " m " + tests::Field(reply, "nModified");
  for (const char* list : {"upserted", "writeErrors"}) {
    if (!reply[list].Is(bson::Type::kArray)) continue;
    for (const auto& [key, value] : reply[list].AsDocument()) {
      const bson::View row = value.AsDocument();
      out += std::string(" ") + list[0] + tests::Field(row, "index") + ":" +
             tests::Field(row, list[0] == 'u' ? "_id" : "code");
    }
  }
  if (!reply["missed"].missing()) out += " missed";
  return out;
}

inline std::string Update(tests::ShardFixture& shard, const tests::TestCollection& collection,
                          const std::string& updates,
                          const std::string& rest = R"("ordered": true)") {
  return OutcomeOf(
      shard.Run(collection.Command("update", R"("updates": )" + updates + ", " + rest)));
}

inline std::string Delete(tests::ShardFixture& shard, const tests::TestCollection& collection,
                          const std::string& deletes,
                          const std::string& rest = R"("ordered": true)") {
  return OutcomeOf(
      shard.Run(collection.Command("delete", R"("deletes": )" + deletes + ", " + rest)));
}

inline const tests::TestCollection kPlain{};
inline const tests::TestCollection kIndexed{
    .indexes = {R"({"key": {"a": 1}, "name": "a_1"})",
                R"({"key": {"b": -1}, "name": "b_-1", "unique": true,
                                              "sparse": true})"}};
// One range per shard, so that this one, shard 0, owns everything.
inline const tests::TestCollection kSharded{.shard_key = R"({"a": "hashed"})",
                                            .indexes = {R"({"key": {"b": 1}, "name": "b_1"})"}};
inline const tests::TestCollection kShardedById{.shard_key = R"({"_id": "hashed"})",
                                                .indexes = {R"({"key": {"b": 1}, "name": "b_1"})"}};

struct WriteCase {
  tests::TestCollection collection;
  Rows before;
  std::string statements;
  std::string expected;
  Rows after;
};

inline void RunCases(const std::vector<WriteCase>& cases, bool is_update) {
  for (const WriteCase& c : cases) {
    tests::ShardFixture shard;
    shard.Put(c.collection);
    if (!c.before.empty()) shard.Insert(c.collection, c.before);
    const std::string outcome = is_update ? Update(shard, c.collection, c.statements)
                                          : Delete(shard, c.collection, c.statements);
    EXPECT_EQ(outcome, c.expected) << c.statements;
    Rows after = shard.Find(c.collection);
    std::sort(after.begin(), after.end());
    EXPECT_EQ(after, c.after) << c.statements;
    EXPECT_EQ(shard.Count(c.collection), static_cast<int64_t>(c.after.size())) << c.statements;
    EXPECT_EQ(shard.Validate(c.collection), "") << c.statements;
  }
}

}  // namespace evenkeel::shard
