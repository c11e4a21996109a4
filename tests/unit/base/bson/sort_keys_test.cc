// Strings become their sort keys wherever they are.
#include "base/bson/sort_keys.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/bson/builder.h"
#include "base/bson/json.h"

namespace evenkeel::bson {
namespace {

class Lower final : public StringComparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override {
    return SortKey(a).compare(SortKey(b));
  }
  std::string SortKey(std::string_view text) const override {
    std::string key(text);
    std::transform(key.begin(), key.end(), key.begin(),
                   [](char c) { return static_cast<char>(c | 0x20); });
    return key;
  }
};

TEST(SortKeys, ReplaceStringsEverywhere) {
  const struct {
    std::string_view value, expected;
  } cases[] = {
      {R"({"v": "Ab"})", R"({"v":"ab"})"},
      {R"({"v": 1})", R"({"v":1})"},
      {R"({"v": null})", R"({"v":null})"},
      {R"({"v": ["A", 2, ["B"]]})", R"({"v":["a",2,["b"]]})"},
      {R"({"v": {"X": "Y", "z": {"Q": ["R"]}}})", R"({"v":{"X":"y","z":{"Q":["r"]}}})"},
  };
  for (const auto& c : cases) {
    const Document document = *FromJson(c.value);
    Builder out;
    out.Append("v", WithSortKeys(document["v"], Lower()));
    EXPECT_EQ(ToJson(out.Finish()), c.expected) << c.value;
  }
}

}  // namespace
}  // namespace evenkeel::bson
