// Ranges of hashes that begin and end inside of buckets: what a shard owns, shows, scans and
// removes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "shard/command/command.h"
#include "shard/command/scan.h"
#include "storage/keys/placement.h"
#include "tests/lib/hashed_ids.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using storage::HashSpan;
using tests::HashedId;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kById{.shard_key = R"({"_id": "hashed"})"};
const TestCollection kByField{.shard_key = R"({"a": "hashed"})"};

std::string IdOf(const HashedId& id) { return tests::Field(id.document, "_id"); }

void InsertAll(ShardFixture& shard, const TestCollection& collection,
               const std::vector<HashedId>& ids) {
  std::vector<std::string> documents;
  for (const HashedId& id : ids) {
    documents.push_back(R"({"_id": )" + IdOf(id) + R"(, "a": )" + IdOf(id) + "}");
  }
  shard.Insert(collection, documents);
}

// The numbers of those with hashes inside of the span, or outside; sorted.
std::vector<std::string> Expected(const std::vector<HashedId>& ids, const HashSpan& span,
                                  bool inside = true) {
  std::vector<std::string> out;
  for (const HashedId& id : ids) {
    if (span.Contains(id.hash) == inside) out.push_back(IdOf(id));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Collection Open(ShardFixture& shard, const TestCollection& collection) {
  auto opened = OpenCollection(shard.store().Read(), {.collection = CollectionId{collection.id},
                                                      .version = CatalogVersion{1}});
  EXPECT_TRUE(opened.ok()) << opened.status();
  return *std::move(opened);
}

// What a scan shows, some records at a time; sorted.
std::vector<std::string> Show(ShardFixture& shard, Scan scan, size_t records) {
  std::vector<std::string> out;
  absl::StatusOr<bool> ended = false;
  while (ended.ok() && !*ended) {
    ended = scan.Run(shard.store().Read(), records, [&](const Found& found) {
      out.push_back(tests::Field(found.document, "_id"));
      return Scan::Visit::kContinue;
    });
  }
  EXPECT_TRUE(ended.ok()) << ended.status();
  std::sort(out.begin(), out.end());
  return out;
}

// Borders at hashes of documents, beside them, and anywhere.
HashSpan RandomSpan(base::Random* random, const std::vector<HashedId>& ids) {
  const auto border = [&] {
    if (random->Chance(0.2)) return static_cast<int64_t>(random->Next64());
    return ids[random->Uniform(ids.size())].hash + static_cast<int64_t>(random->Uniform(3)) - 1;
  };
  const int64_t a = border(), b = border();
  return {std::min(a, b), std::max(a, b)};
}

TEST(HashRanges, AScanShowsExactlyTheDocumentsOfASpan) {
  const std::vector<HashedId> ids = tests::ClusteredIds();
  base::Random random(11);
  for (const TestCollection& each : {kById, kByField}) {
    ShardFixture shard;
    shard.Put(each);
    InsertAll(shard, each, ids);
    const Collection collection = Open(shard, each);
    for (int round = 0; round < 60; ++round) {
      if (round == 30) ASSERT_TRUE(shard.store().Checkpoint().ok());
      const HashSpan span = RandomSpan(&random, ids);
      EXPECT_EQ(Show(shard, Scan(collection, span), 1 + random.Uniform(20)), Expected(ids, span))
          << each.shard_key << " from " << span.first << " to " << span.last;
    }
    EXPECT_EQ(Show(shard, Scan(collection, HashSpan{}), 7), Expected(ids, {}));
  }
}

TEST(HashRanges, RemovalTakesExactlyTheDocumentsOfASpan) {
  const std::vector<HashedId> ids = tests::ClusteredIds();
  base::Random random(12);
  for (const TestCollection& each : {kById, kByField}) {
    for (int round = 0; round < 6; ++round) {
      ShardFixture shard;
      shard.Put(each);
      InsertAll(shard, each, ids);
      const Collection collection = Open(shard, each);
      const HashSpan span = RandomSpan(&random, ids);
      shard.Write([&](storage::WriteContext& context) {
        context.RemoveRange(
            storage::Table::kDocs,
            storage::DocsOf(collection.entry->id, collection.entry->placed_by(), span));
      });
      if (round % 2 == 1) shard.Crash();
      ASSERT_TRUE(shard.store().Checkpoint().ok());
      ASSERT_TRUE(shard.store().FinishRemovals().ok());
      EXPECT_EQ(Show(shard, Scan(collection), 50), Expected(ids, span, false))
          << each.shard_key << " from " << span.first << " to " << span.last;
    }
  }
}

// The border between two shards lies inside of a bucket, with documents on either side. Those that
// are not the shard's are there, as they may be after a move, and nobody sees them.
TEST(HashRanges, AShardOwnsItsPartOfABucket) {
  const std::vector<HashedId> ids = tests::ClusteredIds();
  const std::vector<HashedId> dense = tests::IdsWithHashes(tests::kDenseHashes, 40);
  const int64_t border = dense[20].hash;
  for (const uint32_t number : {0u, 1u}) {
    ShardFixture shard({.shard = number, .shards = 2, .range_mins = {INT64_MIN, border}});
    shard.Put(kById);
    InsertAll(shard, kById, ids);
    const HashSpan own =
        number == 0 ? HashSpan{INT64_MIN, border - 1} : HashSpan{border, INT64_MAX};
    const std::vector<std::string> expected = Expected(ids, own);
    EXPECT_EQ(Show(shard, Scan(Open(shard, kById)), 10), expected);
    EXPECT_EQ(shard.Count(kById), static_cast<int64_t>(expected.size()));
    for (const char* rest : {R"("filter": {})", R"("filter": {"_id": {"$gte": 0}})",
                             R"("filter": {"_id": {"$gte": 0}}, "sort": {"_id": -1})"}) {
      EXPECT_EQ(shard.Find(kById, rest).size(), expected.size()) << rest;
    }
    for (const HashedId& id : dense) {
      EXPECT_EQ(shard.Find(kById, R"("filter": {"_id": )" + IdOf(id) + "}").size(),
                own.Contains(id.hash) ? 1u : 0u)
          << id.hash;
    }
  }
}

}  // namespace
}  // namespace evenkeel::shard
