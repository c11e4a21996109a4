// Patterns: options, bounds of matching, literal prefixes.
#include "query/match/regex.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace evenkeel::query::match {
namespace {

TEST(Regex, LiteralPrefixes) {
  struct PrefixCase {
    std::string_view pattern;
    std::string_view options;
    std::string_view prefix;
  };
  constexpr PrefixCase kCases[] = {
      {"^abc", "", "abc"}, {"^abc.*", "", "abc"}, {"^ab?c", "", "a"},  {"^ab+c", "", "ab"},
      {"abc", "", ""},     {"^abc", "i", ""},     {"^a|b", "", ""},    {"^a{2}", "", ""},
      {"^", "", ""},       {"^ab$", "", "ab"},    {"^a\\.b", "", "a"}, {"^h\xc3\xa9*", "", "h"},
      {"^abc", "m", ""},   {"^abc", "s", "abc"},
  };
  for (const PrefixCase& test : kCases) {
    EXPECT_EQ(Regex::Compile(test.pattern, test.options)->LiteralPrefix(), test.prefix)
        << test.pattern;
  }
}

TEST(Regex, RefusesWhatItCannotCompile) {
  EXPECT_EQ(CodeOf(Regex::Compile("(", "").status()), Location(51091));
  EXPECT_EQ(CodeOf(Regex::Compile("a", "z").status()), Location(51108));
  EXPECT_EQ(CodeOf(Regex::Compile(std::string_view("a\0b", 3), "").status()), Location(51109));
}

TEST(Regex, AnExplodingPatternEnds) {
  const absl::StatusOr<Regex> regex = Regex::Compile("^(a+)+$", "");
  EXPECT_TRUE(regex->Matches("aaaa"));
  EXPECT_FALSE(regex->Matches(std::string(40, 'a') + "b"));
}

TEST(Regex, InvalidTextIsSearchedAroundTheFault) {
  EXPECT_TRUE(Regex::Compile("abc", "")->Matches("\xff abc"));
  EXPECT_FALSE(Regex::Compile("^abc", "")->Matches("\xff abc"));
}

TEST(Regex, SearchGivesGroups) {
  const absl::StatusOr<Regex> regex = Regex::Compile("(a)|(b)c", "");
  std::vector<std::pair<int64_t, int64_t>> groups;
  ASSERT_TRUE(regex->Search("xxbc", 0, &groups));
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0], (std::pair<int64_t, int64_t>(2, 4)));
  EXPECT_EQ(groups[1], (std::pair<int64_t, int64_t>(-1, -1)));
  EXPECT_EQ(groups[2], (std::pair<int64_t, int64_t>(2, 3)));
  EXPECT_FALSE(regex->Search("xxbc", 3, &groups));
}

}  // namespace
}  // namespace evenkeel::query::match
