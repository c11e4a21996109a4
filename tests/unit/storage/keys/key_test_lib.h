// Values of every type for the tests of keys: a fixed pool that is dense around the edges, and
// random ones.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/decimal.h"
#include "base/bson/document.h"
#include "base/bson/number.h"
#include "base/random.h"
#include "storage/keys/key_encoding.h"

namespace evenkeel::storage {

template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline bson::OwnedValue Int32(int32_t v) { return {bson::Type::kInt32, BytesOf(v)}; }
inline bson::OwnedValue Int64(int64_t v) { return {bson::Type::kInt64, BytesOf(v)}; }
inline bson::OwnedValue Double(double v) { return {bson::Type::kDouble, BytesOf(v)}; }
inline bson::OwnedValue Decimal(bson::Decimal128Bits v) {
  return {bson::Type::kDecimal128, BytesOf(v)};
}
inline bson::OwnedValue Decimal(std::string_view text) {
  return Decimal(*bson::DecimalFromString(text));
}
inline bson::OwnedValue Text(std::string_view text, bson::Type type = bson::Type::kString) {
  std::string bytes = BytesOf(static_cast<int32_t>(text.size() + 1));
  bytes.append(text).push_back('\0');
  return {type, std::move(bytes)};
}
inline bson::OwnedValue Plain(bson::Type type) { return {type, ""}; }

// The first value of a document that a builder has made.
inline bson::OwnedValue First(bson::Builder* builder) {
  return bson::OwnedValue(builder->Finish().view().Front().value);
}

inline bson::OwnedValue Object(const std::vector<std::pair<std::string, bson::OwnedValue>>& fields,
                               bson::Type type = bson::Type::kObject) {
  bson::Builder builder;
  for (const auto& [name, value] : fields) builder.Append(name, value);
  return {type, builder.Finish().bytes()};
}
inline bson::OwnedValue Array(const std::vector<bson::OwnedValue>& values) {
  std::vector<std::pair<std::string, bson::OwnedValue>> fields;
  for (const bson::OwnedValue& value : values)
    fields.emplace_back(std::to_string(fields.size()), value);
  return Object(fields, bson::Type::kArray);
}

inline bson::OwnedValue Binary(uint8_t subtype, std::string_view bytes) {
  bson::Builder builder;
  builder.AppendBinary("b", subtype, bytes);
  return First(&builder);
}
inline bson::OwnedValue Regex(std::string_view pattern, std::string_view options) {
  bson::Builder builder;
  builder.AppendRegex("r", pattern, options);
  return First(&builder);
}
inline bson::OwnedValue CodeWithScope(std::string_view code, const bson::OwnedValue& scope) {
  const bson::OwnedValue text = Text(code);
  std::string bytes(text.value().Bytes());
  bytes.append(scope.value().Bytes());
  return {bson::Type::kCodeWithScope, BytesOf(static_cast<int32_t>(bytes.size() + 4)) + bytes};
}
inline bson::OwnedValue DbPointer(std::string_view name, std::string_view id) {
  return {bson::Type::kDbPointer, std::string(Text(name).value().Bytes()) + std::string(id)};
}

// Numbers around every edge of the encoding, in all widths that hold them.
inline std::vector<bson::OwnedValue> IntegerPool() {
  std::vector<bson::OwnedValue> pool;
  std::vector<int64_t> integers = {0, 2, 3, 5, 9, 10, 11, 99, 100, 101, 1000};
  for (int bit = 6; bit <= 62; ++bit) {
    if (bit > 18 && bit < 30) continue;
    if (bit > 34 && bit < 50) continue;
    for (int64_t around = -1; around <= 1; ++around)
      integers.push_back((int64_t{1} << bit) + around);
  }
  integers.push_back(std::numeric_limits<int64_t>::max());
  integers.push_back(std::numeric_limits<int64_t>::max() - 1);
  for (const int64_t magnitude : integers) {
    for (const int64_t integer : {magnitude, -magnitude}) {
      pool.push_back(Int64(integer));
      if (integer == static_cast<int32_t>(integer))
        pool.push_back(Int32(static_cast<int32_t>(integer)));
      pool.push_back(Double(static_cast<double>(integer)));
      pool.push_back(Decimal(bson::DecimalFromInt64(integer)));
    }
  }
  pool.push_back(Int64(std::numeric_limits<int64_t>::min()));
  pool.push_back(Int32(std::numeric_limits<int32_t>::min()));
  return pool;
}

inline std::vector<bson::OwnedValue> DoublePool() {
  std::vector<bson::OwnedValue> pool;
  using Limits = std::numeric_limits<double>;
  for (const double magnitude : {0.0,
                                 0.1,
                                 0.5,
                                 0.75,
                                 1.0,
                                 1.5,
                                 2.5,
                                 1.0 / 3,
                                 3.14159,
                                 123.456,
                                 0x1p-1022,
                                 Limits::denorm_min(),
                                 Limits::min(),
                                 Limits::max(),
                                 Limits::epsilon(),
                                 0x1p52,
                                 0x1p53,
                                 0x1p63,
                                 0x1p64,
                                 1e22,
                                 1e23,
                                 1e300,
                                 4503599627370495.5,
                                 2251799813685247.75}) {
    for (const double real :
         {magnitude, std::nextafter(magnitude, 0.0), std::nextafter(magnitude, Limits::max())}) {
      pool.push_back(Double(real));
      pool.push_back(Double(-real));
      if (std::isfinite(real)) pool.push_back(Decimal(bson::DecimalFromDouble(real)));
    }
  }
  for (const double special : {Limits::infinity(), Limits::quiet_NaN(), -0.0}) {
    pool.push_back(Double(special));
    pool.push_back(Double(-special));
  }
  return pool;
}

inline std::vector<bson::OwnedValue> DecimalPool() {
  std::vector<bson::OwnedValue> pool;
  for (const char* magnitude : {"0",
                                "0.0",
                                "0E-6176",
                                "0E+6111",
                                "0.1",
                                "0.10",
                                "0.1000000000000000055511151231257827",
                                "0.1000000000000000055511151231257828",
                                "0.5",
                                "0.50",
                                "1",
                                "1.0",
                                "1.000000000000000000000000000000000",
                                "1.000000000000000000000000000000001",
                                "0.9999999999999999999999999999999999",
                                "2.5",
                                "10",
                                "1E+1",
                                "9007199254740992",
                                "9007199254740992.5",
                                "9007199254740993",
                                "4503599627370495.5",
                                "4503599627370495.51",
                                "9223372036854775807",
                                "9223372036854775807.5",
                                "9223372036854775808",
                                "9223372036854775808.1",
                                "9223372036854775809",
                                "18446744073709551616",
                                "1E+22",
                                "1E+23",
                                "1E+300",
                                "1.7976931348623157E+308",
                                "1.797693134862315708145274237317044E+308",
                                "1.8E+308",
                                "1E+309",
                                "9.999999999999999999999999999999999E+6144",
                                "1E+6144",
                                "1E-6176",
                                "2E-6176",
                                "5E-324",
                                "4.940656458412465441765687928682213E-324",
                                "4.9E-324",
                                "2.5E-324",
                                "1E-400",
                                "123456789.987654321",
                                "1234567890123456789012345678901234",
                                "0.3333333333333333333333333333333333",
                                "Infinity",
                                "NaN"}) {
    pool.push_back(Decimal(magnitude));
    if (std::string_view(magnitude) != "NaN") pool.push_back(Decimal("-" + std::string(magnitude)));
  }
  pool.push_back(Decimal({.low = 7, .high = uint64_t{0x1F} << 58}));  // a NaN with a payload
  pool.push_back(Decimal({.low = 7, .high = uint64_t{0x1E} << 58}));  // an infinity with junk
  pool.push_back(
      Decimal({.low = ~uint64_t{0}, .high = 0x3041FFFFFFFFFFFF}));  // too many digits: zero
  pool.push_back(Decimal({.low = 5, .high = 0x6C00000000000000}));  // the second form: zero
  return pool;
}

inline std::vector<bson::OwnedValue> Joined(
    std::initializer_list<std::vector<bson::OwnedValue>> pools) {
  std::vector<bson::OwnedValue> all;
  for (const auto& pool : pools) all.insert(all.end(), pool.begin(), pool.end());
  return all;
}

inline std::vector<bson::OwnedValue> NumberPool() {
  return Joined({IntegerPool(), DoublePool(), DecimalPool()});
}

inline std::vector<bson::OwnedValue> TextPool() {
  using bson::Type;
  std::vector<bson::OwnedValue> pool;
  using namespace std::string_view_literals;
  const std::string_view texts[] = {""sv,
                                    "a"sv,
                                    "a\0"sv,
                                    "a\0\0"sv,
                                    "a\0\x01"sv,
                                    "a\x01"sv,
                                    "a\x01\x01"sv,
                                    "a\x02"sv,
                                    "a\xFF"sv,
                                    "a\xFE"sv,
                                    "aa"sv,
                                    "ab"sv,
                                    "b"sv,
                                    "\0"sv,
                                    "\0\0"sv,
                                    "\x01"sv,
                                    "\x02"sv,
                                    "\xFF"sv,
                                    "\xFF\0"sv,
                                    "abcdefgh"sv,
                                    "abcdefgh\0"sv,
                                    "abcdefg\0"sv,
                                    "abcdefghi"sv,
                                    "\xC3\xA9t\xC3\xA9"sv,
                                    "a longer text that takes several words of eight bytes"sv};
  for (const std::string_view text : texts) {
    pool.push_back(Text(text));
    pool.push_back(Text(text, Type::kCode));
  }
  pool.push_back(Text("a", Type::kSymbol));
  pool.push_back(Text("symbol", Type::kSymbol));
  for (const std::string_view code : {"f()"sv, "f()\0g"sv, ""sv}) {
    pool.push_back(CodeWithScope(code, Object({})));
    pool.push_back(
        CodeWithScope(code, Object({{"x", Double(2.5)}, {"y", Text("s", Type::kSymbol)}})));
  }
  return pool;
}

inline std::vector<bson::OwnedValue> NestedPool() {
  using bson::Type;
  std::vector<bson::OwnedValue> pool;
  const bson::OwnedValue empty = Object({});
  pool.push_back(empty);
  pool.push_back(Array({}));
  for (const bson::OwnedValue& value :
       {Int32(1), Int32(-1), Double(1.5), Text("x"), Text(""), Plain(Type::kNull),
        Plain(Type::kMinKey), Plain(Type::kMaxKey), empty, Array({}), Array({Int32(1)}),
        Object({{"a", Int32(1)}})}) {
    pool.push_back(Object({{"a", value}}));
    pool.push_back(Object({{"b", value}}));
    pool.push_back(Object({{"", value}}));
    pool.push_back(Object({{"a\x01", value}}));
    pool.push_back(Object({{"a", value}, {"b", Int32(2)}}));
    pool.push_back(Array({value}));
    pool.push_back(Array({value, value}));
  }
  return pool;
}

inline std::vector<bson::OwnedValue> FixedPool() {
  using bson::Type;
  std::vector<bson::OwnedValue> pool;
  for (const Type type : {Type::kMinKey, Type::kMaxKey, Type::kNull, Type::kUndefined}) {
    pool.push_back(Plain(type));
  }
  for (const uint8_t subtype : std::initializer_list<uint8_t>{0, 2, 4, 128, 255}) {
    for (const size_t length : {0u, 1u, 16u, 254u, 255u, 256u}) {
      pool.push_back(Binary(subtype, std::string(length, 'b')));
      pool.push_back(Binary(subtype, std::string(length, '\0')));
    }
  }
  for (const char byte : {'\0', '\x01', '\x7F', '\xFF'}) {
    pool.push_back({Type::kObjectId, std::string(12, byte)});
    pool.push_back({Type::kObjectId, std::string(11, 'o') + byte});
    pool.push_back(DbPointer("db.c", std::string(12, byte)));
    pool.push_back({Type::kBool, std::string(1, byte == '\0' ? 0 : 1)});
  }
  pool.push_back(DbPointer("db.longer", std::string(12, 'x')));
  for (const int64_t number :
       {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{1} << 40, std::numeric_limits<int64_t>::min(),
        std::numeric_limits<int64_t>::max()}) {
    pool.push_back({Type::kDate, BytesOf(number)});
    pool.push_back({Type::kTimestamp, BytesOf(number)});
  }
  for (const auto& [pattern, options] : std::vector<std::pair<const char*, const char*>>{
           {"", ""}, {"", "i"}, {"a", ""}, {"a", "i"}, {"ab", ""}, {"a\x01", "i"}, {"a", "im"}}) {
    pool.push_back(Regex(pattern, options));
  }
  return pool;
}

inline std::vector<bson::OwnedValue> OtherPool() {
  return Joined({TextPool(), NestedPool(), FixedPool()});
}

inline std::vector<bson::OwnedValue> ValuePool() { return Joined({NumberPool(), OtherPool()}); }

// A random value; few different ones of each kind, so that equal and nearly equal ones meet.
class ValueMaker {
 public:
  explicit ValueMaker(uint64_t seed) : random_(seed), pool_(ValuePool()) {}

  bson::OwnedValue Next(int depth = 3) {
    switch (random_.Uniform(depth > 0 ? 8 : 6)) {
      case 0:
        return Number();
      case 1:
        return Text(SomeBytes());
      case 6:
        return Nested(bson::Type::kObject, depth);
      case 7:
        return Nested(bson::Type::kArray, depth);
      default:
        return pool_[random_.Uniform(pool_.size())];
    }
  }

  bson::OwnedValue Number() {
    const int64_t small = static_cast<int64_t>(random_.Uniform(2001)) - 1000;
    switch (random_.Uniform(6)) {
      case 0:
        return Int32(static_cast<int32_t>(small));
      case 1:
        return Int64(static_cast<int64_t>(random_.Next64()) >> random_.Uniform(64));
      case 2:
        return Double(static_cast<double>(small) / 8);
      case 3:
        return Double(
            std::ldexp(random_.Double() - 0.5, static_cast<int>(random_.Uniform(2200)) - 1100));
      case 4:
        return Decimal(std::to_string(small) + "E-" + std::to_string(random_.Uniform(4)));
      default:
        return Decimal(std::to_string(static_cast<int64_t>(random_.Next64())) + "E" +
                       std::to_string(static_cast<int>(random_.Uniform(100)) - 60));
    }
  }

  base::Random& random() { return random_; }

 private:
  std::string SomeBytes() {
    std::string bytes;
    for (uint64_t i = random_.Uniform(20); i > 0; --i)
      bytes.push_back(
          "\0\x01\x02"
          "ab\xFE\xFF"[random_.Uniform(7)]);
    return bytes;
  }

  bson::OwnedValue Nested(bson::Type type, int depth) {
    std::vector<std::pair<std::string, bson::OwnedValue>> fields;
    const uint64_t count = random_.Uniform(4);
    for (uint64_t i = 0; i < count; ++i) {
      std::string name = std::to_string(i);
      if (type == bson::Type::kObject)
        name = std::string(random_.Uniform(3), static_cast<char>('a' + random_.Uniform(2)));
      fields.emplace_back(std::move(name), Next(depth - 1));
    }
    return Object(fields, type);
  }

  base::Random random_;
  std::vector<bson::OwnedValue> pool_;
};

inline std::string Encoded(const bson::OwnedValue& value,
                           Direction direction = Direction::kAscending) {
  std::string out;
  AppendEncoded(value.value(), direction, &out);
  return out;
}

// Type and bytes, for messages.
inline std::string Show(const bson::OwnedValue& value) {
  std::string out = "type " + std::to_string(static_cast<int>(value.value().type()));
  if (value.value().Is(bson::Type::kDecimal128)) {
    out += " " + bson::DecimalToString(value.value().AsDecimal128());
  } else if (value.value().IsNumber()) {
    char text[40];
    std::snprintf(text, sizeof(text), " %.20g", bson::ToDouble(value.value()));
    out += text;
  }
  out += " bytes";
  for (const char byte : value.value().Bytes().substr(0, 80)) {
    char hex[4];
    std::snprintf(hex, sizeof(hex), " %02x", static_cast<uint8_t>(byte));
    out += hex;
  }
  return out;
}

inline int SignOf(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Compares every pair of values with every pair of encodings, both ways.
inline void ExpectSameOrder(const std::vector<bson::OwnedValue>& pool) {
  for (const Direction direction : {Direction::kAscending, Direction::kDescending}) {
    std::vector<std::string> keys;
    for (const bson::OwnedValue& value : pool) keys.push_back(Encoded(value, direction));
    const int way = direction == Direction::kAscending ? 1 : -1;
    int wrong = 0;
    for (size_t i = 0; i < pool.size(); ++i) {
      for (size_t j = 0; j < pool.size(); ++j) {
        const int expected = way * SignOf(bson::Compare(pool[i].value(), pool[j].value()));
        if (SignOf(keys[i].compare(keys[j])) == expected) continue;
        ADD_FAILURE() << "direction " << way << "\n  " << Show(pool[i]) << "\n  " << Show(pool[j])
                      << "\n  values " << expected << ", keys " << SignOf(keys[i].compare(keys[j]));
        if (++wrong > 5) return;
      }
    }
  }
}

// Encodes and decodes, both ways.
inline void ExpectRoundTrip(const bson::OwnedValue& value) {
  for (const Direction direction : {Direction::kAscending, Direction::kDescending}) {
    std::string encoded = Encoded(value, direction) + "rest";
    std::string type_bits;
    AppendTypeBits(value.value(), &type_bits);
    type_bits += "more";
    std::string_view key = encoded, bits = type_bits;
    const auto decoded = DecodeValue(&key, &bits, direction);
    ASSERT_TRUE(decoded.ok()) << Show(value) << " " << decoded.status();
    EXPECT_TRUE(bson::Identical(decoded->value(), value.value()))
        << Show(value) << "\n  " << Show(*decoded);
    EXPECT_EQ(key, "rest");
    EXPECT_EQ(bits, "more");
  }
}

}  // namespace evenkeel::storage
