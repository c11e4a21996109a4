// Implements Collation: reads its document, opens ICU's collator, keeps it.
#include "query/collation/collation.h"

#include <absl/container/flat_hash_map.h>
#include <absl/synchronization/mutex.h>
#include <unicode/ucol.h>
#include <unicode/uiter.h>
#include <unicode/uloc.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/status.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

// The only version of the rules that clients may ask for: the one that MongoDB's collations carry.
constexpr std::string_view kVersion = "57.1";
constexpr std::string_view kSimple = "simple";

// A word of a collation's document and ICU's value for it.
struct Word {
  std::string_view name;
  int value;
};

constexpr Word kCaseFirst[] = {
    {"lower", UCOL_LOWER_FIRST}, {"off", UCOL_OFF}, {"upper", UCOL_UPPER_FIRST}};
constexpr Word kAlternate[] = {{"non-ignorable", UCOL_NON_IGNORABLE}, {"shifted", UCOL_SHIFTED}};
constexpr Word kMaxVariable[] = {{"punct", UCOL_REORDER_CODE_PUNCTUATION},
                                 {"space", UCOL_REORDER_CODE_SPACE}};
constexpr int kStrengths[] = {UCOL_PRIMARY, UCOL_SECONDARY, UCOL_TERTIARY, UCOL_QUATERNARY,
                              UCOL_IDENTICAL};

absl::StatusOr<int> FindWord(std::span<const Word> words, std::string_view field,
                             std::string_view name) {
  for (const Word& word : words) {
    if (word.name == name) return word.value;
  }
  return Error(ErrorCode::kBadValue,
               "Enumeration value '{}' for field 'collation.{}' is not a valid value.", name,
               field);
}

std::string_view NameOf(std::span<const Word> words, int value) {
  for (const Word& word : words) {
    if (word.value == value) return word.name;
  }
  return "off";
}

absl::Status Invalid(std::string_view why, bson::View spec) {
  return Error(ErrorCode::kBadValue, "{}: {}", why, bson::ToJson(spec));
}

}  // namespace

// The fields as they were given.
struct Collation::Rules {
  bson::View source;
  std::string_view locale;
  std::optional<bool> case_level, numeric_ordering, normalization, backwards;
  std::optional<int64_t> strength;
  std::optional<std::string_view> case_first, alternate, max_variable, version;
};

struct Collation::Collator {
  explicit Collator(UCollator* opened) : icu(opened) {}
  ~Collator() { ucol_close(icu); }
  Collator(const Collator&) = delete;
  Collator& operator=(const Collator&) = delete;

  int Get(UColAttribute attribute) const {
    UErrorCode status = U_ZERO_ERROR;
    return ucol_getAttribute(icu, attribute, &status);
  }
  bool IsOn(UColAttribute attribute) const { return Get(attribute) == UCOL_ON; }
  void Set(UColAttribute attribute, int value, UErrorCode* status) {
    ucol_setAttribute(icu, attribute, static_cast<UColAttributeValue>(value), status);
  }
  void SetIf(UColAttribute attribute, std::optional<bool> value, UErrorCode* status) {
    if (value) Set(attribute, *value ? UCOL_ON : UCOL_OFF, status);
  }

  UCollator* const icu;
};

absl::StatusOr<Collation::Rules> Collation::Parse(bson::View spec) {
  static constexpr FieldRule kRules[] = {
      {"locale", fields::String<&Rules::locale>, true},
      {"caseLevel", fields::Bool<&Rules::case_level>},
      {"caseFirst", fields::String<&Rules::case_first>},
      {"strength", fields::Integer<&Rules::strength>},
      {"numericOrdering", fields::Bool<&Rules::numeric_ordering>},
      {"alternate", fields::String<&Rules::alternate>},
      {"maxVariable", fields::String<&Rules::max_variable>},
      {"normalization", fields::Bool<&Rules::normalization>},
      {"backwards", fields::Bool<&Rules::backwards>},
      {"version", fields::String<&Rules::version>},
  };
  Rules rules;
  rules.source = spec;
  EVENKEEL_RETURN_IF_ERROR(ReadFields(spec, "collation", FieldScope::kStruct, kRules, &rules));
  if (rules.strength && (*rules.strength < 1 || *rules.strength > 5)) {
    return Error(ErrorCode::kBadValue,
                 "Enumeration value '{}' for field 'collation.strength' is not a valid value.",
                 *rules.strength);
  }
  if (rules.version && *rules.version != kVersion) {
    return Error(ErrorCode::kIncompatibleCollationVersion,
                 "Requested collation version {} but the only available collator version was {}",
                 *rules.version, kVersion);
  }
  return rules;
}

namespace {

// A locale whose language ICU has no rules for would silently get the root's.
bool IsKnownLocale(const UCollator* collator, const std::string& locale) {
  UErrorCode status = U_ZERO_ERROR;
  const char* valid = ucol_getLocaleByType(collator, ULOC_VALID_LOCALE, &status);
  if (U_FAILURE(status) || valid == nullptr) return false;
  char wanted[ULOC_LANG_CAPACITY], found[ULOC_LANG_CAPACITY];
  UErrorCode first = U_ZERO_ERROR, second = U_ZERO_ERROR;
  uloc_getLanguage(locale.c_str(), wanted, sizeof(wanted), &first);
  uloc_getLanguage(valid, found, sizeof(found), &second);
  return U_SUCCESS(first) && U_SUCCESS(second) && wanted[0] != '\0' &&
         std::string_view(wanted) == found;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Collation>> Collation::Open(const Rules& rules) {
  const std::string locale(rules.locale);
  UErrorCode status = U_ZERO_ERROR;
  auto collator = std::make_unique<Collator>(ucol_open(locale.c_str(), &status));
  if (U_FAILURE(status) || !IsKnownLocale(collator->icu, locale)) {
    return Invalid("Field 'locale' is invalid in", rules.source);
  }
  status = U_ZERO_ERROR;
  collator->SetIf(UCOL_CASE_LEVEL, rules.case_level, &status);
  collator->SetIf(UCOL_NUMERIC_COLLATION, rules.numeric_ordering, &status);
  collator->SetIf(UCOL_NORMALIZATION_MODE, rules.normalization, &status);
  collator->SetIf(UCOL_FRENCH_COLLATION, rules.backwards, &status);
  if (rules.strength) {
    collator->Set(UCOL_STRENGTH, kStrengths[*rules.strength - 1], &status);
  }
  if (rules.case_first) {
    EVENKEEL_ASSIGN_OR_RETURN(const int value,
                              FindWord(kCaseFirst, "caseFirst", *rules.case_first));
    collator->Set(UCOL_CASE_FIRST, value, &status);
  }
  if (rules.alternate) {
    EVENKEEL_ASSIGN_OR_RETURN(const int value, FindWord(kAlternate, "alternate", *rules.alternate));
    collator->Set(UCOL_ALTERNATE_HANDLING, value, &status);
  }
  if (rules.max_variable) {
    EVENKEEL_ASSIGN_OR_RETURN(const int value,
                              FindWord(kMaxVariable, "maxVariable", *rules.max_variable));
    ucol_setMaxVariable(collator->icu, static_cast<UColReorderCode>(value), &status);
  }
  if (U_FAILURE(status)) return Invalid("the collation is not possible", rules.source);

  int64_t strength = 1;
  while (kStrengths[strength - 1] != collator->Get(UCOL_STRENGTH) && strength < 5) ++strength;
  const int case_first = collator->Get(UCOL_CASE_FIRST);
  if (case_first != UCOL_OFF && strength < 3 && !collator->IsOn(UCOL_CASE_LEVEL)) {
    return Invalid(
        "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2",
        rules.source);
  }
  if (collator->IsOn(UCOL_FRENCH_COLLATION) && strength == 1) {
    return Invalid("'backwards' is invalid with 'strength' of 1", rules.source);
  }
  bson::Builder spec;
  spec.Append("locale", rules.locale)
      .Append("caseLevel", collator->IsOn(UCOL_CASE_LEVEL))
      .Append("caseFirst", NameOf(kCaseFirst, case_first))
      .Append("strength", static_cast<int32_t>(strength))
      .Append("numericOrdering", collator->IsOn(UCOL_NUMERIC_COLLATION))
      .Append("alternate", NameOf(kAlternate, collator->Get(UCOL_ALTERNATE_HANDLING)))
      .Append("maxVariable", NameOf(kMaxVariable, ucol_getMaxVariable(collator->icu)))
      .Append("normalization", collator->IsOn(UCOL_NORMALIZATION_MODE))
      .Append("backwards", collator->IsOn(UCOL_FRENCH_COLLATION))
      .Append("version", kVersion);
  return std::unique_ptr<Collation>(new Collation(std::move(collator), spec.Finish()));
}

absl::StatusOr<const Collation*> Collation::Get(bson::View spec) {
  if (spec.empty()) return nullptr;
  // By the document as it was written, so that the common case is one look-up.
  static absl::Mutex mutex(absl::kConstInit);
  static auto* const known =
      new absl::flat_hash_map<std::string, std::shared_ptr<const Collation>>();
  const std::string key(spec.Bytes());
  {
    absl::ReaderMutexLock lock(&mutex);
    const auto at = known->find(key);
    if (at != known->end()) return at->second.get();
  }
  EVENKEEL_ASSIGN_OR_RETURN(const Rules rules, Parse(spec));
  if (rules.locale == kSimple) return nullptr;
  EVENKEEL_ASSIGN_OR_RETURN(std::shared_ptr<const Collation> opened, Open(rules));
  absl::WriterMutexLock lock(&mutex);
  // The same rules written in full: one collation for both, so that pointers tell them apart.
  const std::string whole(opened->spec().view().Bytes());
  if (const auto at = known->find(whole); at != known->end()) opened = at->second;
  if (known->size() >= kCollationsMax) {
    return Error(ErrorCode::kExceededMemoryLimit, "more than {} different collations are in use",
                 kCollationsMax);
  }
  known->emplace(whole, opened);
  return known->emplace(key, std::move(opened)).first->second.get();
}

Collation::Collation(std::unique_ptr<Collator> collator, bson::Document spec)
    : collator_(std::move(collator)), spec_(std::move(spec)) {}
Collation::~Collation() = default;

int Collation::Compare(std::string_view a, std::string_view b) const {
  UErrorCode status = U_ZERO_ERROR;
  return ucol_strcollUTF8(collator_->icu, a.data(), static_cast<int32_t>(a.size()), b.data(),
                          static_cast<int32_t>(b.size()), &status);
}

std::string Collation::SortKey(std::string_view text) const {
  UCharIterator iterator;
  uiter_setUTF8(&iterator, text.data(), static_cast<int32_t>(text.size()));
  uint32_t state[2] = {0, 0};
  std::string key;
  uint8_t part[256];
  for (;;) {
    UErrorCode status = U_ZERO_ERROR;
    const int32_t count =
        ucol_nextSortKeyPart(collator_->icu, &iterator, state, part, sizeof(part), &status);
    if (U_FAILURE(status)) break;
    key.append(reinterpret_cast<const char*>(part), static_cast<size_t>(count));
    if (count < static_cast<int32_t>(sizeof(part))) break;
  }
  return key;
}

bson::View CollationOption(bson::View options) {
  const bson::Value collation = options["collation"];
  return collation.Is(bson::Type::kObject) ? collation.AsDocument() : bson::View();
}

}  // namespace evenkeel::query
