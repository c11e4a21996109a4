// Regular expressions of queries: PCRE2 behind one small type.
//
// A pattern is compiled once (with PCRE2's just-in-time compiler where it exists) and may be used
// by several threads; each thread keeps its own scratch memory. Matching is bounded, so that a
// pattern cannot hold a thread: what passes the bound does not match. Source: "$regex" in the
// MongoDB manual; pcre2api.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/view.h"

namespace evenkeel::query::match {

class Regex {
 public:
  // Compiles a pattern with MongoDB's options: i, m, s, x, u.
  // Errors: 51108 for an unknown option, 51091 for a pattern that does not compile, 51109 for a
  // zero byte in either.
  static absl::StatusOr<Regex> Compile(std::string_view pattern, std::string_view options);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // True when the pattern is found anywhere in `text`.
  bool Matches(std::string_view text) const;
  // Strings and symbols are searched; a regular expression matches when it is the same. Other types
  // do not match.
  bool MatchesValue(bson::Value value) const;

  // Finds the pattern at or after `from`. `groups` gets offset pairs of the match and its groups,
  // -1 where one took no part.
  bool Search(std::string_view text, size_t from,
              std::vector<std::pair<int64_t, int64_t>>* groups) const;

  const std::string& pattern() const { return pattern_; }
  const std::string& options() const { return options_; }
  // The text that every match starts with: for "^abc" without options that change it; empty if
  // there is none.
  std::string LiteralPrefix() const;

 private:
  struct Code;
  Regex(std::string pattern, std::string options, std::unique_ptr<Code> code);
  std::string pattern_;
  std::string options_;
  std::unique_ptr<Code> code_;
};

}  // namespace evenkeel::query::match
