// Implements the comparison order over BSON values.
//
// Recursion goes as deep as the documents are nested, which validation bounds.
#include "base/bson/compare.h"

#include <algorithm>
#include <cstring>

#include "base/bson/number.h"

namespace evenkeel::bson {
namespace {

template <typename T>
int Sign(T a, T b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

int CompareBytes(std::string_view a, std::string_view b) {
  const size_t common = std::min(a.size(), b.size());
  if (common != 0) {
    const int order = std::memcmp(a.data(), b.data(), common);
    if (order != 0) return order < 0 ? -1 : 1;
  }
  return Sign(a.size(), b.size());
}

int CompareStrings(std::string_view a, std::string_view b, const StringComparator* collation) {
  return collation == nullptr ? CompareBytes(a, b) : collation->Compare(a, b);
}

// By stored length, subtype, bytes.
int CompareBinary(Value a, Value b) {
  const std::string_view left = a.Bytes();
  const std::string_view right = b.Bytes();
  if (left.size() != right.size()) return Sign(left.size(), right.size());
  return CompareBytes(left.substr(4), right.substr(4));
}

int CompareRegex(Value a, Value b) {
  const RegexView left = a.AsRegex();
  const RegexView right = b.AsRegex();
  const int order = CompareBytes(left.pattern, right.pattern);
  return order != 0 ? order : CompareBytes(left.options, right.options);
}

// By length, then bytes, of the collection's name with the id behind it.
int CompareDbPointers(Value a, Value b) {
  const std::string_view left = a.Bytes();
  const std::string_view right = b.Bytes();
  if (left.size() != right.size()) return Sign(left.size(), right.size());
  return CompareBytes(left.substr(4), right.substr(4));
}

int CompareCodeWithScope(Value a, Value b) {
  const int order = CompareBytes(a.AsCodeWithScopeCode(), b.AsCodeWithScopeCode());
  return order != 0 ? order : CompareDocuments(a.AsCodeWithScopeScope(), b.AsCodeWithScopeScope());
}

bool IsInteger(Type type) { return type == Type::kInt32 || type == Type::kInt64; }

int64_t IntegerOf(Value value) {
  return value.Is(Type::kInt32) ? value.AsInt32() : value.AsInt64();
}

// Both values have the same canonical rank, the one of `a`'s type.
int CompareSameRank(Value a, Value b, const StringComparator* collation) {
  switch (a.type()) {
    case Type::kInt32:
    case Type::kInt64:
      if (IsInteger(b.type())) return Sign(IntegerOf(a), IntegerOf(b));
      return CompareNumbers(a, b);
    case Type::kDouble:
    case Type::kDecimal128:
      return CompareNumbers(a, b);
    case Type::kString:
    case Type::kSymbol:
      return CompareStrings(a.AsString(), b.AsString(), collation);
    case Type::kObject:
      return CompareDocuments(a.AsDocument(), b.AsDocument(), collation, true);
    case Type::kArray:
      return CompareDocuments(a.AsDocument(), b.AsDocument(), collation, false);
    case Type::kBinary:
      return CompareBinary(a, b);
    case Type::kObjectId:
      return CompareBytes(a.AsObjectId(), b.AsObjectId());
    case Type::kBool:
      return Sign(a.AsBool(), b.AsBool());
    case Type::kDate:
      return Sign(a.AsDateMillis(), b.AsDateMillis());
    case Type::kTimestamp:
      return Sign(a.AsTimestamp().bits, b.AsTimestamp().bits);
    case Type::kRegex:
      return CompareRegex(a, b);
    case Type::kDbPointer:
      return CompareDbPointers(a, b);
    case Type::kCode:
      return CompareBytes(a.AsString(), b.AsString());
    case Type::kCodeWithScope:
      return CompareCodeWithScope(a, b);
    case Type::kEod:
    case Type::kUndefined:
    case Type::kNull:
    case Type::kMinKey:
    case Type::kMaxKey:
      return 0;
  }
  return 0;
}

}  // namespace

int CanonicalRank(Type type) {
  switch (type) {
    case Type::kMinKey:
      return -1;
    case Type::kEod:
    case Type::kUndefined:
      return 0;
    case Type::kNull:
      return 5;
    case Type::kDouble:
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDecimal128:
      return 10;
    case Type::kString:
    case Type::kSymbol:
      return 15;
    case Type::kObject:
      return 20;
    case Type::kArray:
      return 25;
    case Type::kBinary:
      return 30;
    case Type::kObjectId:
      return 35;
    case Type::kBool:
      return 40;
    case Type::kDate:
      return 45;
    case Type::kTimestamp:
      return 47;
    case Type::kRegex:
      return 50;
    case Type::kDbPointer:
      return 55;
    case Type::kCode:
      return 60;
    case Type::kCodeWithScope:
      return 65;
    case Type::kMaxKey:
      return 127;
  }
  return 0;
}

int Compare(Value a, Value b, const StringComparator* collation) {
  if (a.type() != b.type()) {
    const int order = Sign(CanonicalRank(a.type()), CanonicalRank(b.type()));
    if (order != 0) return order;
  }
  return CompareSameRank(a, b, collation);
}

int CompareDocuments(View a, View b, const StringComparator* collation, bool with_names) {
  auto left = a.begin();
  auto right = b.begin();
  for (;; ++left, ++right) {
    if (left == a.end()) return right == b.end() ? 0 : -1;
    if (right == b.end()) return 1;
    const Value x = left->value;
    const Value y = right->value;
    if (x.type() != y.type()) {
      const int order = Sign(CanonicalRank(x.type()), CanonicalRank(y.type()));
      if (order != 0) return order;
    }
    if (with_names) {
      const int order = CompareBytes(left->key, right->key);
      if (order != 0) return order;
    }
    const int order = CompareSameRank(x, y, collation);
    if (order != 0) return order;
  }
}

bool Identical(Value a, Value b) { return a.type() == b.type() && a.Bytes() == b.Bytes(); }

}  // namespace evenkeel::bson
