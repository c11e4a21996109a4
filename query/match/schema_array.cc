// $jsonSchema keywords about arrays: additionalItems items maxItems minItems uniqueItems.
#include <algorithm>

#include "base/bson/compare.h"
#include "query/match/schema_keyword.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

int64_t CountItems(Value array) { return static_cast<int64_t>(array.AsDocument().CountFields()); }

absl::Status ParseMinItems(const KeywordUse& use, Schema& out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t bound, ParseCount(use));
  out.Add(SchemaScope::kArray, [bound](Value array) { return CountItems(array) >= bound; });
  return absl::OkStatus();
}

absl::Status ParseMaxItems(const KeywordUse& use, Schema& out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t bound, ParseCount(use));
  out.Add(SchemaScope::kArray, [bound](Value array) { return CountItems(array) <= bound; });
  return absl::OkStatus();
}

bool ItemsAreUnique(Value array) {
  std::vector<bson::OwnedValue> items;
  for (const Element& element : array.AsDocument()) items.push_back(SortFields(element.value));
  std::sort(items.begin(), items.end(), [](Value a, Value b) { return bson::Compare(a, b) < 0; });
  return std::adjacent_find(items.begin(), items.end(), [](Value a, Value b) {
           return bson::Compare(a, b) == 0;
         }) == items.end();
}

absl::Status ParseUniqueItems(const KeywordUse& use, Schema& out) {
  if (!use.operand.Is(Type::kBool)) return WrongType(use, "a boolean");
  if (use.operand.AsBool()) out.Add(SchemaScope::kArray, ItemsAreUnique);
  return absl::OkStatus();
}

// Every item from position `first` on matches `schema`.
bool RestMatches(Value array, size_t first, const Schema& schema) {
  size_t at = 0;
  for (const Element& element : array.AsDocument()) {
    if (at++ >= first && !schema.Matches(element.value)) return false;
  }
  return true;
}

absl::Status ParseItems(const KeywordUse& use, Schema& out) {
  if (use.operand.Is(Type::kObject)) {
    EVENKEEL_ASSIGN_OR_RETURN(SharedSchema schema, ParseSubschema(use, use.operand));
    out.Add(SchemaScope::kArray, [schema](Value array) { return RestMatches(array, 0, *schema); });
    return absl::OkStatus();
  }
  if (!use.operand.Is(Type::kArray)) return WrongType(use, "an array or an object");
  std::vector<SharedSchema> schemas;
  for (const Element& element : use.operand.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(SharedSchema schema, ParseSubschema(use, element.value));
    schemas.push_back(std::move(schema));
  }
  out.Add(SchemaScope::kArray, [schemas = std::move(schemas)](Value array) {
    size_t at = 0;
    for (const Element& element : array.AsDocument()) {
      if (at == schemas.size()) break;
      if (!schemas[at++]->Matches(element.value)) return false;
    }
    return true;
  });
  return absl::OkStatus();
}

// Says something only beside a list of schemas in `items`.
absl::Status ParseAdditionalItems(const KeywordUse& use, Schema& out) {
  const Value items = use.siblings["items"];
  const size_t first = items.Is(Type::kArray) ? items.AsDocument().CountFields() : SIZE_MAX;
  if (use.operand.Is(Type::kBool)) {
    if (!use.operand.AsBool() && first != SIZE_MAX) {
      out.Add(SchemaScope::kArray,
              [first](Value array) { return array.AsDocument().CountFields() <= first; });
    }
    return absl::OkStatus();
  }
  if (!use.operand.Is(Type::kObject)) return WrongType(use, "either an object or a boolean");
  EVENKEEL_ASSIGN_OR_RETURN(SharedSchema schema, ParseSubschema(use, use.operand));
  out.Add(SchemaScope::kArray,
          [first, schema](Value array) { return RestMatches(array, first, *schema); });
  return absl::OkStatus();
}

constexpr SchemaKeyword kArrayKeywords[] = {
    {"additionalItems", ParseAdditionalItems},
    {"items", ParseItems},
    {"maxItems", ParseMaxItems},
    {"minItems", ParseMinItems},
    {"uniqueItems", ParseUniqueItems},
};

}  // namespace

std::span<const SchemaKeyword> ArrayKeywords() { return kArrayKeywords; }

}  // namespace evenkeel::query::match
