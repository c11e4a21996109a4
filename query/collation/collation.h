// Collations: the rules of a language for comparing strings, by ICU.
//
// A collation is made once per process and set of rules and kept for good, so that contexts, plans
// and cursors may point to it. Immutable, used by any thread. Source: "Collation" in the MongoDB
// manual; ICU's "Collation" guide.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/bson/compare.h"
#include "base/bson/document.h"

namespace evenkeel::query {

class Collation final : public bson::StringComparator {
 public:
  // The collation of a command's or collection's document {locale, strength, …}; null when strings
  // compare by bytes: for {} and {locale: "simple"}. The same rules give the same object.
  //
  // Errors: 40414 without locale; 40415 for unknown fields; TypeMismatch; BadValue for unknown
  // locales, values out of range and fields that contradict each other;
  // IncompatibleCollationVersion.
  // Limits: kCollationsMax different ones in a process, else ExceededMemoryLimit.
  static absl::StatusOr<const Collation*> Get(bson::View spec);
  // What a command uses: its own collation, else the one of its collection.
  static absl::StatusOr<const Collation*> ForCommand(bson::View command, bson::View collection) {
    return Get(command.empty() ? collection : command);
  }

  ~Collation() override;
  int Compare(std::string_view a, std::string_view b) const override;
  std::string SortKey(std::string_view text) const override;
  // All fields with their values, as listCollections shows them.
  const bson::Document& spec() const { return spec_; }

 private:
  struct Rules;
  struct Collator;
  Collation(std::unique_ptr<Collator> collator, bson::Document spec);
  static absl::StatusOr<Rules> Parse(bson::View spec);
  static absl::StatusOr<std::unique_ptr<Collation>> Open(const Rules& rules);

  std::unique_ptr<Collator> collator_;
  bson::Document spec_;
};

inline constexpr size_t kCollationsMax = 4096;

// The document of a collection's or view's options; empty when it has none.
bson::View CollationOption(bson::View options);

}  // namespace evenkeel::query
