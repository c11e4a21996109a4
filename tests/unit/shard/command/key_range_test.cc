// min and max: which documents they let through, and what is refused.
#include "shard/command/key_range.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/bson/json.h"
#include "base/status.h"

namespace evenkeel::shard {
namespace {

bson::Document Json(std::string_view json) { return *bson::FromJson(json); }

catalog::CollectionEntry EntryWithIndex(std::string_view key) {
  catalog::CollectionEntry entry;
  const bson::Document spec = Json(R"({"v": 2, "key": )" + std::string(key) + R"(, "name": "i"})");
  entry.indexes.push_back(*catalog::IndexEntry::FromSpec(IndexId{1}, spec));
  return entry;
}

struct Case {
  std::string_view key, min, max, document;
  bool inside;
};

constexpr Case kCases[] = {
    {R"({"a": 1})", R"({"a": 2})", "{}", R"({"a": 2})", true},
    {R"({"a": 1})", R"({"a": 2})", "{}", R"({"a": 1.9})", false},
    {R"({"a": 1})", "{}", R"({"a": 2})", R"({"a": 2})", false},
    {R"({"a": 1})", "{}", R"({"a": 2})", "{}", true},
    {R"({"a": 1})", R"({"a": 2})", R"({"a": 4})", R"({"a": [1, 3]})", true},
    {R"({"a": 1})", R"({"a": 2})", R"({"a": 4})", R"({"a": [1, 5]})", false},
    {R"({"a": -1})", R"({"a": 4})", R"({"a": 2})", R"({"a": 3})", true},
    {R"({"a": 1, "b": -1})", R"({"a": 1, "b": 5})", "{}", R"({"a": 1, "b": 6})", false},
    {R"({"a": 1, "b": -1})", R"({"a": 1, "b": 5})", "{}", R"({"a": 1, "b": 4})", true},
};

TEST(KeyRange, LetsThrough) {
  for (const Case& test : kCases) {
    const catalog::CollectionEntry entry = EntryWithIndex(test.key);
    const bson::Document hint = Json(R"({"hint": "i"})"), min = Json(test.min),
                         max = Json(test.max);
    const auto range = KeyRange::Parse(entry, hint["hint"], min, max);
    ASSERT_TRUE(range.ok()) << range.status();
    EXPECT_EQ(range->Contains(Json(test.document)), test.inside)
        << test.key << test.min << test.max << test.document;
  }
}

TEST(KeyRange, Errors) {
  const catalog::CollectionEntry entry = EntryWithIndex(R"({"a": 1})");
  const bson::Document hints = Json(R"({"right": {"a": 1}, "wrong": "j"})");
  const auto code = [&](bson::Value hint, std::string_view min, std::string_view max) {
    return static_cast<int>(CodeOf(KeyRange::Parse(entry, hint, Json(min), Json(max)).status()));
  };
  EXPECT_EQ(code({}, R"({"a": 1})", "{}"), 51173);
  EXPECT_EQ(code(hints["wrong"], R"({"a": 1})", "{}"), 2);
  EXPECT_EQ(code(hints["right"], R"({"b": 1})", "{}"), 51174);
  EXPECT_EQ(code(hints["right"], R"({"a": 1, "b": 1})", "{}"), 51174);
  EXPECT_EQ(code(hints["right"], R"({"a": 2})", R"({"a": 2})"), 51175);
}

}  // namespace
}  // namespace evenkeel::shard
