// Implements the encoding of values, and the type bits beside it.
#include "storage/keys/key_encoding.h"

#include <cstring>
#include <optional>

#include "base/check.h"
#include "storage/keys/key_format.h"
#include "storage/keys/number_key.h"

namespace evenkeel::storage {
namespace {

using bson::Type;
using bson::Value;

void Push(uint8_t byte, std::string* out) { out->push_back(static_cast<char>(byte)); }

void AppendBigEndian(uint64_t number, std::string* out) {
  const uint64_t swapped = __builtin_bswap64(number);
  out->append(reinterpret_cast<const char*>(&swapped), sizeof(swapped));
}

// True when one of the eight bytes is below 2, that is, must be escaped.
bool HasEscaped(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  return ((bytes - 2 * kOnes) & ~bytes & (kOnes << 7)) != 0;
}

// The number of bytes at the front of `text` that need no escape.
size_t PlainBytes(std::string_view text) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    if (HasEscaped(bson::LoadLittle<uint64_t>(text.data() + at))) break;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) > key_format::kEscape) ++at;
  return at;
}

void AppendEscaped(std::string_view text, std::string* out) {
  for (;;) {
    const size_t plain = PlainBytes(text);
    out->append(text.substr(0, plain));
    if (plain == text.size()) break;
    Push(key_format::kEscape, out);
    Push(static_cast<uint8_t>(text[plain] + 1), out);
    text.remove_prefix(plain + 1);
  }
  Push(key_format::kEnd, out);
}

// Shorter ones first.
void AppendLength(size_t length, std::string* out) {
  if (length < key_format::kLongLength) {
    Push(static_cast<uint8_t>(length), out);
    return;
  }
  Push(key_format::kLongLength, out);
  const uint32_t swapped = __builtin_bswap32(static_cast<uint32_t>(length));
  out->append(reinterpret_cast<const char*>(&swapped), sizeof(swapped));
}

// The first byte of a type's encodings; of numbers one that stands for all.
uint8_t FirstByte(Type type) {
  switch (type) {
    case Type::kMinKey:
      return key_format::kMinKey;
    case Type::kUndefined:
      return key_format::kUndefined;
    case Type::kEod:
    case Type::kNull:
      return key_format::kNull;
    case Type::kDouble:
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDecimal128:
      return key_format::kZero;
    case Type::kString:
    case Type::kSymbol:
      return key_format::kString;
    case Type::kObject:
      return key_format::kObject;
    case Type::kArray:
      return key_format::kArray;
    case Type::kBinary:
      return key_format::kBinary;
    case Type::kObjectId:
      return key_format::kObjectId;
    case Type::kBool:
      return key_format::kFalse;
    case Type::kDate:
      return key_format::kDate;
    case Type::kTimestamp:
      return key_format::kTimestamp;
    case Type::kRegex:
      return key_format::kRegex;
    case Type::kDbPointer:
      return key_format::kDbPointer;
    case Type::kCode:
      return key_format::kCode;
    case Type::kCodeWithScope:
      return key_format::kCodeWithScope;
    case Type::kMaxKey:
      return key_format::kMaxKey;
  }
  return key_format::kMaxKey;
}

class Encoder {
 public:
  Encoder(const bson::StringComparator* collation, std::string* out)
      : collation_(collation), out_(out) {}

  void Append(Value value) {
    if (value.IsNumber()) return AppendNumberKey(value, out_);
    if (value.Is(Type::kBool)) {
      return Push(value.AsBool() ? key_format::kTrue : key_format::kFalse, out_);
    }
    Push(FirstByte(value.type()), out_);
    AppendBody(value);
  }

 private:
  // What follows the first byte.
  void AppendBody(Value value) {
    switch (value.type()) {
      case Type::kString:
      case Type::kSymbol:
        return AppendString(value.AsString());
      case Type::kObject:
        return AppendFields(value.AsDocument(), /*with_names=*/true);
      case Type::kArray:
        return AppendFields(value.AsDocument(), /*with_names=*/false);
      case Type::kBinary:
      case Type::kDbPointer:
        // Length, and all bytes behind it.
        AppendLength(static_cast<size_t>(bson::LoadLittle<int32_t>(value.data())), out_);
        out_->append(value.Bytes().substr(sizeof(int32_t)));
        return;
      case Type::kObjectId:
        out_->append(value.AsObjectId());
        return;
      case Type::kDate:
        return AppendBigEndian(static_cast<uint64_t>(value.AsDateMillis()) ^ uint64_t{1} << 63,
                               out_);
      case Type::kTimestamp:
        return AppendBigEndian(value.AsTimestamp().bits, out_);
      case Type::kRegex:
        out_->append(value.Bytes());  // two strings that end in zero bytes
        return;
      case Type::kCode:
        return AppendEscaped(value.AsString(), out_);
      case Type::kCodeWithScope:
        AppendEscaped(value.AsCodeWithScopeCode(), out_);
        return Encoder(nullptr, out_).AppendFields(value.AsCodeWithScopeScope(), true);
      default:
        return;  // MinKey, MaxKey, null, undefined, missing
    }
  }

  void AppendString(std::string_view text) {
    if (collation_ == nullptr) {
      AppendEscaped(text, out_);
    } else {
      AppendEscaped(collation_->SortKey(text), out_);
    }
  }

  // Of each field the type's class, the name, the value.
  void AppendFields(bson::View document, bool with_names) {
    for (const bson::Element& element : document) {
      if (with_names) {
        Push(FirstByte(element.value.type()), out_);
        out_->append(element.key);
        Push(key_format::kEnd, out_);
      }
      Append(element.value);
    }
    Push(key_format::kEnd, out_);
  }

  const bson::StringComparator* const collation_;
  std::string* const out_;
};

struct RankBounds {
  uint8_t lowest = 0;
  uint8_t highest = 0;
};

RankBounds BoundsOf(int rank) {
  constexpr Type kTypes[] = {Type::kMinKey,   Type::kUndefined, Type::kNull,  Type::kInt32,
                             Type::kString,   Type::kObject,    Type::kArray, Type::kBinary,
                             Type::kObjectId, Type::kBool,      Type::kDate,  Type::kTimestamp,
                             Type::kRegex,    Type::kDbPointer, Type::kCode,  Type::kCodeWithScope,
                             Type::kMaxKey};
  for (const Type type : kTypes) {
    if (bson::CanonicalRank(type) != rank) continue;
    const uint8_t first = FirstByte(type);
    if (type == Type::kInt32) return {key_format::kNumberMin, key_format::kNumberMax};
    if (type == Type::kBool) return {key_format::kFalse, key_format::kTrue};
    return {first, first};
  }
  EVENKEEL_CHECK(false && "no type has this rank");
  return {};
}

std::string OneByte(int byte) { return std::string(1, static_cast<char>(byte)); }

}  // namespace

void AppendEncoded(Value value, Direction direction, std::string* out,
                   const bson::StringComparator* collation) {
  const size_t start = out->size();
  Encoder(collation, out).Append(value);
  if (direction == Direction::kAscending) return;
  char* const bytes = out->data();
  for (size_t i = start; i < out->size(); ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

std::string LowestOfRank(int rank, Direction direction) {
  const RankBounds bounds = BoundsOf(rank);
  return OneByte(direction == Direction::kAscending ? bounds.lowest : 0xFF - bounds.highest);
}

std::string AboveRank(int rank, Direction direction) {
  const RankBounds bounds = BoundsOf(rank);
  return OneByte(1 + (direction == Direction::kAscending ? bounds.highest : 0xFF - bounds.lowest));
}

void AppendTypeBits(Value value, std::string* out) {
  switch (value.type()) {
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128:
      return AppendNumberTypeBits(value, out);
    case Type::kString:
    case Type::kSymbol:
      return Push(value.Is(Type::kSymbol) ? key_format::kTypeSymbol : key_format::kTypeString, out);
    case Type::kNull:
    case Type::kEod:
      return Push(value.missing() ? key_format::kTypeMissing : key_format::kTypeNull, out);
    case Type::kObject:
    case Type::kArray:
      for (const bson::Element& element : value.AsDocument()) AppendTypeBits(element.value, out);
      return;
    case Type::kCodeWithScope:
      for (const bson::Element& element : value.AsCodeWithScopeScope()) {
        AppendTypeBits(element.value, out);
      }
      return;
    default:
      return;
  }
}

}  // namespace evenkeel::storage
