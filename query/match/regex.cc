// Implements regular expressions on PCRE2: the only place that includes it.
#include "query/match/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "base/status.h"

namespace evenkeel::query::match {
namespace {

// Steps of one search; PCRE2 counts them. Ordinary patterns over 16 MB of text stay far below.
constexpr uint32_t kMatchSteps = 10'000'000;
constexpr uint32_t kHeapKibibytesMax = 64 * 1024;
constexpr uint32_t kNestingMax = 250;
constexpr size_t kGroupsMax = 128;

// One per thread: memory that matching needs.
struct Scratch {
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_match_data* data = pcre2_match_data_create(kGroupsMax, nullptr);

  Scratch() {
    pcre2_set_match_limit(context, kMatchSteps);
    pcre2_set_heap_limit(context, kHeapKibibytesMax);
  }
  ~Scratch() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

Scratch& ThreadScratch() {
  thread_local Scratch scratch;
  return scratch;
}

absl::StatusOr<uint32_t> CompileOptions(std::string_view options) {
  // Strings are UTF-8; invalid sequences in them are searched without matching across.
  uint32_t flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
  for (const char option : options) {
    switch (option) {
      case 'i':
        flags |= PCRE2_CASELESS;
        break;
      case 'm':
        flags |= PCRE2_MULTILINE;
        break;
      case 's':
        flags |= PCRE2_DOTALL;
        break;
      case 'x':
        flags |= PCRE2_EXTENDED;
        break;
      case 'u':
        break;
      default:
        return Error(Location(51108), "invalid flag in regex options: {}",
                     std::string_view(&option, 1));
    }
  }
  return flags;
}

bool IsMetaCharacter(char c) {
  return std::string_view("\\^$.[]|()?*+{}").find(c) != std::string_view::npos;
}

}  // namespace

struct Regex::Code {
  explicit Code(pcre2_code* compiled) : code(compiled) {}
  ~Code() { pcre2_code_free(code); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  pcre2_code* code;
};

Regex::Regex(std::string pattern, std::string options, std::unique_ptr<Code> code)
    : pattern_(std::move(pattern)), options_(std::move(options)), code_(std::move(code)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

absl::StatusOr<Regex> Regex::Compile(std::string_view pattern, std::string_view options) {
  if (pattern.find('\0') != pattern.npos || options.find('\0') != options.npos) {
    return Error(Location(51109), "Regular expression cannot contain an embedded null byte");
  }
  EVENKEEL_ASSIGN_OR_RETURN(const uint32_t flags, CompileOptions(options));
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  pcre2_set_parens_nest_limit(context, kNestingMax);
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   flags, &error, &offset, context);
  pcre2_compile_context_free(context);
  if (!code) {
    PCRE2_UCHAR message[256];
    pcre2_get_error_message(error, message, sizeof(message));
    return Error(Location(51091), "Regular expression is invalid: {}",
                 reinterpret_cast<const char*>(message));
  }
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where it fails, the interpreter is used
  return Regex(std::string(pattern), std::string(options), std::make_unique<Code>(code));
}

bool Regex::Matches(std::string_view text) const {
  const Scratch& scratch = ThreadScratch();
  return pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                     scratch.data, scratch.context) >= 0;
}

bool Regex::MatchesValue(bson::Value value) const {
  switch (value.type()) {
    case bson::Type::kString:
    case bson::Type::kSymbol:
      return Matches(value.AsString());
    case bson::Type::kRegex: {
      const bson::RegexView other = value.AsRegex();
      return other.pattern == pattern_ && other.options == options_;
    }
    default:
      return false;
  }
}

bool Regex::Search(std::string_view text, size_t from,
                   std::vector<std::pair<int64_t, int64_t>>* groups) const {
  const Scratch& scratch = ThreadScratch();
  const int count = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                from, 0, scratch.data, scratch.context);
  if (count < 0) return false;
  uint32_t captures = 0;
  pcre2_pattern_info(code_->code, PCRE2_INFO_CAPTURECOUNT, &captures);
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(scratch.data);
  groups->clear();
  for (uint32_t i = 0; i <= captures; ++i) {
    const bool took_part = i < static_cast<uint32_t>(count) && offsets[2 * i] != PCRE2_UNSET;
    groups->push_back(took_part ? std::pair<int64_t, int64_t>(offsets[2 * i], offsets[2 * i + 1])
                                : std::pair<int64_t, int64_t>(-1, -1));
  }
  return true;
}

std::string Regex::LiteralPrefix() const {
  if (!options_.empty() && options_ != "u" && options_ != "s") return {};
  if (pattern_.empty() || pattern_[0] != '^' || pattern_.find('|') != pattern_.npos) return {};
  std::string prefix;
  size_t i = 1;
  for (; i < pattern_.size() && !IsMetaCharacter(pattern_[i]); ++i) prefix += pattern_[i];
  // A quantifier that allows none makes the last character optional; that of UTF-8 may have several
  // bytes.
  if (i < pattern_.size() && std::string_view("?*{").find(pattern_[i]) != std::string_view::npos) {
    while (!prefix.empty() && (static_cast<uint8_t>(prefix.back()) & 0xC0) == 0x80)
      prefix.pop_back();
    if (!prefix.empty()) prefix.pop_back();
  }
  return prefix;
}

}  // namespace evenkeel::query::match
