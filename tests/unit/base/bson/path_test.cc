// Tests of dotted paths.
#include "base/bson/path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/json.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

std::vector<std::string> PartsOf(const Path& path) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < path.size(); ++i) parts.emplace_back(path.part(i));
  return parts;
}

TEST(PathTest, SplitsAtDots) {
  struct Case {
    const char* dotted;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {"a", {"a"}},    {"a.b.0.c", {"a", "b", "0", "c"}},
      {"", {""}},      {"a..b", {"a", "", "b"}},
      {".", {"", ""}}, {"a.", {"a", ""}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(PartsOf(Path(c.dotted)), c.parts) << c.dotted;
    EXPECT_EQ(Path(c.dotted).dotted(), c.dotted);
  }
}

TEST(PathTest, CopiesKeepTheirParts) {
  Path copy;
  {
    const Path path("first.second.third.and.more");
    copy = path;
  }
  EXPECT_EQ(copy.part(4), "more");
}

TEST(PathTest, PlainLookUp) {
  const Document document =
      Json(R"({"a": {"b": {"c": 1}, "": 4}, "l": [{"x": 2}], "n": null, "a.b": 9, "s": "t"})");
  struct Case {
    const char* path;
    const char* shown;  // ToDisplay of what is found
  };
  const Case cases[] = {
      {"a.b.c", "1"},     {"a.b", "{ c: 1 }"},   {"a.b.c.d", "missing"},
      {"a.x", "missing"}, {"l", "[ { x: 2 } ]"}, {"l.x", "missing"},
      {"l.0", "missing"}, {"n", "null"},         {"n.x", "missing"},
      {"s.t", "missing"}, {"a.", "4"},           {"", "missing"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ToDisplay(LookupPlain(document, Path(c.path))), c.shown) << c.path;
  }
  EXPECT_TRUE(LookupPlain(document, Path()).missing());
}

TEST(PathTest, ArrayIndexes) {
  for (const char* part : {"0", "1", "10", "4294967296"}) EXPECT_TRUE(IsArrayIndex(part)) << part;
  for (const char* part : {"", "00", "01", "-1", "+1", "1a", "a", "1.", " 1"}) {
    EXPECT_FALSE(IsArrayIndex(part)) << part;
  }
}

}  // namespace
}  // namespace evenkeel::bson
