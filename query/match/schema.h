// JSON Schema as $jsonSchema and validators use it: draft 4 with MongoDB's bsonType, without
// references.
//
// Compiled once, immutable, used by any thread. A keyword says nothing about values of types that
// it is not about. Strings compare by bytes whatever the collation. Source: "$jsonSchema" in the
// MongoDB manual.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/bson/view.h"

namespace evenkeel::query::match {

// The values that a keyword is about.
enum class SchemaScope : uint8_t { kAny, kNumber, kString, kArray, kObject };

struct SchemaCheck {
  SchemaScope scope = SchemaScope::kAny;
  std::function<bool(bson::Value)> holds;
};

class Schema {
 public:
  // `schema` is copied.
  // Errors: TypeMismatch for operands of the wrong type; FailedToParse for unknown keywords and
  // operands out of range; BadValue for unknown type names; 51091 for a bad pattern.
  static absl::StatusOr<std::unique_ptr<const Schema>> Parse(bson::View schema);
  bool Matches(bson::Value value) const;
  void Add(SchemaScope scope, std::function<bool(bson::Value)> holds) {
    checks_.push_back({scope, std::move(holds)});
  }

 private:
  std::vector<SchemaCheck> checks_;
};

using SchemaPtr = std::unique_ptr<const Schema>;
// Closures must be copyable.
using SharedSchema = std::shared_ptr<const Schema>;

}  // namespace evenkeel::query::match
