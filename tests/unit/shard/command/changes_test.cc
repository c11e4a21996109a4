// Tests of _changes, _forgetChanges and _applyChanges: what is noted, that a renewed note stays,
// that changes may arrive in any order and more than once.
#include "shard/command/changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::Json;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kPlain{.id = 1000};
const TestCollection kFollowed{
    .id = 1000,
    .version = 2,
    .copied_to = R"({"id": {"$numberLong": "2000"}, "key": {"a": "hashed"}})"};
const TestCollection kCopy{.id = 2000,
                           .ns = "db.copy",
                           .shard_key = R"({"a": "hashed"})",
                           .indexes = {R"({"key": {"b": 1}, "name": "b_1"})"}};

class Changes : public testing::Test {
 protected:
  Changes() {
    shard_.Put(kPlain);
    shard_.Insert(kPlain, {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 2})"});
    shard_.Put(kFollowed);
    shard_.Put(kCopy);
  }

  bson::Document Notes() { return shard_.Run(kFollowed.Command("_changes", "")); }
  // "_id" of each noted document in order, "-" where it has gone from its place.
  std::string NotedIds() {
    const bson::Document reply = Notes();
    std::string ids;
    for (const auto& [key, note] : reply["notes"].AsDocument()) {
      const bson::Value document = note.AsDocument()["d"];
      ids += document.missing() ? "-" : std::to_string(document.AsDocument()["_id"].AsInt32());
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  int Send(std::string_view command, const TestCollection& collection,
           const std::vector<bson::Document>& notes) {
    bson::Builder body(Json(collection.Command(command, "")).view());
    body.OpenArray("notes");
    bson::ArrayAppender array(body);
    for (const bson::Document& note : notes) array.Add(note.view());
    body.Close();
    const bson::Document reply = shard_.Run(body.Finish());
    return reply["code"].missing() ? 0 : reply["code"].AsInt32();
  }
  void Update(const std::string& filter, const std::string& change) {
    const std::string update = R"("updates": [{"q": )" + filter + R"(, "u": )" + change + "}]";
    ASSERT_EQ(shard_.CodeOfRun(kFollowed.Command("update", update)), 0);
  }
  void Delete(const std::string& filter) {
    const std::string deletes = R"("deletes": [{"q": )" + filter + R"(, "limit": 1}])";
    ASSERT_EQ(shard_.CodeOfRun(kFollowed.Command("delete", deletes)), 0);
  }
  static std::vector<bson::Document> List(const bson::Document& reply) {
    std::vector<bson::Document> notes;
    for (const auto& [key, note] : reply["notes"].AsDocument()) {
      notes.emplace_back(note.AsDocument());
    }
    return notes;
  }

  ShardFixture shard_;
};

TEST_F(Changes, AreNotedFromTheVersionOnThatSaysSo) {
  EXPECT_EQ(NotedIds(), "");
  shard_.Insert(kFollowed, {R"({"_id": 3, "a": 3})"});
  EXPECT_EQ(NotedIds(), "3");
  Update(R"({"_id": 1})", R"({"$set": {"v": 1}})");
  Update(R"({"_id": 1})", R"({"$set": {"v": 2}})");
  EXPECT_EQ(NotedIds(), "13");
  Delete(R"({"_id": 2})");
  EXPECT_EQ(NotedIds(), "-13");
}

TEST_F(Changes, AChangedShardKeyLeavesItsOldPlace) {
  Update(R"({"_id": 1})", R"({"$set": {"a": 10}})");
  EXPECT_EQ(NotedIds(), "-1");
}

TEST_F(Changes, OutliveARestart) {
  shard_.Insert(kFollowed, {R"({"_id": 3, "a": 3})"});
  Delete(R"({"_id": 1})");
  const std::vector<bson::Document> before = List(Notes());
  shard_.Restart();
  const std::vector<bson::Document> after = List(Notes());
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(bson::ToCanonicalJson(after[i]), bson::ToCanonicalJson(before[i]));
  }
}

TEST_F(Changes, OnlyThoseThatWereNotRenewedAreForgotten) {
  shard_.Insert(kFollowed, {R"({"_id": 3, "a": 3})", R"({"_id": 4, "a": 4})"});
  const std::vector<bson::Document> notes = List(Notes());
  Update(R"({"_id": 4})", R"({"$set": {"v": 1}})");
  EXPECT_EQ(Send("_forgetChanges", kFollowed, notes), 0);
  EXPECT_EQ(NotedIds(), "4");
  EXPECT_EQ(Send("_forgetChanges", kFollowed, List(Notes())), 0);
  EXPECT_EQ(NotedIds(), "");
}

TEST_F(Changes, AreTakenOver) {
  shard_.Insert(kFollowed, {R"({"_id": 3, "a": 3})"});
  Update(R"({"_id": 1})", R"({"$set": {"a": 10}})");
  Delete(R"({"_id": 2})");
  EXPECT_EQ(shard_.CodeOfRun(kCopy.Command(
                "_copyIn", R"("documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 2}])")),
            0);
  const std::vector<bson::Document> notes = List(Notes());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Send("_applyChanges", kCopy, notes), 0);
    EXPECT_EQ(shard_.Find(kCopy, R"("sort": {"_id": 1})"),
              (std::vector<std::string>{R"({"_id":1,"a":10})", R"({"_id":3,"a":3})"}));
    EXPECT_EQ(shard_.Validate(kCopy), "");
  }
}

// Every order, with repetitions, ends in the newest state.
TEST_F(Changes, MayArriveInAnyOrder) {
  std::vector<bson::Document> all;
  const auto note = [&] {
    for (const bson::Document& found : List(Notes())) all.push_back(found);
  };
  for (int round = 0; round < 4; ++round) {
    Update(R"({"_id": 1})", R"({"$inc": {"v": 1}})");
    note();
    if (round % 2 == 0) {
      Delete(R"({"_id": 2})");
    } else {
      shard_.Insert(kFollowed, {R"({"_id": 2, "a": 2, "b": )" + std::to_string(round) + "}"});
    }
    note();
  }
  std::mt19937 random(7);
  for (int seed = 0; seed < 20; ++seed) {
    std::shuffle(all.begin(), all.end(), random);
    for (const bson::Document& one : all) ASSERT_EQ(Send("_applyChanges", kCopy, {one}), 0);
    EXPECT_EQ(shard_.Find(kCopy, R"("sort": {"_id": 1})"),
              (std::vector<std::string>{R"({"_id":1,"a":1,"v":4})", R"({"_id":2,"a":2,"b":3})"}));
  }
  EXPECT_EQ(shard_.Validate(kCopy), "");
}

// A transaction moves a document from one shard to another: here it goes, there it comes.
TEST_F(Changes, ADocumentStaysWhereARemovalHasItsAge) {
  shard_.Insert(kFollowed, {R"({"_id": 3, "a": 3})"});
  const bson::Document comes = List(Notes()).front();
  bson::Builder goes;
  for (const auto& [name, value] : comes.view()) {
    if (name != "d") goes.Append(name, value);
  }
  const bson::Document removal = goes.Finish();
  for (const auto& order : {std::vector{comes, removal}, std::vector{removal, comes}}) {
    EXPECT_EQ(Send("_applyChanges", kCopy, order), 0);
    EXPECT_EQ(shard_.Count(kCopy), 1);
    for (const bson::Document& one : order) EXPECT_EQ(Send("_applyChanges", kCopy, {one}), 0);
    EXPECT_EQ(shard_.Count(kCopy), 1);
  }
}

TEST_F(Changes, ADocumentWithoutAPlaceInTheCopyIsAnError) {
  shard_.Insert(kFollowed, {R"({"_id": 3, "a": [1, 2]})"});
  EXPECT_NE(Field(Notes(), "code"), "");
  Delete(R"({"_id": 3})");
  EXPECT_EQ(NotedIds(), "-");
}

TEST_F(Changes, ComeInPages) {
  std::vector<std::string> documents;
  for (int i = 10; i < 2510; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i) + "}");
  }
  shard_.Insert(kFollowed, documents);
  size_t count = 0, pages = 0;
  std::string after;
  for (bool more = true; more; ++pages) {
    bson::Builder body(Json(kFollowed.Command("_changes", "")).view());
    if (!after.empty()) body.AppendBinary("after", 0, after);
    const bson::Document reply = shard_.Run(body.Finish());
    for (const bson::Document& note : List(reply)) {
      ++count;
      after = std::string(note["k"].AsBinary().bytes);
    }
    more = reply["more"].AsBool();
  }
  EXPECT_EQ(count, 2500u);
  EXPECT_EQ(pages, 3u);
}

TEST_F(Changes, BadRequests) {
  EXPECT_EQ(shard_.CodeOfRun(kCopy.Command("_changes", "")), 20) << "nobody copies it";
  EXPECT_EQ(shard_.CodeOfRun(kPlain.Command("_changes", "")), 13388);
  EXPECT_EQ(Send("_applyChanges", kCopy, {Json(R"({"k": 1})")}), 72);
  EXPECT_EQ(Send("_forgetChanges", kFollowed, {Json(R"({"k": 1})")}), 72);
}

}  // namespace
}  // namespace evenkeel::shard
