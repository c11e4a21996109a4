// Rows kept in memory or on disk, read more than once.
#include "query/exec/row_buffer.h"

#include "tests/unit/query/exec/rows.h"
#include "tests/unit/query/exec/spill.h"

namespace evenkeel::query {
namespace {

void ReadTwice(const QueryContext& context, int count, bool spills) {
  RowBuffer buffer(context, "$lookup", context.memory.lookup);
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(buffer.Append(Row::Own(expr::Wrap(std::to_string(i)))).ok());
  }
  ASSERT_TRUE(buffer.Finish().ok());
  EXPECT_EQ(buffer.has_spilled(), spills);
  EXPECT_EQ(buffer.size(), static_cast<size_t>(count));
  RowBuffer::Reader first(buffer), second(buffer);
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ((**first.Next())["v"].AsInt32(), i);
    EXPECT_EQ((**second.Next())["v"].AsInt32(), i);
  }
  EXPECT_FALSE(first.Next()->has_value());
}

TEST(RowBuffer, IsReadInOrderAsOftenAsWanted) {
  const QueryContext memory;
  ReadTwice(memory, 0, false);
  ReadTwice(memory, 1000, false);
  Spilling disk;
  ReadTwice(disk.context, 1000, true);
  EXPECT_EQ(disk.folder->file_count(), 0);
}

TEST(RowBuffer, WithoutDiskTheLimitHolds) {
  QueryContext context;
  context.memory = MemoryLimits::All(1000);
  RowBuffer buffer(context, "$lookup", context.memory.lookup);
  absl::Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) {
    status = buffer.Append(Row::Own(expr::Wrap(std::to_string(i))));
  }
  EXPECT_EQ(CodeOf(status), ErrorCode::kExceededMemoryLimit);
}

}  // namespace
}  // namespace evenkeel::query
