// $jsonSchema keywords that combine schemas: allOf anyOf not oneOf.
#include <algorithm>

#include "query/match/schema_keyword.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;

// A list of schemas, `holds` of whose matches make the keyword hold.
absl::Status ParseList(const KeywordUse& use, Schema& out,
                       bool (*holds)(size_t matches, size_t schemas)) {
  if (!use.operand.Is(Type::kArray)) return WrongType(use, "an array");
  std::vector<SharedSchema> schemas;
  for (const Element& element : use.operand.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(SharedSchema schema, ParseSubschema(use, element.value));
    schemas.push_back(std::move(schema));
  }
  if (schemas.empty()) {
    return Error(ErrorCode::kBadValue, "$jsonSchema keyword '{}' must be a non-empty array",
                 use.name);
  }
  out.Add(SchemaScope::kAny, [schemas = std::move(schemas), holds](Value value) {
    const auto matches =
        std::count_if(schemas.begin(), schemas.end(),
                      [&](const SharedSchema& schema) { return schema->Matches(value); });
    return holds(static_cast<size_t>(matches), schemas.size());
  });
  return absl::OkStatus();
}

absl::Status ParseAllOf(const KeywordUse& use, Schema& out) {
  return ParseList(use, out, [](size_t matches, size_t schemas) { return matches == schemas; });
}
absl::Status ParseAnyOf(const KeywordUse& use, Schema& out) {
  return ParseList(use, out, [](size_t matches, size_t) { return matches > 0; });
}
absl::Status ParseOneOf(const KeywordUse& use, Schema& out) {
  return ParseList(use, out, [](size_t matches, size_t) { return matches == 1; });
}

absl::Status ParseNot(const KeywordUse& use, Schema& out) {
  EVENKEEL_ASSIGN_OR_RETURN(SharedSchema schema, ParseSubschema(use, use.operand));
  out.Add(SchemaScope::kAny, [schema](Value value) { return !schema->Matches(value); });
  return absl::OkStatus();
}

constexpr SchemaKeyword kLogicalKeywords[] = {
    {"allOf", ParseAllOf},
    {"anyOf", ParseAnyOf},
    {"not", ParseNot},
    {"oneOf", ParseOneOf},
};

}  // namespace

std::span<const SchemaKeyword> LogicalKeywords() { return kLogicalKeywords; }

}  // namespace evenkeel::query::match
