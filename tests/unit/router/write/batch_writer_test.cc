// What may be written, and statement ids.
#include "router/write/batch_writer.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/unit/router/fake_shard.h"

namespace evenkeel::router::write {
namespace {

struct WritableCase {
  std::string_view ns;
  bool writable;
};

TEST(CheckWritableTest, OnlyPartsOfConfigAreClosed) {
  const WritableCase cases[] = {
      {"db.chunks", true},         {"config.settings", true}, {"config.collections", true},
      {"config.tags", true},       {"config.chunks", false},  {"config.catalog", false},
      {"config.databases", false}, {"config.shards", false},  {"config.invented", false},
  };
  for (const WritableCase& c : cases) EXPECT_EQ(CheckWritable(c.ns).ok(), c.writable) << c.ns;
}

TEST(StatementIdsTest, ComeFromEitherField) {
  const bson::Document given = Json(R"({"one": 7, "list": [3, 5], "bad": ["x"]})");
  EXPECT_EQ(*StatementIds({}, {}, 2), std::vector<int32_t>{});
  EXPECT_EQ(*StatementIds(given["one"], {}, 2), (std::vector<int32_t>{7, 8}));
  EXPECT_EQ(*StatementIds({}, given["list"], 2), (std::vector<int32_t>{3, 5}));
  EXPECT_EQ(CodeOf(StatementIds({}, given["list"], 3).status()), ErrorCode::kInvalidLength);
  EXPECT_EQ(CodeOf(StatementIds(given["one"], given["list"], 2).status()),
            ErrorCode::kInvalidOptions);
  EXPECT_EQ(CodeOf(StatementIds({}, given["bad"], 1).status()), ErrorCode::kTypeMismatch);
}

}  // namespace
}  // namespace evenkeel::router::write
