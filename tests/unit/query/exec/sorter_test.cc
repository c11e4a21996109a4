// The sorter on disk gives what it gives in memory: all rows, and the first ones.
#include "query/exec/sorter.h"

#include "base/random.h"
#include "tests/unit/query/exec/rows.h"
#include "tests/unit/query/exec/spill.h"

namespace evenkeel::query {
namespace {

int ByValue(bson::View a, bson::View b) { return bson::Compare(a["v"], b["v"]); }

// Sorts `count` rows {n: order of arrival} by random keys of which many are equal.
std::string Sorted(const QueryContext& context, int count, std::optional<int64_t> limit,
                   bool* spilled) {
  Sorter sorter(context, "$sort", context.memory.sort, ByValue, limit);
  base::Random random(7);
  for (int i = 0; i < count; ++i) {
    const bson::Document key = expr::Wrap(std::to_string(random.Uniform(300)));
    bson::Builder row;
    row.Append("n", i);
    const absl::Status added = sorter.Add(key, Row::Own(row.Finish()));
    if (!added.ok()) return added.ToString();
  }
  EXPECT_TRUE(sorter.Finish().ok());
  std::vector<bson::Document> rows;
  KeyedRow next;
  while (*sorter.Next(&next)) rows.push_back(std::move(*next.row.owned));
  EXPECT_EQ(sorter.count(), static_cast<int64_t>(rows.size()));
  *spilled = sorter.has_spilled();
  return Json(rows);
}

TEST(Sorter, RunsOnDiskKeepTheOrder) {
  Spilling disk;
  const QueryContext memory;
  for (const auto limit : {std::optional<int64_t>(), std::optional<int64_t>(0),
                           std::optional<int64_t>(2500), std::optional<int64_t>(100'000)}) {
    bool in_memory = true, on_disk = false;
    const std::string expected = Sorted(memory, 5000, limit, &in_memory);
    EXPECT_EQ(Sorted(disk.context, 5000, limit, &on_disk), expected);
    EXPECT_FALSE(in_memory);
    EXPECT_EQ(on_disk, limit != 0) << limit.value_or(-1);
  }
  EXPECT_EQ(disk.folder->file_count(), 0);
}

// So many runs that they are merged in two steps.
TEST(Sorter, ManyRuns) {
  Spilling disk(1000);
  const QueryContext memory;
  bool spilled = false;
  const std::string expected = Sorted(memory, 2000, std::nullopt, &spilled);
  EXPECT_EQ(Sorted(disk.context, 2000, std::nullopt, &spilled), expected);
  EXPECT_TRUE(spilled);
}

TEST(Sorter, AFullDiskIsAnError) {
  Spilling disk;
  disk.folder->SetFreeBytesMin(INT64_MAX);
  bool spilled = false;
  EXPECT_NE(Sorted(disk.context, 5000, std::nullopt, &spilled).find("less than"),
            std::string::npos);
  EXPECT_EQ(disk.folder->file_count(), 0);
}

}  // namespace
}  // namespace evenkeel::query
