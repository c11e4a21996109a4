// The arena of computed values.
#include "query/expr/arena.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/document.h"
#include "base/bson/validate.h"

namespace evenkeel::query {
namespace {

TEST(EvalArena, AllocationsKeepTheirBytes) {
  EvalArena arena;
  std::vector<std::pair<bson::Value, std::string>> values;
  for (size_t i = 0; i < 2000; ++i) {
    std::string text(i % 97, static_cast<char>('a' + i % 26));
    values.emplace_back(arena.String(text), text);
  }
  for (const auto& [value, text] : values) EXPECT_EQ(value.AsString(), text);
  EXPECT_FALSE(arena.OverLimit());
}

TEST(EvalArena, ResetTakesBackLargeBlocks) {
  EvalArena arena;
  arena.Allocate(EvalArena::kBytesMax + 1);
  EXPECT_TRUE(arena.OverLimit());
  arena.Reset();
  EXPECT_FALSE(arena.OverLimit());
  EXPECT_EQ(arena.Int32(7).AsInt32(), 7);
}

TEST(ArenaBuilder, BuildsValidDocumentsAroundOtherAllocations) {
  EvalArena arena;
  ArenaBuilder array(arena, bson::Type::kArray);
  for (int i = 0; i < 300; ++i) {
    ArenaBuilder object(arena, bson::Type::kObject);
    object.Append("n", arena.Int32(i));
    object.Append("none", bson::Value());
    array.Add(object.Finish());
  }
  array.Add(bson::Value());
  const bson::Value value = array.Finish();
  ASSERT_TRUE(bson::Validate(value.Bytes()).ok());
  EXPECT_EQ(value.AsDocument().CountFields(), 301u);
  EXPECT_EQ(value.AsDocument()["299"].AsDocument()["n"].AsInt32(), 299);
  EXPECT_TRUE(value.AsDocument()["300"].Is(bson::Type::kNull));
}

}  // namespace
}  // namespace evenkeel::query
