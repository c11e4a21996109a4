// Match operators on bits: $bitsAllClear $bitsAllSet $bitsAnyClear $bitsAnySet.
#include <cmath>
#include <memory>
#include <vector>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/match/table.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;

// The bytes as stored: those of subtype 2 begin with a length of their own, as in MongoDB.
std::string_view RawBinary(Value value) { return value.Bytes().substr(5); }

enum class BitTest : uint8_t { kAllClear, kAllSet, kAnyClear, kAnySet };

// Bit positions against a number (two's complement, its sign goes on for ever) or binary data (then
// zeros).
class BitsPredicate final : public Predicate {
 public:
  BitsPredicate(BitTest test, std::vector<uint32_t> positions)
      : Predicate(PredicateKind::kBits), test_(test), positions_(std::move(positions)) {}

  bool Matches(Value value, MatchDetails&) const override {
    if (value.Is(Type::kBinary)) {
      const std::string_view bytes = RawBinary(value);
      return Test([&](uint32_t bit) {
        return bit / 8 < bytes.size() &&
               (static_cast<uint8_t>(bytes[bit / 8]) >> (bit % 8) & 1) != 0;
      });
    }
    if (!value.IsNumber()) return false;
    const std::optional<int64_t> number = bson::ToInt64Exact(value);
    if (!number) return false;
    return Test([&](uint32_t bit) { return (*number >> std::min<uint32_t>(bit, 63) & 1) != 0; });
  }

 private:
  template <typename IsSet>
  bool Test(IsSet is_set) const {
    const bool wants_set = test_ == BitTest::kAllSet || test_ == BitTest::kAnySet;
    const bool any = test_ == BitTest::kAnySet || test_ == BitTest::kAnyClear;
    for (const uint32_t bit : positions_) {
      if ((is_set(bit) == wants_set) == any) return any;
    }
    return !any;
  }

  BitTest test_;
  std::vector<uint32_t> positions_;
};

absl::StatusOr<std::vector<uint32_t>> PositionsOfMask(std::string_view name, Value operand) {
  const std::optional<int64_t> mask = bson::ToInt64Exact(operand);
  if (!mask) {
    return Error(ErrorCode::kFailedToParse,
                 "{} bitmask must be representable as a 64-bit integer: {}", name,
                 bson::ToDisplay(operand));
  }
  if (*mask < 0) {
    return Error(ErrorCode::kFailedToParse, "{} bitmask must be a non-negative number: {}", name,
                 *mask);
  }
  std::vector<uint32_t> positions;
  for (uint32_t bit = 0; bit < 64; ++bit) {
    if (*mask >> bit & 1) positions.push_back(bit);
  }
  return positions;
}

std::vector<uint32_t> PositionsOfBinary(std::string_view bytes) {
  std::vector<uint32_t> positions;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (uint32_t bit = 0; bit < 8; ++bit) {
      if (static_cast<uint8_t>(bytes[i]) >> bit & 1) {
        positions.push_back(static_cast<uint32_t>(i * 8 + bit));
      }
    }
  }
  return positions;
}

absl::StatusOr<std::vector<uint32_t>> PositionsOfList(std::string_view name, Value operand) {
  std::vector<uint32_t> positions;
  for (const Element& element : operand.AsDocument()) {
    const std::optional<int64_t> position =
        element.value.IsNumber() ? bson::ToInt64Exact(element.value) : std::nullopt;
    if (!position) {
      return Bad("{} bit positions must be integers: {}", name, bson::ToDisplay(element.value));
    }
    if (*position < 0 || *position > INT32_MAX) {
      return Bad("{} bit positions must be >= 0 and fit into 32 bits: {}", name, *position);
    }
    positions.push_back(static_cast<uint32_t>(*position));
  }
  return positions;
}

absl::StatusOr<Condition> ParseBits(const FieldUse& use, BitTest test) {
  absl::StatusOr<std::vector<uint32_t>> positions = std::vector<uint32_t>();
  if (use.operand.IsNumber()) {
    positions = PositionsOfMask(use.name, use.operand);
  } else if (use.operand.Is(Type::kBinary)) {
    positions = PositionsOfBinary(RawBinary(use.operand));
  } else if (use.operand.Is(Type::kArray)) {
    positions = PositionsOfList(use.name, use.operand);
  } else {
    return Bad("{} takes an Array, a number, or a BinData but received: {}", use.name,
               bson::ToDisplay(use.operand));
  }
  if (!positions.ok()) return positions.status();
  return Condition::Of(std::make_unique<BitsPredicate>(test, *std::move(positions)));
}

absl::StatusOr<Condition> ParseAllClear(Parser&, const FieldUse& use) {
  return ParseBits(use, BitTest::kAllClear);
}
absl::StatusOr<Condition> ParseAllSet(Parser&, const FieldUse& use) {
  return ParseBits(use, BitTest::kAllSet);
}
absl::StatusOr<Condition> ParseAnyClear(Parser&, const FieldUse& use) {
  return ParseBits(use, BitTest::kAnyClear);
}
absl::StatusOr<Condition> ParseAnySet(Parser&, const FieldUse& use) {
  return ParseBits(use, BitTest::kAnySet);
}

constexpr MatchOp kBitwiseOps[] = {
    {.name = "$bitsAllClear",
     .place = Place::kField,
     .parse_field = ParseAllClear,
     .spec = "operator/query/bitsAllClear",
     .tests = "query/bitwise/bitsAllClear"},
    {.name = "$bitsAllSet",
     .place = Place::kField,
     .parse_field = ParseAllSet,
     .spec = "operator/query/bitsAllSet",
     .tests = "query/bitwise/bitsAllSet"},
    {.name = "$bitsAnyClear",
     .place = Place::kField,
     .parse_field = ParseAnyClear,
     .spec = "operator/query/bitsAnyClear",
     .tests = "query/bitwise/bitsAnyClear"},
    {.name = "$bitsAnySet",
     .place = Place::kField,
     .parse_field = ParseAnySet,
     .spec = "operator/query/bitsAnySet",
     .tests = "query/bitwise/bitsAnySet"},
};
static_assert(RowsAreInOrder(kBitwiseOps));

}  // namespace

std::span<const MatchOp> BitwiseOps() { return kBitwiseOps; }

}  // namespace evenkeel::query::match
