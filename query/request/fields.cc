// Implements table-driven reading of command fields.
#include "query/request/fields.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <vector>

#include "base/bson/number.h"
#include "base/check.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "query/match/type_names.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

constexpr size_t kRulesMax = 64;

// Sorted. Source: the manual's "Database Commands" and the drivers' specifications; "$shard" is
// between our own processes.
constexpr std::array<std::string_view, 36> kGenericArguments = {
    "$audit",
    "$client",
    "$clusterTime",
    "$configServerState",
    "$configTime",
    "$db",
    "$oplogQueryData",
    "$peer",
    "$queryOptions",
    "$readPreference",
    "$replData",
    "$shard",
    "$topologyTime",
    "$txn",
    "apiDeprecationErrors",
    "apiStrict",
    "apiVersion",
    "autocommit",
    "clientOperationKey",
    "comment",
    "coordinator",
    "databaseVersion",
    "help",
    "lsid",
    "maxTimeMS",
    "maxTimeMSOpOnly",
    "mayBypassWriteBlocking",
    "rawData",
    "readConcern",
    "shardVersion",
    "startOrContinueTransaction",
    "startTransaction",
    "tracking_info",
    "txnNumber",
    "txnRetryCounter",
    "writeConcern",
};
static_assert(std::is_sorted(kGenericArguments.begin(), kGenericArguments.end()));

}  // namespace

bool IsGenericArgument(std::string_view name) {
  return std::binary_search(kGenericArguments.begin(), kGenericArguments.end(), name);
}

absl::Status WrongType(std::string_view where, std::string_view name, Value value,
                       std::string_view expected) {
  return Error(ErrorCode::kTypeMismatch,
               "BSON field '{}.{}' is the wrong type '{}', expected type '{}'", where, name,
               TypeAlias(value.type()), expected);
}

absl::Status MissingField(std::string_view where, std::string_view name) {
  return Error(Location(40414), "BSON field '{}.{}' is missing but a required field", where, name);
}

absl::Status ReadFields(View document, std::string_view where, FieldScope scope,
                        std::span<const FieldRule> rules, void* out) {
  EVENKEEL_CHECK(rules.size() <= kRulesMax);
  std::bitset<kRulesMax> seen;
  bool is_name = scope == FieldScope::kCommand;
  for (const Element& field : document) {
    if (std::exchange(is_name, false)) continue;
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&](const FieldRule& r) { return r.name == field.key; });
    if (rule == rules.end()) {
      if (scope == FieldScope::kCommand && IsGenericArgument(field.key)) continue;
      return Error(Location(40415), "BSON field '{}.{}' is an unknown field.", where, field.key);
    }
    const auto index = static_cast<size_t>(rule - rules.begin());
    if (seen.test(index)) {
      return Error(Location(40413), "BSON field '{}.{}' is a duplicate field", where, field.key);
    }
    // A required field that is null counts as missing.
    seen.set(index, !(rule->required && field.value.IsNullish()));
    if (rule->read) EVENKEEL_RETURN_IF_ERROR(rule->read(where, field, out));
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].required && !seen.test(i)) return MissingField(where, rules[i].name);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> CollectionName(Value first) {
  if (first.type() != Type::kString) {
    return Error(ErrorCode::kInvalidNamespace, "collection name has invalid type {}",
                 TypeAlias(first.type()));
  }
  const std::string_view name = first.AsString();
  if (name.empty()) return Error(ErrorCode::kInvalidNamespace, "collection name is empty");
  if (name.front() == '.' || name.find('$') != name.npos || name.find('\0') != name.npos) {
    return Error(ErrorCode::kInvalidNamespace, "invalid collection name '{}'", name);
  }
  return name;
}

absl::StatusOr<std::vector<View>> ReadDocuments(std::string_view where, std::string_view name,
                                                Value array) {
  if (array.type() != Type::kArray) return WrongType(where, name, array, "array");
  std::vector<View> documents;
  for (const Element& element : array.AsDocument()) {
    if (element.value.type() != Type::kObject) {
      return Error(ErrorCode::kTypeMismatch,
                   "BSON field '{}.{}.{}' is the wrong type '{}', expected type 'object'", where,
                   name, element.key, TypeAlias(element.value.type()));
    }
    documents.push_back(element.value.AsDocument());
  }
  return documents;
}

namespace fields {

absl::Status ReadObject(std::string_view where, const Element& field, View* out) {
  if (field.value.type() != Type::kObject) {
    return WrongType(where, field.key, field.value, "object");
  }
  *out = field.value.AsDocument();
  return absl::OkStatus();
}

absl::Status ReadArray(std::string_view where, const Element& field, View* out) {
  if (field.value.type() != Type::kArray) return WrongType(where, field.key, field.value, "array");
  *out = field.value.AsDocument();
  return absl::OkStatus();
}

absl::Status ReadBool(std::string_view where, const Element& field, bool* out) {
  if (field.value.type() != Type::kBool) return WrongType(where, field.key, field.value, "bool");
  *out = field.value.AsBool();
  return absl::OkStatus();
}

absl::Status ReadSafeBool(std::string_view where, const Element& field, bool* out) {
  if (field.value.type() != Type::kBool && !field.value.IsNumber()) {
    return Error(ErrorCode::kTypeMismatch,
                 "BSON field '{}.{}' is the wrong type '{}', expected types '[bool, long, int, "
                 "decimal, double]'",
                 where, field.key, TypeAlias(field.value.type()));
  }
  *out = bson::Truthy(field.value);
  return absl::OkStatus();
}

absl::Status ReadString(std::string_view where, const Element& field, std::string_view* out) {
  if (field.value.type() != Type::kString) {
    return WrongType(where, field.key, field.value, "string");
  }
  *out = field.value.AsString();
  return absl::OkStatus();
}

namespace {

// As MongoDB reads numbers of options: doubles are cut, decimals rounded, ties to even.
int64_t WholeOf(Value number) {
  if (!number.Is(Type::kDecimal128)) return bson::ToInt64Truncated(number);
  const bson::Decimal128Bits whole =
      bson::DecimalQuantize(number.AsDecimal128(), 0, bson::DecimalRounding::kHalfEven);
  const bool fits = bson::DecodeDecimal(whole).kind == bson::DecimalParts::Kind::kFinite;
  const bson::OwnedValue rounded = bson::Number::Decimal(whole).ToValue();
  return bson::ToInt64Truncated(fits ? rounded.value() : number);
}

}  // namespace

absl::Status ReadInteger(std::string_view where, const Element& field, int64_t* out) {
  if (!field.value.IsNumber()) {
    return Error(
        ErrorCode::kTypeMismatch,
        "BSON field '{}.{}' is the wrong type '{}', expected types '[long, int, decimal, double]'",
        where, field.key, TypeAlias(field.value.type()));
  }
  *out = WholeOf(field.value);
  return absl::OkStatus();
}

absl::Status ReadCollation(std::string_view where, const Element& field, View* out) {
  EVENKEEL_RETURN_IF_ERROR(ReadObject(where, field, out));
  return Collation::Get(*out).status();
}

absl::Status ReadNonNegative(std::string_view where, const Element& field, int64_t* out) {
  EVENKEEL_RETURN_IF_ERROR(ReadInteger(where, field, out));
  if (*out < 0) {
    return Error(Location(51024), "BSON field '{}' value must be >= 0, actual value '{}'",
                 field.key, *out);
  }
  return absl::OkStatus();
}

absl::Status ReadHint(std::string_view, const Element& field, Value* out) {
  if (field.value.type() != Type::kString && field.value.type() != Type::kObject) {
    return Error(ErrorCode::kFailedToParse, "Hint must be a string or an object");
  }
  *out = field.value;
  return absl::OkStatus();
}

}  // namespace fields
}  // namespace evenkeel::query
