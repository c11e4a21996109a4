// Implements the names of BSON types: one table, searched from start to end.
#include "query/match/type_names.h"

namespace evenkeel::query {
namespace {

using bson::Type;

struct TypeRow {
  Type type;
  std::string_view alias;
};

constexpr TypeRow kTypes[] = {
    {Type::kDouble, "double"},
    {Type::kString, "string"},
    {Type::kObject, "object"},
    {Type::kArray, "array"},
    {Type::kBinary, "binData"},
    {Type::kUndefined, "undefined"},
    {Type::kObjectId, "objectId"},
    {Type::kBool, "bool"},
    {Type::kDate, "date"},
    {Type::kNull, "null"},
    {Type::kRegex, "regex"},
    {Type::kDbPointer, "dbPointer"},
    {Type::kCode, "javascript"},
    {Type::kSymbol, "symbol"},
    {Type::kCodeWithScope, "javascriptWithScope"},
    {Type::kInt32, "int"},
    {Type::kTimestamp, "timestamp"},
    {Type::kInt64, "long"},
    {Type::kDecimal128, "decimal"},
    {Type::kMinKey, "minKey"},
    {Type::kMaxKey, "maxKey"},
};

}  // namespace

std::string_view TypeAlias(Type type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.alias;
  }
  return "missing";
}

std::optional<Type> TypeFromAlias(std::string_view alias) {
  for (const TypeRow& row : kTypes) {
    if (row.alias == alias) return row.type;
  }
  return std::nullopt;
}

std::optional<Type> TypeFromNumber(int64_t number) {
  if (number == -1) return Type::kMinKey;
  for (const TypeRow& row : kTypes) {
    if (row.type != Type::kMinKey && static_cast<int64_t>(row.type) == number) return row.type;
  }
  return std::nullopt;
}

}  // namespace evenkeel::query
