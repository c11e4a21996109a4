// Tests of _copyOut in a move of ranges: what leaves is given and nothing else, from wherever the
// last page ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/random.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"
#include "tests/lib/hashed_ids.h"
#include "tests/lib/shard/range_move.h"

namespace evenkeel::shard {
namespace {

using catalog::HashRange;
using tests::HashedId;
using tests::RangeMove;
using Numbers = std::vector<int32_t>;

constexpr ShardId kFirst{0}, kSecond{1};
const std::vector<HashRange> kAllFirst{{INT64_MIN, kFirst}}, kAllSecond{{INT64_MIN, kSecond}};

int32_t NumberOf(const HashedId& id) { return id.document["_id"].AsInt32(); }

Numbers NumbersIn(const bson::Document& page) {
  Numbers out;
  for (const auto& [key, document] : page["documents"].AsDocument()) {
    out.push_back(document.AsDocument()["_id"].AsInt32());
  }
  return out;
}

// All pages, one after the other; how many were `pages`.
Numbers AllPages(RangeMove& move, uint32_t source, size_t* pages = nullptr) {
  Numbers out;
  std::string after;
  for (bool more = true; more;) {
    const bson::Document page = move.Page(source, after);
    const Numbers some = NumbersIn(page);
    out.insert(out.end(), some.begin(), some.end());
    after = std::string(page["after"].AsBinary().bytes);
    more = page["more"].AsBool();
    if (pages != nullptr) ++*pages;
  }
  return out;
}

// Ranges that begin at documents of both dense buckets: spans of both shards share buckets.
std::vector<HashRange> RandomRanges(base::Random* random, const std::vector<HashedId>& ids) {
  std::vector<int64_t> borders{INT64_MIN};
  for (int i = 0; i < 7; ++i) {
    const int64_t near = static_cast<int64_t>(random->Uniform(2));
    borders.push_back(ids[random->Uniform(ids.size())].hash + near);
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::vector<HashRange> ranges;
  for (const int64_t border : borders) {
    ranges.push_back({border, random->Chance(0.5) ? kFirst : kSecond});
  }
  return ranges;
}

// The keys of documents on a shard, in order, with the documents' numbers.
std::vector<std::pair<std::string, int32_t>> Stored(RangeMove& move, uint32_t shard) {
  std::vector<std::pair<std::string, int32_t>> out;
  const storage::ReadSlice slice = move.shard(shard).store().Read();
  const auto cursor = slice.NewCursor(storage::Table::kDocs);
  for (cursor->SeekPrefix(storage::DocPrefix(CollectionId{move.now().id})); cursor->Valid();
       cursor->Next()) {
    const bson::View document(cursor->record().value.data());
    out.emplace_back(cursor->key(), document["_id"].AsInt32());
  }
  return out;
}

TEST(CopyOut, GivesWhatLeavesFromAnyPlaceOn) {
  const std::vector<HashedId> ids = tests::ClusteredIds();
  base::Random random(3);
  for (const bool by_bucket : {true, false}) {
    for (int round = 0; round < 6; ++round) {
      RangeMove::Options options{.by_bucket = by_bucket,
                                 .before = RandomRanges(&random, ids),
                                 .after = RandomRanges(&random, ids)};
      const catalog::Assignment after("after", 1, options.after);
      RangeMove move(options);
      for (const HashedId& id : ids) move.Insert(NumberOf(id));
      move.Begin();
      const bool checkpointed = round % 2 == 0 || move.shard(0).store().Checkpoint().ok();
      ASSERT_TRUE(checkpointed);
      for (const uint32_t source : {0u, 1u}) {
        Numbers leaves;
        auto stored = Stored(move, source);
        std::reverse(stored.begin(), stored.end());
        for (const auto& [key, number] : stored) {
          Numbers expected = leaves;
          std::reverse(expected.begin(), expected.end());
          ASSERT_EQ(NumbersIn(move.Page(source, key)), expected) << "behind " << number;
          if (!after.Owns(ShardId{source}, move.HashOf(number))) leaves.push_back(number);
        }
        std::reverse(leaves.begin(), leaves.end());
        ASSERT_EQ(AllPages(move, source), leaves) << by_bucket << " " << round;
      }
    }
  }
}

TEST(CopyOut, WhereNothingLeaves) {
  const std::vector<HashedId> ids = tests::ClusteredIds();
  const int64_t border = ids[ids.size() / 2].hash;
  struct Case {
    std::string what;
    std::vector<HashRange> before, after;
  };
  const Case cases[] = {
      {"one that owns nothing", kAllSecond, kAllFirst},
      {"the same ranges", kAllFirst, kAllFirst},
      {"the same ranges, cut", kAllFirst, {{INT64_MIN, kFirst}, {border, kFirst}}},
      {"spans without documents", kAllFirst, {{INT64_MIN, kFirst}, {ids.back().hash + 1, kSecond}}},
      {"one that only gets", {{INT64_MIN, kFirst}, {border, kSecond}}, kAllFirst},
  };
  for (const Case& c : cases) {
    for (const bool by_bucket : {true, false}) {
      RangeMove move({.by_bucket = by_bucket, .before = c.before, .after = c.after});
      for (const HashedId& id : ids) move.Insert(NumberOf(id));
      move.Begin();
      size_t pages = 0;
      EXPECT_TRUE(AllPages(move, 0, &pages).empty()) << c.what;
      EXPECT_EQ(pages, 1u) << c.what;
    }
  }
}

TEST(CopyOut, ComesInPages) {
  for (const bool by_bucket : {true, false}) {
    RangeMove move({.by_bucket = by_bucket,
                    .before = kAllFirst,
                    .after = {{INT64_MIN, kSecond}, {INT64_MAX / 2, kFirst}}});
    size_t leaving = 0;
    for (int32_t n = 0; n < 2750; ++n) {
      move.Insert(n);
      leaving += move.HashOf(n) < INT64_MAX / 2;
    }
    ASSERT_GT(leaving, 2000u);
    ASSERT_LT(leaving, 2100u);
    move.Begin();
    size_t pages = 0;
    Numbers given = AllPages(move, 0, &pages);
    std::sort(given.begin(), given.end());
    EXPECT_EQ(std::unique(given.begin(), given.end()), given.end()) << "each once";
    EXPECT_EQ(given.size(), leaving);
    EXPECT_EQ(pages, 3u);
  }
}

// In a bucket from which little leaves a page ends after so many documents, even with none.
TEST(CopyOut, APageLooksAtSoManyDocuments) {
  const std::vector<HashedId> ids = tests::IdsWithHashes({0, tests::kBucketWidth - 1}, 3);
  const HashedId& last =
      *std::max_element(ids.begin(), ids.end(),
                        [](const auto& a, const auto& b) { return NumberOf(a) < NumberOf(b); });
  RangeMove move({.before = kAllFirst,
                  .after = {{INT64_MIN, kFirst}, {last.hash, kSecond}, {last.hash + 1, kFirst}}});
  move.Insert(NumberOf(last));
  move.Begin();
  move.shard(0).Write([&](storage::WriteContext& context) {
    // Their places are made up: nobody has the time to find so many `_id`s of one bucket.
    for (int32_t n = 1; n <= 20'005; ++n) {
      const HashedId id = tests::HashedIdOf(-n);
      context.Put(
          storage::Table::kDocs,
          storage::DocKey(CollectionId{move.now().id},
                          storage::EncodeHash(0, storage::PlacedBy::kBucket), id.document["_id"]),
          id.document.bytes());
    }
  });
  size_t pages = 0;
  EXPECT_EQ(AllPages(move, 0, &pages), Numbers{NumberOf(last)});
  EXPECT_EQ(pages, 2u);
}

TEST(CopyOut, LargeDocumentsEndTheirPages) {
  constexpr size_t kLarge = limits::kDocumentBytesMax - 200;
  RangeMove move({.by_bucket = false, .before = kAllFirst, .after = kAllSecond});
  for (int32_t n = 0; n < 12; ++n) move.Insert(n, 1, n % 4 == 3 ? kLarge : 1000);
  move.Begin();
  std::string after;
  Numbers given;
  for (bool more = true; more;) {
    const bson::Document page = move.Page(0, after);
    EXPECT_LT(page.SizeBytes(), kLarge + (size_t{8} << 20));
    const Numbers some = NumbersIn(page);
    EXPECT_LE(std::count_if(some.begin(), some.end(), [](int32_t n) { return n % 4 == 3; }), 1);
    given.insert(given.end(), some.begin(), some.end());
    after = std::string(page["after"].AsBinary().bytes);
    more = page["more"].AsBool();
  }
  std::sort(given.begin(), given.end());
  EXPECT_EQ(given, (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  move.Copy();
  move.Close();
  EXPECT_EQ(move.NoteLeaving(), 0);
  move.Switch();
  EXPECT_EQ(move.shard(1).Count(move.now()), 12);
  EXPECT_EQ(move.shard(1).Validate(move.now()), "");
}

TEST(CopyOut, BadRequests) {
  RangeMove move({.before = kAllFirst, .after = kAllSecond});
  tests::TestCollection other = move.now();
  EXPECT_EQ(move.shard(0).CodeOfRun(other.Command("_copyOut", "")), 20) << "nobody copies it";
  move.Begin();
  EXPECT_EQ(move.shard(0).CodeOfRun(other.Command("_copyOut", "")), 13388);
}

}  // namespace
}  // namespace evenkeel::shard
