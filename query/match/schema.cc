// Implements Schema: the table of keywords, evaluation, and the operands that groups share.
#include "query/match/schema.h"

#include <algorithm>
#include <array>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/match/schema_keyword.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

// Keywords of JSON Schema that MongoDB knows and refuses.
constexpr std::string_view kRefused[] = {"$ref",        "$schema", "default",
                                         "definitions", "format",  "id"};

const SchemaKeyword* FindKeyword(std::string_view name) {
  for (const auto& group :
       {ScalarKeywords(), ArrayKeywords(), ObjectKeywords(), LogicalKeywords()}) {
    for (const SchemaKeyword& row : group) {
      if (row.name == name) return &row;
    }
  }
  return nullptr;
}

bool IsAbout(SchemaScope scope, Value value) {
  switch (scope) {
    case SchemaScope::kAny:
      return true;
    case SchemaScope::kNumber:
      return value.IsNumber();
    case SchemaScope::kString:
      return value.Is(Type::kString);
    case SchemaScope::kArray:
      return value.Is(Type::kArray);
    case SchemaScope::kObject:
      return value.Is(Type::kObject);
  }
  return false;
}

void AppendSorted(bson::Builder& out, std::string_view key, Value value);

void AppendSortedFields(bson::Builder& out, View document, bool is_object) {
  std::vector<Element> fields;
  for (const Element& element : document) fields.push_back(element);
  if (is_object) {
    std::stable_sort(fields.begin(), fields.end(),
                     [](const Element& a, const Element& b) { return a.key < b.key; });
  }
  for (const Element& field : fields) AppendSorted(out, field.key, field.value);
}

void AppendSorted(bson::Builder& out, std::string_view key, Value value) {
  const bool is_object = value.Is(Type::kObject);
  if (!is_object && !value.Is(Type::kArray)) {
    out.Append(key, value);
    return;
  }
  is_object ? out.OpenDocument(key) : out.OpenArray(key);
  AppendSortedFields(out, value.AsDocument(), is_object);
  out.Close();
}

}  // namespace

absl::StatusOr<SchemaPtr> Schema::Parse(View schema) {
  auto out = std::make_unique<Schema>();
  for (const Element& element : schema) {
    if (const SchemaKeyword* keyword = FindKeyword(element.key)) {
      EVENKEEL_RETURN_IF_ERROR(keyword->parse({element.key, element.value, schema}, *out));
      continue;
    }
    if (std::find(std::begin(kRefused), std::end(kRefused), element.key) != std::end(kRefused)) {
      return Error(ErrorCode::kFailedToParse, "$jsonSchema keyword '{}' is not currently supported",
                   element.key);
    }
    return Error(ErrorCode::kFailedToParse, "Unknown $jsonSchema keyword: {}", element.key);
  }
  return SchemaPtr(std::move(out));
}

bool Schema::Matches(Value value) const {
  return std::all_of(checks_.begin(), checks_.end(), [&](const SchemaCheck& check) {
    return !IsAbout(check.scope, value) || check.holds(value);
  });
}

absl::Status WrongType(const KeywordUse& use, std::string_view wanted) {
  return Error(ErrorCode::kTypeMismatch, "$jsonSchema keyword '{}' must be {}, not {}", use.name,
               wanted, bson::ToDisplay(use.operand));
}

absl::Status Malformed(const KeywordUse& use, std::string_view why) {
  return Error(ErrorCode::kFailedToParse, "$jsonSchema keyword '{}' {}", use.name, why);
}

absl::StatusOr<SharedSchema> ParseSubschema(const KeywordUse& use, Value operand) {
  if (!operand.Is(Type::kObject)) return WrongType(use, "made of objects");
  EVENKEEL_ASSIGN_OR_RETURN(SchemaPtr schema, Schema::Parse(operand.AsDocument()));
  return SharedSchema(std::move(schema));
}

absl::StatusOr<std::vector<std::string>> ParseNames(const KeywordUse& use, Value operand) {
  if (!operand.Is(Type::kArray)) return WrongType(use, "an array of strings");
  std::vector<std::string> names;
  for (const Element& element : operand.AsDocument()) {
    if (!element.value.Is(Type::kString)) return WrongType(use, "an array of strings");
    std::string name(element.value.AsString());
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return Malformed(use, "array cannot contain duplicate values: " + name);
    }
    names.push_back(std::move(name));
  }
  if (names.empty()) return Malformed(use, "cannot be an empty array");
  return names;
}

absl::StatusOr<int64_t> ParseCount(const KeywordUse& use) {
  if (!use.operand.IsNumber()) return WrongType(use, "a number");
  const std::optional<int64_t> count = bson::ToInt64Exact(use.operand);
  if (!count || *count < 0) return Malformed(use, "must be a non-negative integer");
  return *count;
}

bson::OwnedValue SortFields(Value value) {
  bson::Builder out;
  AppendSorted(out, "", value);
  return bson::OwnedValue(out.Finish().view().Front().value);
}

}  // namespace evenkeel::query::match
