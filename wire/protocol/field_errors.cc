// Wording of errors about fields.
#include "wire/protocol/field_errors.h"

#include "base/status.h"

namespace evenkeel::wire {

std::string_view TypeName(bson::Type type) {
  switch (type) {
    case bson::Type::kEod:
      return "missing";
    case bson::Type::kDouble:
      return "double";
    case bson::Type::kString:
      return "string";
    case bson::Type::kObject:
      return "object";
    case bson::Type::kArray:
      return "array";
    case bson::Type::kBinary:
      return "binData";
    case bson::Type::kUndefined:
      return "undefined";
    case bson::Type::kObjectId:
      return "objectId";
    case bson::Type::kBool:
      return "bool";
    case bson::Type::kDate:
      return "date";
    case bson::Type::kNull:
      return "null";
    case bson::Type::kRegex:
      return "regex";
    case bson::Type::kDbPointer:
      return "dbPointer";
    case bson::Type::kCode:
      return "javascript";
    case bson::Type::kSymbol:
      return "symbol";
    case bson::Type::kCodeWithScope:
      return "javascriptWithScope";
    case bson::Type::kInt32:
      return "int";
    case bson::Type::kTimestamp:
      return "timestamp";
    case bson::Type::kInt64:
      return "long";
    case bson::Type::kDecimal128:
      return "decimal";
    case bson::Type::kMaxKey:
      return "maxKey";
    case bson::Type::kMinKey:
      return "minKey";
  }
  return "unknown";
}

absl::Status WrongTypeError(std::string_view field, bson::Type actual, std::string_view expected) {
  return Error(ErrorCode::kTypeMismatch,
               "BSON field '{}' is the wrong type '{}', expected type '{}'", field,
               TypeName(actual), expected);
}

absl::Status MissingFieldError(std::string_view field) {
  return Error(Location(40414), "BSON field '{}' is missing but a required field", field);
}

absl::Status UnknownFieldError(std::string_view field) {
  return Error(Location(40415), "BSON field '{}' is an unknown field", field);
}

absl::Status DuplicateFieldError(std::string_view field) {
  return Error(Location(40413), "BSON field '{}' is a duplicate field", field);
}

}  // namespace evenkeel::wire
