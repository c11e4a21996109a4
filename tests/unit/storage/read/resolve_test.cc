// Which version a reader sees: the cases of DESIGN's rule, one by one.
#include "storage/read/resolve.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "storage/lmdb/doc_value.h"

namespace evenkeel::storage {
namespace {

// One table's node of the key "k": versions oldest first, "-" for a removal; hung: "" none, "-"
// absent.
struct TableCase {
  std::vector<std::pair<uint64_t, std::string>> versions;
  std::string hung;
};

struct Case {
  const char* name;
  std::vector<TableCase> oldest_first;
  uint64_t bound;
  std::string expected;  // "lmdb", "-" or the value
};

std::string Resolve(const Case& each) {
  std::vector<std::unique_ptr<MemTable>> tables;
  ReadTables newest_first;
  for (const TableCase& table_case : each.oldest_first) {
    tables.push_back(std::make_unique<MemTable>(LogIndex{1}));
    MemTable& table = *tables.back();
    SkipNode* node = nullptr;
    for (const auto& [stamp, value] : table_case.versions) {
      node = value == "-" ? table.Remove(Table::kDocs, "k", stamp)
                          : table.Put(Table::kDocs, "k", stamp, value);
    }
    if (table_case.hung == "-") table.HangAbsent(node);
    if (table_case.hung.size() > 1) table.HangOld(node, 1, table_case.hung);
    newest_first.insert(newest_first.begin(), &table);
  }
  const Resolved resolved = ResolveKey(newest_first, Table::kDocs, "k", each.bound);
  if (resolved.found == Found::kAskLmdb) return "lmdb";
  return resolved.found == Found::kRemoved ? "-" : std::string(resolved.record.value);
}

TEST(Resolve, FollowsTheRule) {
  const Case cases[] = {
      {"no table knows the key", {{}, {}}, 100, "lmdb"},
      {"the newest at or below the bound", {{{{10, "a"}, {20, "b"}, {30, "c"}}, ""}}, 29, "b"},
      {"at the bound", {{{{10, "a"}, {20, "b"}}, ""}}, 20, "b"},
      {"a removal is a version", {{{{10, "a"}, {20, "-"}}, ""}}, 25, "-"},
      {"newer tables first", {{{{10, "a"}}, ""}, {{{20, "b"}}, ""}}, 50, "b"},
      {"a newer table without a version that old", {{{{10, "a"}}, ""}, {{{20, "b"}}, ""}}, 15, "a"},
      {"nothing that old, nothing hung: LMDB still has it", {{{{100, "a"}}, ""}}, 50, "lmdb"},
      {"nothing that old, a value hung", {{{{100, "a"}}, "old"}}, 50, "old"},
      {"nothing that old, absent hung", {{{{100, "a"}}, "-"}}, 50, "-"},
      {"the oldest hung value counts",
       {{{{100, "a"}}, "before a"}, {{{200, "b"}}, "a"}},
       50,
       "before a"},
      {"a version beats what is hung", {{{{100, "a"}}, "before a"}, {{{200, "b"}}, "a"}}, 150, "a"},
      {"only the newer table hung", {{{{100, "a"}}, ""}, {{{200, "b"}}, "-"}}, 50, "-"},
  };
  for (const Case& each : cases) EXPECT_EQ(Resolve(each), each.expected) << each.name;
}

TEST(Resolve, ANodeWhoseVersionsWereTakenBackCountsForNothing) {
  MemTable table(LogIndex{1});
  MemTable::TakeBack(table.Put(Table::kDocs, "k", 5, "never"));
  EXPECT_EQ(ResolveKey({&table}, Table::kDocs, "k", 100).found, Found::kAskLmdb);
}

TEST(Resolve, RecordsOfLmdb) {
  const auto head = DocHead(Timestamp{9}, "document");
  const std::string stored = std::string(head.data(), head.size()) + "document";
  EXPECT_EQ(RecordOfLmdb(Table::kDocs, stored).value, "document");
  EXPECT_EQ(RecordOfLmdb(Table::kDocs, stored).commit_timestamp, Timestamp{9});
  EXPECT_EQ(RecordOfLmdb(Table::kIndex, "bits").value, "bits");
  EXPECT_EQ(RecordOfLmdb(Table::kIndex, "bits").commit_timestamp, Timestamp{});
}

}  // namespace
}  // namespace evenkeel::storage
