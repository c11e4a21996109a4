// Tests of string-keyed maps with std::string_view look-up.
#include "base/hash_map.h"

#include <gtest/gtest.h>

namespace evenkeel::base {
namespace {

TEST(StringMapTest, FindsByViewOfAnotherString) {
  StringMap<int> map;
  map["orders"] = 1;
  map["orders.items"] = 2;
  const std::string_view text = "orders.items and more";
  EXPECT_EQ(map.find(text.substr(0, 6))->second, 1);
  EXPECT_EQ(map.find(text.substr(0, 12))->second, 2);
  EXPECT_EQ(map.find(text), map.end());
  EXPECT_TRUE(map.contains(std::string_view("orders")));
}

TEST(StringSetTest, KeepsEmbeddedZeros) {
  StringSet set;
  set.insert(std::string("a\0b", 3));
  EXPECT_TRUE(set.contains(std::string_view("a\0b", 3)));
  EXPECT_FALSE(set.contains(std::string_view("a")));
}

}  // namespace
}  // namespace evenkeel::base
