// Tests of the table of open cursors.
#include "shard/command/cursor_table.h"

#include <gtest/gtest.h>

#include <set>

#include "base/status.h"

namespace evenkeel::shard {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);

// The table does not look into cursors; one that is checked out is told from one that is in by its
// slot, so any non-null pointer would do. Null stands for "in use", so tests go by ids.
TEST(CursorTable, UnknownCursors) {
  CursorTable table;
  EXPECT_EQ(CodeOf(table.CheckOut(CursorId{5}).status()), ErrorCode::kCursorNotFound);
  EXPECT_FALSE(table.Kill(CursorId{5}));
  table.Remove(CursorId{5});
  table.CheckIn(CursorId{5}, nullptr, kStart);
  EXPECT_EQ(table.size(), 0u);
}

TEST(CursorTable, OneThatIsInUse) {
  CursorTable table;
  // Added without a cursor it looks like one that is checked out.
  const auto id = table.Add(nullptr, kStart);
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(CodeOf(table.CheckOut(*id).status()), ErrorCode::kCursorInUse);
  EXPECT_EQ(table.KillIdle(kStart + absl::Hours(1)), 0u);  // never one that is in use
  EXPECT_TRUE(table.Kill(*id));
  EXPECT_FALSE(table.Kill(*id));
  EXPECT_EQ(CodeOf(table.CheckOut(*id).status()), ErrorCode::kCursorNotFound);
  EXPECT_EQ(table.size(), 1u);  // until its command brings it back
  table.CheckIn(*id, nullptr, kStart);
  EXPECT_EQ(table.size(), 0u);
}

TEST(CursorTable, IdsAreUnguessableAndBounded) {
  CursorTable table;
  std::set<int64_t> ids;
  for (size_t i = 0; i < limits::kCursorsMax; ++i) {
    const auto id = table.Add(nullptr, kStart);
    ASSERT_TRUE(id.ok());
    EXPECT_GT(id->value, 0);
    ids.insert(id->value);
  }
  EXPECT_EQ(ids.size(), limits::kCursorsMax);
  EXPECT_EQ(CodeOf(table.Add(nullptr, kStart).status()), ErrorCode::kExceededMemoryLimit);
  table.Remove(CursorId{*ids.begin()});
  EXPECT_TRUE(table.Add(nullptr, kStart).ok());
}

}  // namespace
}  // namespace evenkeel::shard
