// Placement by hash: the order of keys, what they tell of hashes, and the documents of spans of
// hashes, wherever the spans begin and end.
#include "storage/keys/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/bson/hash.h"
#include "base/limits.h"
#include "base/random.h"
#include "storage/keys/key_encoding.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::storage {
namespace {

using bson::Builder;

constexpr CollectionId kCollection{77};
constexpr PlacedBy kBoth[] = {PlacedBy::kHash, PlacedBy::kBucket};
constexpr int64_t kBucketWidth = int64_t{1} << 52;

TEST(Placement, KeysOrderAsHashesDo) {
  const int64_t ascending[] = {INT64_MIN, INT64_MIN + 1, -kBucketWidth, -256,     -1, 0,
                               1,         255,           kBucketWidth,  INT64_MAX};
  for (const PlacedBy by : kBoth) {
    std::string before;
    for (const int64_t hash : ascending) {
      const std::string key = EncodeHash(hash, by);
      EXPECT_LE(before, key) << hash;
      EXPECT_TRUE(DecodeHash(key, by).Contains(hash)) << hash;
      EXPECT_EQ(DecodeHash(key + "more", by), DecodeHash(key, by));
      before = key;
    }
  }
}

TEST(Placement, AHashIsInItsKey) {
  EXPECT_EQ(EncodeHash(INT64_MIN, PlacedBy::kHash), std::string(8, '\0'));
  EXPECT_EQ(EncodeHash(INT64_MAX, PlacedBy::kHash), std::string(8, '\xFF'));
  base::Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const auto a = static_cast<int64_t>(random.Next64()), b = static_cast<int64_t>(random.Next64());
    const std::string key = EncodeHash(a, PlacedBy::kHash);
    EXPECT_EQ(a < b, key < EncodeHash(b, PlacedBy::kHash)) << a << " " << b;
    EXPECT_EQ(DecodeHash(key, PlacedBy::kHash), (HashSpan{a, a}));
  }
}

TEST(Placement, ABucketIsItsFirstTwelveBits) {
  EXPECT_EQ(EncodeHash(INT64_MIN, PlacedBy::kBucket), std::string(2, '\0'));
  EXPECT_EQ(EncodeHash(INT64_MAX, PlacedBy::kBucket), "\xFF\xF0");
  std::set<std::string> keys;
  int64_t next = INT64_MIN;
  for (int i = 0; i < 4096; ++i) {
    const std::string key = EncodeHash(next, PlacedBy::kBucket);
    EXPECT_EQ(EncodeHash(next + (kBucketWidth - 1), PlacedBy::kBucket), key);
    EXPECT_EQ(DecodeHash(key, PlacedBy::kBucket), (HashSpan{next, next + (kBucketWidth - 1)}));
    keys.insert(key);
    if (i < 4095) next += kBucketWidth;
  }
  EXPECT_EQ(keys.size(), 4096u);
}

struct Stored {
  bson::Document document;
  int64_t hash;
  std::string key;
};

std::vector<Stored> DocumentsOf(const std::vector<bson::OwnedValue>& ids, PlacedBy by) {
  std::vector<Stored> out;
  for (const bson::OwnedValue& id : ids) {
    if (id.value().missing()) continue;
    Builder builder;
    builder.Append("_id", id);
    Stored stored{builder.Finish(), bson::HashValue(id.value()), {}};
    stored.key = DocKey(kCollection, EncodeHash(stored.hash, by), id.value());
    out.push_back(std::move(stored));
  }
  return out;
}

std::vector<bson::OwnedValue> Ids(int count) {
  std::vector<bson::OwnedValue> ids = bson::TrickyValues();
  for (int i = 0; i < count; ++i) {
    ids.push_back(bson::Int(1000 + i));
    ids.push_back(bson::Text("id " + std::to_string(i)));
  }
  // Keys that are too long keep their head and end in a digest.
  for (int i = 0; i < count / 10; ++i) {
    ids.push_back(bson::Text(std::string(600, 'x') + std::to_string(i)));
  }
  return ids;
}

// A border: at a document's hash or next to it, at a bucket's border, or anywhere.
int64_t Border(base::Random* random, const std::vector<Stored>& documents) {
  const int64_t near = static_cast<int64_t>(random->Uniform(3)) - 1;
  const int64_t hash = documents[random->Uniform(documents.size())].hash;
  switch (random->Uniform(6)) {
    case 0:
      return static_cast<int64_t>(random->Next64());
    case 1:
      return DecodeHash(EncodeHash(hash, PlacedBy::kBucket), PlacedBy::kBucket).first;
    case 2:
      return random->Chance(0.5) ? INT64_MIN : INT64_MAX;
    default:
      return hash == INT64_MIN || hash == INT64_MAX ? hash : hash + near;
  }
}

TEST(Placement, RangesHoldExactlyTheDocumentsOfTheirSpans) {
  base::Random random(7);
  for (const PlacedBy by : kBoth) {
    const std::vector<Stored> documents = DocumentsOf(Ids(3000), by);
    for (int round = 0; round < 150; ++round) {
      int64_t first = Border(&random, documents), last = Border(&random, documents);
      if (first > last) std::swap(first, last);
      const TableRange range = DocsOf(kCollection, by, {first, last});
      const TableRange all = DocsOf(kCollection);
      ASSERT_TRUE(all.begin <= range.begin && range.end <= all.end);
      for (const Stored& stored : documents) {
        const bool inside = range.begin <= stored.key && stored.key < range.end &&
                            HoldsDocument(range.hashes, stored.key, stored.document);
        ASSERT_EQ(inside, first <= stored.hash && stored.hash <= last)
            << bson::ToDisplay(stored.document["_id"]) << " " << stored.hash << " in " << first
            << " to " << last;
      }
    }
  }
}

// Up to five spans, ascending, apart from each other or side by side, often in one bucket.
std::vector<HashSpan> RandomSpans(base::Random* random, const std::vector<Stored>& documents) {
  std::set<int64_t> borders;
  const int64_t dense = documents[random->Uniform(documents.size())].hash;
  while (borders.size() < 6) {
    const int64_t inside =
        (dense & ~(kBucketWidth - 1)) + static_cast<int64_t>(random->Next64() & (kBucketWidth - 1));
    borders.insert(random->Chance(0.5) ? inside : Border(random, documents));
  }
  std::vector<HashSpan> spans;
  for (auto next = borders.begin(); std::next(next) != borders.end(); ++next) {
    const int64_t last = *std::next(next);
    if (random->Chance(0.6)) spans.push_back({*next, last == INT64_MAX ? last : last - 1});
  }
  return spans;
}

// Placed by hash: the documents of the spans and no other. By bucket: all of each bucket that a
// span reaches into.
TEST(Placement, KeysOfHoldWhatTheSpansReachInto) {
  base::Random random(9);
  for (const PlacedBy by : kBoth) {
    const std::vector<Stored> documents = DocumentsOf(Ids(2000), by);
    size_t fewer_ranges = 0;
    for (int round = 0; round < 300; ++round) {
      const std::vector<HashSpan> spans = RandomSpans(&random, documents);
      const std::vector<TableRange> ranges = KeysOf(kCollection, by, spans);
      fewer_ranges += ranges.size() < spans.size();
      for (size_t i = 0; i < ranges.size(); ++i) {
        ASSERT_LT(ranges[i].begin, ranges[i].end);
        ASSERT_EQ(ranges[i].hashes, HashSpan{});
        if (i == 0) continue;
        ASSERT_LT(ranges[i - 1].end, ranges[i].begin) << "they are apart";
      }
      for (const Stored& stored : documents) {
        const HashSpan place = DecodeHash(EncodeHash(stored.hash, by), by);
        const bool expected = std::any_of(spans.begin(), spans.end(), [&](const HashSpan& span) {
          return span.first <= place.last && place.first <= span.last;
        });
        const auto holding = std::count_if(ranges.begin(), ranges.end(), [&](const auto& range) {
          return range.begin <= stored.key && stored.key < range.end;
        });
        ASSERT_EQ(holding, expected ? 1 : 0) << bson::ToDisplay(stored.document["_id"]);
      }
    }
    EXPECT_GT(fewer_ranges, 20u) << "spans that touch or share a bucket have one range";
  }
}

struct SpansCase {
  std::vector<HashSpan> spans;
  size_t by_hash, by_bucket;  // ranges
};

TEST(Placement, KeysOfSharedBuckets) {
  constexpr int64_t kLast = kBucketWidth - 1;
  const SpansCase cases[] = {
      {{}, 0, 0},
      {{{5, 5}}, 1, 1},
      {{{5, 7}, {9, 11}}, 2, 1},
      {{{5, 7}, {8, 11}}, 1, 1},
      {{{5, kLast - 1}, {kBucketWidth - 1, kBucketWidth + 1}, {kBucketWidth + 3, kBucketWidth + 3}},
       2,
       1},
      {{{-5, -5}, {5, 5}}, 2, 2},  // two buckets side by side
      {{{0, kLast}, {2 * kBucketWidth, 3 * kBucketWidth}}, 2, 2},
      {{{INT64_MIN, INT64_MIN}, {INT64_MAX, INT64_MAX}}, 2, 2},
      {{{INT64_MIN, INT64_MAX}}, 1, 1},
  };
  for (const SpansCase& c : cases) {
    const std::string what = c.spans.empty() ? "none" : std::to_string(c.spans.front().first);
    EXPECT_EQ(KeysOf(kCollection, PlacedBy::kHash, c.spans).size(), c.by_hash) << what;
    EXPECT_EQ(KeysOf(kCollection, PlacedBy::kBucket, c.spans).size(), c.by_bucket) << what;
  }
}

// Inside of a span the key decides alone: the document is not even looked at.
TEST(Placement, OnlyTheBucketsAtTheEndsAreLookedInto) {
  const HashSpan span{-3 * kBucketWidth + 5, 3 * kBucketWidth + 5};
  const TableRange range = DocsOf(kCollection, PlacedBy::kBucket, span);
  const bson::View nothing;  // its hash is null's
  ASSERT_FALSE(span.Contains(bson::HashValue(nothing["_id"])));
  for (int bucket = -3; bucket <= 3; ++bucket) {
    const std::string key =
        DocPrefix(kCollection) + EncodeHash(bucket * kBucketWidth, PlacedBy::kBucket) + "id";
    EXPECT_TRUE(range.begin <= key && key < range.end);
    EXPECT_EQ(HoldsDocument(range.hashes, key, nothing), bucket != -3 && bucket != 3) << bucket;
  }
}

TEST(Placement, WholeBucketsNeedNoLook) {
  for (const HashSpan span : {HashSpan{0, kBucketWidth - 1}, HashSpan{INT64_MIN, INT64_MAX},
                              HashSpan{-kBucketWidth, 5 * kBucketWidth - 1}}) {
    EXPECT_EQ(DocsOf(kCollection, PlacedBy::kBucket, span).hashes, HashSpan{});
  }
  EXPECT_EQ(DocsOf(kCollection, PlacedBy::kHash, {5, 7}).hashes, HashSpan{});
}

TEST(Placement, LongIdsKeepTheirBucket) {
  const bson::OwnedValue id = bson::Text(std::string(5000, 'i'));
  const int64_t hash = bson::HashValue(id.value());
  const std::string key = DocKey(kCollection, EncodeHash(hash, PlacedBy::kBucket), id.value());
  EXPECT_EQ(key.size(), limits::kLmdbKeyBytesMax);
  EXPECT_TRUE(DecodeHash(WithoutCollection(key), PlacedBy::kBucket).Contains(hash));
}

}  // namespace
}  // namespace evenkeel::storage
