// Removing dead ranges in steps.
#include "storage/checkpoint/range_removal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"
#include "tests/lib/fake_checkpoint_store.h"
#include "tests/lib/hashed_ids.h"

namespace evenkeel::storage {
namespace {

class RangeRemovalTest : public testing::Test {
 protected:
  RangeRemovalTest() {
    options_.index_entries = [](std::string_view doc_key, std::string_view document,
                                std::vector<std::string>* keys) {
      keys->push_back("i" + std::string(doc_key) + std::string(document));
    };
    for (const std::string key : {"a1", "b1", "b2", "b3", "c1"}) {
      lmdb_.Damage(DatabaseOf(Table::kDocs), key, std::string(12, '\0') + "doc");
      lmdb_.Damage(DatabaseOf(Table::kIndex), "i" + key + "doc", "");
    }
    lmdb_.Damage(kEngineDatabase, "removal/1", "row");
  }
  std::string Keys(size_t database) {
    std::string keys;
    for (const auto& [key, value] : lmdb_.Content(database)) keys += key + " ";
    return keys;
  }
  absl::StatusOr<bool> Step(DeadRange* range, size_t keys_max) {
    PendingRemoval removal{"removal/1", *range};
    const auto done = RemoveSome(&lmdb_, options_, &removal, keys_max, 1000);
    *range = removal.range;
    return done;
  }
  absl::StatusOr<bool> Step(DeadRange range) { return Step(&range, 100); }

  tests::FakeCheckpointStore lmdb_;
  StoreOptions options_;
};

// Second round, case 12: documents go with their index entries, in one transaction; the mark goes
// with the last.
TEST_F(RangeRemovalTest, SecondRound12_DocumentsGoWithTheirIndexEntries) {
  DeadRange range{Table::kDocs, {"b", "c"}, Timestamp{1}};
  EXPECT_FALSE(*Step(&range, 2));
  EXPECT_EQ(Keys(DatabaseOf(Table::kDocs)), "a1 b3 c1 ");
  EXPECT_EQ(Keys(DatabaseOf(Table::kIndex)), "ia1doc ib3doc ic1doc ");
  EXPECT_EQ(Keys(kEngineDatabase), "removal/1 ");
  lmdb_.AllowCommits(0);
  EXPECT_EQ(CodeOf(Step(&range, 2).status()), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(Keys(DatabaseOf(Table::kIndex)), "ia1doc ib3doc ic1doc ");
  lmdb_.AllowCommits(1);
  EXPECT_TRUE(*Step(&range, 2));
  EXPECT_EQ(Keys(DatabaseOf(Table::kDocs)), "a1 c1 ");
  EXPECT_EQ(Keys(DatabaseOf(Table::kIndex)), "ia1doc ic1doc ");
  EXPECT_EQ(Keys(kEngineDatabase), "");
}

TEST_F(RangeRemovalTest, ARangeWithoutEndGoesToTheLastKey) {
  EXPECT_TRUE(*Step({Table::kIndex, {"ib3", ""}, Timestamp{1}}));
  EXPECT_EQ(Keys(DatabaseOf(Table::kIndex)), "ia1doc ib1doc ib2doc ");
  EXPECT_EQ(Keys(DatabaseOf(Table::kDocs)), "a1 b1 b2 b3 c1 ");
}

// Documents in three buckets; the range begins inside of the first and ends inside of the last.
// Those that stay are stepped over once, however small the steps are.
TEST_F(RangeRemovalTest, OfARangeWithHashesOnlyTheirDocumentsGo) {
  constexpr CollectionId kCollection{9};
  constexpr int64_t kBucket = int64_t{1} << 52;
  std::map<std::string, int64_t> hashes;
  std::vector<int64_t> sorted;
  for (const tests::HashedId& id : tests::IdsWithHashes({kBucket, 4 * kBucket - 1}, 60)) {
    const std::string key =
        DocKey(kCollection, EncodeHash(id.hash, PlacedBy::kBucket), id.document["_id"]);
    lmdb_.Damage(DatabaseOf(Table::kDocs), key, std::string(12, '\0') + id.document.bytes());
    lmdb_.Damage(DatabaseOf(Table::kIndex), "i" + key + id.document.bytes(), "");
    hashes[key] = id.hash;
    sorted.push_back(id.hash);
  }
  std::sort(sorted.begin(), sorted.end());
  const HashSpan span{sorted[9], sorted[50]};
  ASSERT_LT(sorted[9], 2 * kBucket);
  ASSERT_GE(sorted[50], 3 * kBucket);

  DeadRange range{Table::kDocs, DocsOf(kCollection, PlacedBy::kBucket, span), Timestamp{1}};
  size_t steps = 1;
  while (!*Step(&range, 7)) ++steps;
  EXPECT_EQ(steps, 60 / 7 + 1);
  for (const auto& [key, hash] : hashes) {
    EXPECT_EQ(lmdb_.Content(DatabaseOf(Table::kDocs)).contains(key), !span.Contains(hash)) << hash;
  }
  EXPECT_EQ(lmdb_.Content(DatabaseOf(Table::kDocs)).size(), 60u - 42u + 5u);
  EXPECT_EQ(lmdb_.Content(DatabaseOf(Table::kIndex)).size(), 60u - 42u + 5u);
  EXPECT_EQ(Keys(kEngineDatabase), "");
}

TEST_F(RangeRemovalTest, AnEmptyRangeIsDoneAtOnce) {
  EXPECT_TRUE(*Step({Table::kDocs, {"x", "y"}, Timestamp{1}}));
  EXPECT_EQ(Keys(kEngineDatabase), "");
}

}  // namespace
}  // namespace evenkeel::storage
