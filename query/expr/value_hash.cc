// Hashing of values by what they mean, not by their bytes.
#include "query/expr/value_hash.h"

#include <absl/hash/hash.h>
#include <absl/strings/string_view.h>

#include <bit>
#include <cmath>

#include "base/bson/decimal.h"
#include "base/bson/number.h"
#include "query/collation/collation.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

uint64_t Mix(uint64_t a, uint64_t b) { return absl::HashOf(a, b); }

uint64_t HashBytes(std::string_view bytes) {
  return absl::HashOf(absl::string_view(bytes.data(), bytes.size()));
}

// Equal numbers of different widths meet in the simplest form that holds them: int64, double,
// decimal digits.
uint64_t HashNumber(bson::Value value) {
  if (value.Is(Type::kInt32)) return absl::HashOf(int64_t{value.AsInt32()});
  if (value.Is(Type::kInt64)) return absl::HashOf(value.AsInt64());
  if (const std::optional<int64_t> exact = bson::ToInt64Exact(value)) return absl::HashOf(*exact);
  const double real = bson::ToDouble(value);
  if (std::isnan(real)) return 0x7ff8;
  if (value.Is(Type::kDecimal128)) {
    char bytes[sizeof(real)];
    std::memcpy(bytes, &real, sizeof(real));
    if (bson::CompareNumbers(value, bson::Value(Type::kDouble, bytes)) != 0) {
      bson::DecimalParts parts = bson::DecodeDecimal(value.AsDecimal128());
      while (parts.coefficient != 0 && parts.coefficient % 10 == 0) {
        parts.coefficient /= 10;
        ++parts.exponent;
      }
      return absl::HashOf(static_cast<uint64_t>(parts.coefficient), parts.exponent, parts.negative);
    }
  }
  return absl::HashOf(std::bit_cast<uint64_t>(real));
}

uint64_t HashString(std::string_view text, const bson::StringComparator* comparator) {
  if (comparator == nullptr) return HashBytes(text);
  const auto* collation = dynamic_cast<const Collation*>(comparator);
  return collation != nullptr ? HashBytes(collation->SortKey(text)) : 0;
}

uint64_t HashFields(bson::View fields, bool with_names, const bson::StringComparator* collation) {
  uint64_t hash = 17;
  for (const auto& [key, value] : fields) {
    if (with_names) hash = Mix(hash, HashBytes(key));
    hash = Mix(hash, HashOf(value, collation));
  }
  return hash;
}

}  // namespace

uint64_t HashOf(bson::Value value, const bson::StringComparator* collation) {
  if (value.IsNumber()) return HashNumber(value);
  const auto rank = static_cast<uint64_t>(bson::CanonicalRank(value.type()));
  switch (value.type()) {
    case Type::kString:
    case Type::kSymbol:
      return Mix(rank, HashString(value.AsString(), collation));
    case Type::kObject:
      return Mix(rank, HashFields(value.AsDocument(), true, collation));
    case Type::kArray:
      return Mix(rank, HashFields(value.AsDocument(), false, collation));
    case Type::kDouble:
    case Type::kBinary:
    case Type::kObjectId:
    case Type::kBool:
    case Type::kDate:
    case Type::kTimestamp:
    case Type::kRegex:
    case Type::kCode:
    case Type::kDbPointer:
      return Mix(rank, HashBytes(value.Bytes()));
    default:
      return rank;  // no bytes, or too rare to matter
  }
}

}  // namespace evenkeel::query::expr
