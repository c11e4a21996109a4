// $jsonSchema keywords about objects: additionalProperties dependencies maxProperties minProperties
// patternProperties properties required.
#include <algorithm>

#include "query/match/regex.h"
#include "query/match/schema_keyword.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

struct NamedSchema {
  std::string name;
  SharedSchema schema;
};

struct PatternSchema {
  std::shared_ptr<const Regex> pattern;
  SharedSchema schema;
};

int64_t CountProperties(Value object) {
  return static_cast<int64_t>(object.AsDocument().CountFields());
}

absl::Status ParseMinProperties(const KeywordUse& use, Schema& out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t bound, ParseCount(use));
  out.Add(SchemaScope::kObject, [bound](Value object) { return CountProperties(object) >= bound; });
  return absl::OkStatus();
}

absl::Status ParseMaxProperties(const KeywordUse& use, Schema& out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t bound, ParseCount(use));
  out.Add(SchemaScope::kObject, [bound](Value object) { return CountProperties(object) <= bound; });
  return absl::OkStatus();
}

bool HasAll(View object, const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return !object[name].missing(); });
}

absl::Status ParseRequired(const KeywordUse& use, Schema& out) {
  EVENKEEL_ASSIGN_OR_RETURN(std::vector<std::string> names, ParseNames(use, use.operand));
  out.Add(SchemaScope::kObject,
          [names = std::move(names)](Value object) { return HasAll(object.AsDocument(), names); });
  return absl::OkStatus();
}

absl::Status ParseProperties(const KeywordUse& use, Schema& out) {
  if (!use.operand.Is(Type::kObject)) return WrongType(use, "an object");
  std::vector<NamedSchema> properties;
  for (const Element& element : use.operand.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(SharedSchema schema, ParseSubschema(use, element.value));
    properties.push_back({std::string(element.key), std::move(schema)});
  }
  out.Add(SchemaScope::kObject, [properties = std::move(properties)](Value object) {
    const View fields = object.AsDocument();
    return std::all_of(properties.begin(), properties.end(), [&](const NamedSchema& property) {
      const Value value = fields[property.name];
      return value.missing() || property.schema->Matches(value);
    });
  });
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PatternSchema>> ParsePatterns(const KeywordUse& use, Value operand) {
  if (!operand.Is(Type::kObject)) return WrongType(use, "an object");
  std::vector<PatternSchema> patterns;
  for (const Element& element : operand.AsDocument()) {
    absl::StatusOr<Regex> regex = Regex::Compile(element.key, "");
    if (!regex.ok()) {
      return Error(ErrorCode::kBadValue,
                   "$jsonSchema keyword 'patternProperties' holds the "
                   "invalid regular expression '{}'",
                   element.key);
    }
    EVENKEEL_ASSIGN_OR_RETURN(SharedSchema schema, ParseSubschema(use, element.value));
    patterns.push_back({std::make_shared<const Regex>(*std::move(regex)), std::move(schema)});
  }
  return patterns;
}

absl::Status ParsePatternProperties(const KeywordUse& use, Schema& out) {
  EVENKEEL_ASSIGN_OR_RETURN(std::vector<PatternSchema> patterns, ParsePatterns(use, use.operand));
  out.Add(SchemaScope::kObject, [patterns = std::move(patterns)](Value object) {
    for (const Element& element : object.AsDocument()) {
      for (const PatternSchema& pattern : patterns) {
        if (pattern.pattern->Matches(element.key) && !pattern.schema->Matches(element.value)) {
          return false;
        }
      }
    }
    return true;
  });
  return absl::OkStatus();
}

// The fields that neither `properties` nor `patternProperties` name.
absl::Status ParseAdditionalProperties(const KeywordUse& use, Schema& out) {
  SharedSchema schema;  // null: there may be none
  if (use.operand.Is(Type::kBool)) {
    if (use.operand.AsBool()) return absl::OkStatus();
  } else if (use.operand.Is(Type::kObject)) {
    EVENKEEL_ASSIGN_OR_RETURN(schema, ParseSubschema(use, use.operand));
  } else {
    return WrongType(use, "either an object or a boolean");
  }
  std::vector<std::string> names;
  if (const Value properties = use.siblings["properties"]; properties.Is(Type::kObject)) {
    for (const Element& element : properties.AsDocument()) names.emplace_back(element.key);
  }
  std::vector<PatternSchema> patterns;
  if (const Value operand = use.siblings["patternProperties"]; !operand.missing()) {
    EVENKEEL_ASSIGN_OR_RETURN(patterns, ParsePatterns(use, operand));
  }
  std::sort(names.begin(), names.end());
  out.Add(SchemaScope::kObject, [names = std::move(names), patterns = std::move(patterns),
                                 schema](Value object) {
    for (const Element& element : object.AsDocument()) {
      const bool named = std::binary_search(names.begin(), names.end(), element.key) ||
                         std::any_of(patterns.begin(), patterns.end(), [&](const PatternSchema& p) {
                           return p.pattern->Matches(element.key);
                         });
      if (!named && (!schema || !schema->Matches(element.value))) return false;
    }
    return true;
  });
  return absl::OkStatus();
}

absl::Status ParseDependencies(const KeywordUse& use, Schema& out) {
  if (!use.operand.Is(Type::kObject)) return WrongType(use, "an object");
  for (const Element& element : use.operand.AsDocument()) {
    std::string name(element.key);
    if (element.value.Is(Type::kArray)) {
      EVENKEEL_ASSIGN_OR_RETURN(std::vector<std::string> needed, ParseNames(use, element.value));
      out.Add(SchemaScope::kObject, [name, needed = std::move(needed)](Value object) {
        const View fields = object.AsDocument();
        return fields[name].missing() || HasAll(fields, needed);
      });
      continue;
    }
    EVENKEEL_ASSIGN_OR_RETURN(SharedSchema schema, ParseSubschema(use, element.value));
    out.Add(SchemaScope::kObject, [name, schema](Value object) {
      return object.AsDocument()[name].missing() || schema->Matches(object);
    });
  }
  return absl::OkStatus();
}

constexpr SchemaKeyword kObjectKeywords[] = {
    {"additionalProperties", ParseAdditionalProperties},
    {"dependencies", ParseDependencies},
    {"maxProperties", ParseMaxProperties},
    {"minProperties", ParseMinProperties},
    {"patternProperties", ParsePatternProperties},
    {"properties", ParseProperties},
    {"required", ParseRequired},
};

}  // namespace

std::span<const SchemaKeyword> ObjectKeywords() { return kObjectKeywords; }

}  // namespace evenkeel::query::match
