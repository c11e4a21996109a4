// Removing dead ranges in steps.
#include "storage/checkpoint/range_removal.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/lib/fake_checkpoint_store.h"

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
  absl::StatusOr<bool> Step(const DeadRange& range, size_t keys_max) {
    return RemoveSome(&lmdb_, options_, {"removal/1", range}, keys_max, 1000);
  }

  tests::FakeCheckpointStore lmdb_;
  StoreOptions options_;
};

// Second round, case 12: documents go with their index entries, in one transaction; the mark goes
// with the last.
TEST_F(RangeRemovalTest, SecondRound12_DocumentsGoWithTheirIndexEntries) {
  const DeadRange range{Table::kDocs, "b", "c", Timestamp{1}};
  EXPECT_FALSE(*Step(range, 2));
  EXPECT_EQ(Keys(DatabaseOf(Table::kDocs)), "a1 b3 c1 ");
  EXPECT_EQ(Keys(DatabaseOf(Table::kIndex)), "ia1doc ib3doc ic1doc ");
  EXPECT_EQ(Keys(kEngineDatabase), "removal/1 ");
  lmdb_.AllowCommits(0);
  EXPECT_EQ(CodeOf(Step(range, 2).status()), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(Keys(DatabaseOf(Table::kIndex)), "ia1doc ib3doc ic1doc ");
  lmdb_.AllowCommits(1);
  EXPECT_TRUE(*Step(range, 2));
  EXPECT_EQ(Keys(DatabaseOf(Table::kDocs)), "a1 c1 ");
  EXPECT_EQ(Keys(DatabaseOf(Table::kIndex)), "ia1doc ic1doc ");
  EXPECT_EQ(Keys(kEngineDatabase), "");
}

TEST_F(RangeRemovalTest, ARangeWithoutEndGoesToTheLastKey) {
  EXPECT_TRUE(*Step({Table::kIndex, "ib3", "", Timestamp{1}}, 100));
  EXPECT_EQ(Keys(DatabaseOf(Table::kIndex)), "ia1doc ib1doc ib2doc ");
  EXPECT_EQ(Keys(DatabaseOf(Table::kDocs)), "a1 b1 b2 b3 c1 ");
}

TEST_F(RangeRemovalTest, AnEmptyRangeIsDoneAtOnce) {
  EXPECT_TRUE(*Step({Table::kDocs, "x", "y", Timestamp{1}}, 100));
  EXPECT_EQ(Keys(kEngineDatabase), "");
}

}  // namespace
}  // namespace evenkeel::storage
