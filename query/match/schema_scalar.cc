// $jsonSchema keywords about types, numbers and strings: bsonType description enum exclusiveMaximum
// exclusiveMinimum maxLength maximum minLength minimum multipleOf pattern title type.
#include <algorithm>

#include "base/bson/compare.h"
#include "base/bson/decimal.h"
#include "base/bson/number.h"
#include "query/match/regex.h"
#include "query/match/schema_keyword.h"
#include "query/match/type_names.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;

// The names of `type`: JSON's.
absl::Status AddJsonType(std::string_view name, TypeSet* types) {
  static constexpr std::pair<std::string_view, Type> kNames[] = {
      {"array", Type::kArray},   {"boolean", Type::kBool},  {"null", Type::kNull},
      {"object", Type::kObject}, {"string", Type::kString},
  };
  for (const auto& [known, type] : kNames) {
    if (known == name) {
      types->Add(type);
      return absl::OkStatus();
    }
  }
  if (name != "number") return Error(ErrorCode::kBadValue, "Unknown type name alias: {}", name);
  types->AddNumbers();
  return absl::OkStatus();
}

// The names of `bsonType`: those of $type.
absl::Status AddBsonType(std::string_view name, TypeSet* types) {
  if (name == "number") {
    types->AddNumbers();
    return absl::OkStatus();
  }
  const std::optional<Type> type = TypeFromAlias(name);
  if (!type) return Error(ErrorCode::kBadValue, "Unknown type name alias: {}", name);
  types->Add(*type);
  return absl::OkStatus();
}

absl::Status ParseTypes(const KeywordUse& use, Schema& out,
                        absl::Status (*add)(std::string_view, TypeSet*)) {
  std::vector<std::string> names;
  if (use.operand.Is(Type::kString)) {
    names.emplace_back(use.operand.AsString());
  } else if (use.operand.Is(Type::kArray)) {
    EVENKEEL_ASSIGN_OR_RETURN(names, ParseNames(use, use.operand));
  } else {
    return WrongType(use, "either a string or an array of strings");
  }
  TypeSet types;
  for (const std::string& name : names) {
    if (name == "integer") return Malformed(use, "does not support the type 'integer'");
    EVENKEEL_RETURN_IF_ERROR(add(name, &types));
  }
  out.Add(SchemaScope::kAny, [types](Value value) { return types.Contains(value.type()); });
  return absl::OkStatus();
}

absl::Status ParseType(const KeywordUse& use, Schema& out) {
  if (!use.siblings["bsonType"].missing()) {
    return Malformed(use, "cannot stand beside the keyword 'bsonType'");
  }
  return ParseTypes(use, out, AddJsonType);
}
absl::Status ParseBsonType(const KeywordUse& use, Schema& out) {
  return ParseTypes(use, out, AddBsonType);
}

absl::Status ParseEnum(const KeywordUse& use, Schema& out) {
  if (!use.operand.Is(Type::kArray)) return WrongType(use, "an array");
  std::vector<bson::OwnedValue> values;
  for (const Element& element : use.operand.AsDocument()) {
    values.push_back(SortFields(element.value));
  }
  if (values.empty()) return Malformed(use, "cannot be an empty array");
  const auto less = [](Value a, Value b) { return bson::Compare(a, b) < 0; };
  std::sort(values.begin(), values.end(), less);
  const auto same = [](Value a, Value b) { return bson::Compare(a, b) == 0; };
  if (std::adjacent_find(values.begin(), values.end(), same) != values.end()) {
    return Malformed(use, "array cannot contain duplicate values");
  }
  out.Add(SchemaScope::kAny, [values = std::move(values), less](Value value) {
    return std::binary_search(values.begin(), values.end(), SortFields(value), less);
  });
  return absl::OkStatus();
}

// minimum, maximum: kSign is the order of a value that is on the right side.
template <int kSign>
absl::Status ParseBound(const KeywordUse& use, Schema& out) {
  if (!use.operand.IsNumber()) return WrongType(use, "a number");
  const Value exclusive = use.siblings[kSign > 0 ? "exclusiveMinimum" : "exclusiveMaximum"];
  const bool strict = exclusive.Is(Type::kBool) && exclusive.AsBool();
  out.Add(SchemaScope::kNumber, [strict, bound = bson::OwnedValue(use.operand)](Value value) {
    const bool is_nan = bson::DecimalIsNaN(bson::Number::From(value).ToDecimal());
    if (is_nan != bson::DecimalIsNaN(bson::Number::From(bound).ToDecimal())) return false;
    const int order = bson::CompareNumbers(value, bound) * kSign;
    return strict ? order > 0 : order >= 0;
  });
  return absl::OkStatus();
}

template <int kSign>
absl::Status ParseExclusive(const KeywordUse& use, Schema&) {
  if (!use.operand.Is(Type::kBool)) return WrongType(use, "a boolean");
  constexpr std::string_view kBound = kSign > 0 ? "minimum" : "maximum";
  if (use.siblings[kBound].missing()) {
    return Malformed(use, "needs the keyword '" + std::string(kBound) + "' beside it");
  }
  return absl::OkStatus();
}

absl::Status ParseMultipleOf(const KeywordUse& use, Schema& out) {
  if (!use.operand.IsNumber()) return WrongType(use, "a number");
  const bson::Decimal128Bits divisor = bson::Number::From(use.operand).ToDecimal();
  if (bson::DecimalIsZero(divisor) || bson::DecimalIsNegative(divisor)) {
    return Malformed(use, "must have a positive value");
  }
  out.Add(SchemaScope::kNumber, [divisor](Value value) {
    return bson::DecimalIsZero(bson::DecimalModulo(bson::Number::From(value).ToDecimal(), divisor));
  });
  return absl::OkStatus();
}

int64_t CountCodePoints(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

absl::Status ParseMinLength(const KeywordUse& use, Schema& out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t bound, ParseCount(use));
  out.Add(SchemaScope::kString,
          [bound](Value value) { return CountCodePoints(value.AsString()) >= bound; });
  return absl::OkStatus();
}

absl::Status ParseMaxLength(const KeywordUse& use, Schema& out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t bound, ParseCount(use));
  out.Add(SchemaScope::kString,
          [bound](Value value) { return CountCodePoints(value.AsString()) <= bound; });
  return absl::OkStatus();
}

absl::Status ParsePattern(const KeywordUse& use, Schema& out) {
  if (!use.operand.Is(Type::kString)) return WrongType(use, "a string");
  EVENKEEL_ASSIGN_OR_RETURN(Regex compiled, Regex::Compile(use.operand.AsString(), ""));
  const auto regex = std::make_shared<const Regex>(std::move(compiled));
  out.Add(SchemaScope::kString, [regex](Value value) { return regex->Matches(value.AsString()); });
  return absl::OkStatus();
}

absl::Status ParseText(const KeywordUse& use, Schema&) {
  return use.operand.Is(Type::kString) ? absl::OkStatus() : WrongType(use, "a string");
}

constexpr SchemaKeyword kScalarKeywords[] = {
    {"bsonType", ParseBsonType},
    {"description", ParseText},
    {"enum", ParseEnum},
    {"exclusiveMaximum", ParseExclusive<-1>},
    {"exclusiveMinimum", ParseExclusive<1>},
    {"maxLength", ParseMaxLength},
    {"maximum", ParseBound<-1>},
    {"minLength", ParseMinLength},
    {"minimum", ParseBound<1>},
    {"multipleOf", ParseMultipleOf},
    {"pattern", ParsePattern},
    {"title", ParseText},
    {"type", ParseType},
};

}  // namespace

std::span<const SchemaKeyword> ScalarKeywords() { return kScalarKeywords; }

}  // namespace evenkeel::query::match
