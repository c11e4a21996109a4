// Which tables a read needs.
#include "storage/read/view.h"

#include <gtest/gtest.h>

#include <string>

namespace evenkeel::storage {
namespace {

// Tables with these highest timestamps, oldest first; negative: in LMDB.
TableList ListOf(const std::vector<int>& max_timestamps) {
  TableList list;
  for (const int each : max_timestamps) {
    auto table = std::make_shared<MemTable>(LogIndex{1});
    table->EndBatch(LogIndex{1}, Timestamp{static_cast<uint64_t>(std::abs(each))}, {});
    list.entries.push_back({std::move(table), each < 0});
  }
  return list;
}

std::string Names(const ReadTables& tables) {
  std::string names;
  for (const MemTable* table : tables) names += std::to_string(table->max_timestamp().bits) + " ";
  return names;
}

TEST(View, LatestNeedsOnlyWhatIsNotInLmdb) {
  EXPECT_EQ(Names(TablesForLatest(ListOf({-100, -200, 300, 400}))), "400 300 ");
  EXPECT_EQ(Names(TablesForLatest(ListOf({400}))), "400 ");
}

struct Case {
  std::vector<int> tables;
  uint64_t timestamp;
  std::string expected;
};

TEST(View, ASnapshotNeedsEverythingFromTheFirstNewerTableOn) {
  const Case cases[] = {
      {{-100, -200, 300}, 50, "300 200 100 "},
      {{-100, -200, 300}, 100, "300 200 "},  // nothing above 100 in the first
      {{-100, -200, 300}, 150, "300 200 "},
      {{-100, -200, 300}, 200, "300 "},
      {{-100, -200, 300}, 999, "300 "},          // not in LMDB yet: always needed
      {{-200, -100, 300}, 150, "300 100 200 "},  // timestamps of tables need not rise
      {{-100, 200, 300}, 999, "300 200 "},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(Names(TablesForSnapshot(ListOf(each.tables), Timestamp{each.timestamp})),
              each.expected)
        << each.timestamp;
  }
}

}  // namespace
}  // namespace evenkeel::storage
