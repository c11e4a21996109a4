// Views into BSON bytes: values, elements, documents. Nothing is copied, nothing allocated.
//
// The bytes must have passed bson::Validate once (base/bson/validate.h), or come from our own
// builder; views trust them. A view is valid as long as the bytes it points into. Source:
// bsonspec.org 1.1.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/types.h"

namespace evenkeel::bson {

static_assert(std::endian::native == std::endian::little, "BSON is read in place");

// BSON's type bytes. kEod is the terminator and stands for "missing" in a Value.
enum class Type : uint8_t {
  kEod = 0x00,
  kDouble = 0x01,
  kString = 0x02,
  kObject = 0x03,
  kArray = 0x04,
  kBinary = 0x05,
  kUndefined = 0x06,
  kObjectId = 0x07,
  kBool = 0x08,
  kDate = 0x09,
  kNull = 0x0A,
  kRegex = 0x0B,
  kDbPointer = 0x0C,
  kCode = 0x0D,
  kSymbol = 0x0E,
  kCodeWithScope = 0x0F,
  kInt32 = 0x10,
  kTimestamp = 0x11,
  kInt64 = 0x12,
  kDecimal128 = 0x13,
  kMaxKey = 0x7F,
  kMinKey = 0xFF,
};

class View;

template <typename T>
T LoadLittle(const char* bytes) {
  T out;
  std::memcpy(&out, bytes, sizeof(T));
  return out;
}

// The 16 bytes of a decimal128, low half first.
struct Decimal128Bits {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(Decimal128Bits, Decimal128Bits) = default;
};

namespace internal {

// How the size of a value follows from its type: a number of bytes, plus the value's length field
// where it has one.
enum class SizeKind : uint8_t { kFixed, kLength, kRegex };
struct SizeRule {
  SizeKind kind = SizeKind::kFixed;
  uint8_t bytes = 0;
};

constexpr std::array<SizeRule, 256> MakeSizeRules() {
  std::array<SizeRule, 256> rules{};
  const auto set = [&rules](Type type, SizeKind kind, uint8_t bytes) {
    rules[static_cast<uint8_t>(type)] = {kind, bytes};
  };
  set(Type::kDouble, SizeKind::kFixed, 8);
  set(Type::kString, SizeKind::kLength, 4);
  set(Type::kObject, SizeKind::kLength, 0);
  set(Type::kArray, SizeKind::kLength, 0);
  set(Type::kBinary, SizeKind::kLength, 5);
  set(Type::kObjectId, SizeKind::kFixed, 12);
  set(Type::kBool, SizeKind::kFixed, 1);
  set(Type::kDate, SizeKind::kFixed, 8);
  set(Type::kRegex, SizeKind::kRegex, 0);
  set(Type::kDbPointer, SizeKind::kLength, 4 + 12);
  set(Type::kCode, SizeKind::kLength, 4);
  set(Type::kSymbol, SizeKind::kLength, 4);
  set(Type::kCodeWithScope, SizeKind::kLength, 0);
  set(Type::kInt32, SizeKind::kFixed, 4);
  set(Type::kTimestamp, SizeKind::kFixed, 8);
  set(Type::kInt64, SizeKind::kFixed, 8);
  set(Type::kDecimal128, SizeKind::kFixed, 16);
  return rules;
}

inline constexpr std::array<SizeRule, 256> kSizeRules = MakeSizeRules();

}  // namespace internal

struct BinaryView {
  uint8_t subtype = 0;
  std::string_view bytes;  // without the inner length of subtype 2
};

struct RegexView {
  std::string_view pattern;
  std::string_view options;
};

// One BSON value in place: a type and where its bytes are. Default-constructed: missing.
class Value {
 public:
  constexpr Value() = default;
  // `data` points at the value's bytes (after the field name).
  constexpr Value(Type type, const char* data) : data_(data), type_(type) {}

  Type type() const { return type_; }
  const char* data() const { return data_; }
  bool missing() const { return type_ == Type::kEod; }
  bool Is(Type type) const { return type_ == type; }
  bool IsNumber() const {
    return type_ == Type::kInt32 || type_ == Type::kInt64 || type_ == Type::kDouble ||
           type_ == Type::kDecimal128;
  }
  // True for null, undefined and missing: what $ifNull and comparison with null treat alike.
  bool IsNullish() const {
    return type_ == Type::kNull || type_ == Type::kUndefined || type_ == Type::kEod;
  }

  // Accessors require the type of their name.
  double AsDouble() const { return Load<double>(Type::kDouble); }
  int32_t AsInt32() const { return Load<int32_t>(Type::kInt32); }
  int64_t AsInt64() const { return Load<int64_t>(Type::kInt64); }
  int64_t AsDateMillis() const { return Load<int64_t>(Type::kDate); }
  bool AsBool() const { return Load<char>(Type::kBool) != 0; }
  Timestamp AsTimestamp() const { return {Load<uint64_t>(Type::kTimestamp)}; }
  Decimal128Bits AsDecimal128() const {
    EVENKEEL_DCHECK(type_ == Type::kDecimal128);
    return {LoadLittle<uint64_t>(data_), LoadLittle<uint64_t>(data_ + 8)};
  }
  std::string_view AsObjectId() const { return {data_, 12}; }
  // Strings, symbols and code.
  std::string_view AsString() const {
    EVENKEEL_DCHECK(type_ == Type::kString || type_ == Type::kSymbol || type_ == Type::kCode);
    return {data_ + 4, static_cast<size_t>(LoadLittle<int32_t>(data_)) - 1};
  }
  View AsDocument() const;  // for objects and arrays
  BinaryView AsBinary() const;
  RegexView AsRegex() const;
  std::string_view AsCodeWithScopeCode() const;
  View AsCodeWithScopeScope() const;
  std::string_view AsDbPointerNamespace() const;
  std::string_view AsDbPointerId() const;

  // Number of bytes of the value itself, 0 for types without bytes.
  size_t SizeBytes() const {
    const internal::SizeRule rule = internal::kSizeRules[static_cast<uint8_t>(type_)];
    if (rule.kind == internal::SizeKind::kFixed) return rule.bytes;
    if (rule.kind == internal::SizeKind::kRegex) return RegexSizeBytes();
    return rule.bytes + static_cast<size_t>(LoadLittle<int32_t>(data_));
  }
  std::string_view Bytes() const { return {data_, SizeBytes()}; }

 private:
  template <typename T>
  T Load([[maybe_unused]] Type type) const {
    EVENKEEL_DCHECK(type_ == type);
    return LoadLittle<T>(data_);
  }
  size_t RegexSizeBytes() const;

  const char* data_ = nullptr;
  Type type_ = Type::kEod;
};

struct Element {
  std::string_view key;
  Value value;
};

// A document or array in place.
class View {
 public:
  // The empty document.
  View() : data_("\x05\0\0\0\0") {}
  explicit View(const char* data) : data_(data) {}

  const char* data() const { return data_; }
  size_t SizeBytes() const { return static_cast<size_t>(LoadLittle<int32_t>(data_)); }
  std::string_view Bytes() const { return {data_, SizeBytes()}; }
  bool empty() const { return SizeBytes() <= 5; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using pointer = const Element*;
    using reference = const Element&;

    Iterator() = default;  // the end
    explicit Iterator(const char* at) { Load(at); }
    const Element& operator*() const { return element_; }
    const Element* operator->() const { return &element_; }
    Iterator& operator++() {
      Load(element_.value.data() + element_.value.SizeBytes());
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.element_.value.missing() == b.element_.value.missing();
    }

   private:
    void Load(const char* at) {
      const auto type = static_cast<Type>(static_cast<uint8_t>(*at));
      if (type == Type::kEod) {
        element_ = {};
        return;
      }
      const size_t length = std::strlen(at + 1);
      element_ = {{at + 1, length}, Value(type, at + 2 + length)};
    }
    Element element_;
  };

  Iterator begin() const { return Iterator(data_ + 4); }
  Iterator end() const { return {}; }

  // The first field called `key`, missing if there is none. No dots: see base/bson/path.h.
  Value operator[](std::string_view key) const;
  bool Contains(std::string_view key) const { return !(*this)[key].missing(); }
  // The first element; its value is missing for an empty document.
  Element Front() const { return *begin(); }
  size_t CountFields() const;

 private:
  const char* data_;
};

inline View Value::AsDocument() const {
  EVENKEEL_DCHECK(type_ == Type::kObject || type_ == Type::kArray);
  return View(data_);
}

}  // namespace evenkeel::bson
