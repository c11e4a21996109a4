// What the groups of $jsonSchema keywords share: their table rows and helpers for operands.
#pragma once

#include <absl/status/status.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/status.h"
#include "query/match/schema.h"

namespace evenkeel::query::match {

// One use of a keyword. Views live only while the schema is parsed.
struct KeywordUse {
  std::string_view name;
  bson::Value operand;
  bson::View siblings;  // the schema that it stands in
};

struct SchemaKeyword {
  std::string_view name;
  absl::Status (*parse)(const KeywordUse& use, Schema& out);
};

// The groups; schema.cc looks through them.
std::span<const SchemaKeyword> ScalarKeywords();
std::span<const SchemaKeyword> ArrayKeywords();
std::span<const SchemaKeyword> ObjectKeywords();
std::span<const SchemaKeyword> LogicalKeywords();

// TypeMismatch that names the keyword.
absl::Status WrongType(const KeywordUse& use, std::string_view wanted);
// FailedToParse that names the keyword.
absl::Status Malformed(const KeywordUse& use, std::string_view why);

// An operand that is an object holding a schema.
absl::StatusOr<SharedSchema> ParseSubschema(const KeywordUse& use, bson::Value operand);
// A list of different strings. Errors: TypeMismatch; FailedToParse for an empty list or one that
// names a string twice.
absl::StatusOr<std::vector<std::string>> ParseNames(const KeywordUse& use, bson::Value operand);
// A bound on sizes: an integer that is not negative.
absl::StatusOr<int64_t> ParseCount(const KeywordUse& use);

// `value` with the fields of all objects in it sorted by name, so that objects with the same fields
// in another order become equal.
bson::OwnedValue SortFields(bson::Value value);

}  // namespace evenkeel::query::match
