// Implements decoding: from the bytes of an encoded value and its type bits back to the BSON value.
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "base/status.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/key_format.h"
#include "storage/keys/key_reader.h"
#include "storage/keys/number_key.h"

namespace evenkeel::storage {
namespace {

using bson::Type;

constexpr int kDepthMax = 250;  // above what validation lets in

absl::Status Damaged(std::string_view what) {
  return Error(ErrorCode::kInvalidBSON, "damaged key: {}", what);
}

template <typename T>
void Append(T number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Writes the size of what was appended since `start` over the four bytes there.
void PatchLength(size_t start, std::string* out) {
  const auto length = static_cast<int32_t>(out->size() - start);
  std::memcpy(out->data() + start, &length, sizeof(length));
}

class Decoder {
 public:
  Decoder(std::string_view encoded, std::string_view type_bits, uint8_t mask)
      : key_(encoded, mask), type_bits_(type_bits) {}

  std::string_view encoded() const { return key_.rest(); }
  std::string_view type_bits() const { return type_bits_.rest(); }

  // Appends the bytes of one value.
  absl::Status Decode(std::string* out, Type* type) {
    const std::optional<uint8_t> first = key_.Peek();
    if (!first.has_value()) return Damaged("it ends early");
    if (*first >= key_format::kNumberMin && *first <= key_format::kNumberMax) {
      return DecodeNumber(&key_, &type_bits_, out, type);
    }
    key_.Byte();
    return DecodeBody(*first, out, type);
  }

 private:
  absl::Status DecodeBody(uint8_t first, std::string* out, Type* type) {
    switch (first) {
      case key_format::kMinKey:
        return Simple(Type::kMinKey, type);
      case key_format::kMaxKey:
        return Simple(Type::kMaxKey, type);
      case key_format::kUndefined:
        return Simple(Type::kUndefined, type);
      case key_format::kNull:
        return Simple(type_bits_.Byte() == key_format::kTypeMissing ? Type::kEod : Type::kNull,
                      type);
      case key_format::kFalse:
      case key_format::kTrue:
        out->push_back(first == key_format::kTrue ? 1 : 0);
        return Simple(Type::kBool, type);
      case key_format::kString:
        *type = type_bits_.Byte() == key_format::kTypeSymbol ? Type::kSymbol : Type::kString;
        return DecodeString(out);
      case key_format::kCode:
        *type = Type::kCode;
        return DecodeString(out);
      case key_format::kObject:
        *type = Type::kObject;
        return DecodeFields(/*with_names=*/true, out);
      case key_format::kArray:
        *type = Type::kArray;
        return DecodeFields(/*with_names=*/false, out);
      case key_format::kCodeWithScope:
        return DecodeCodeWithScope(out, type);
      default:
        return DecodeFixed(first, out, type);
    }
  }

  absl::Status DecodeFixed(uint8_t first, std::string* out, Type* type) {
    switch (first) {
      case key_format::kObjectId:
        *type = Type::kObjectId;
        return Check(key_.Copy(key_format::kObjectIdBytes, out));
      case key_format::kDate:
      case key_format::kTimestamp: {
        const std::optional<uint64_t> number = key_.Number(8);
        if (!number.has_value()) return Check(false);
        const bool is_date = first == key_format::kDate;
        Append(is_date ? *number ^ uint64_t{1} << 63 : *number, out);
        return Simple(is_date ? Type::kDate : Type::kTimestamp, type);
      }
      case key_format::kBinary:
        *type = Type::kBinary;
        return DecodeCounted(/*more=*/1, out);  // the subtype
      case key_format::kDbPointer:
        *type = Type::kDbPointer;
        return DecodeCounted(/*more=*/key_format::kObjectIdBytes, out);
      case key_format::kRegex:
        *type = Type::kRegex;
        EVENKEEL_RETURN_IF_ERROR(CopyName(out));
        return CopyName(out);
      default:
        return Damaged(fmt::format("unknown class {}", first));
    }
  }

  static absl::Status Simple(Type found, Type* type) {
    *type = found;
    return absl::OkStatus();
  }

  static absl::Status Check(bool whole) {
    return whole ? absl::OkStatus() : Damaged("it ends early");
  }

  // A length and as many bytes, and `more` bytes that the length does not count.
  absl::Status DecodeCounted(size_t more, std::string* out) {
    std::optional<uint64_t> length = key_.Byte();
    if (length == key_format::kLongLength) length = key_.Number(sizeof(uint32_t));
    if (!length.has_value() || *length > key_.left()) return Check(false);
    Append(static_cast<int32_t>(*length), out);
    return Check(key_.Copy(*length + more, out));
  }

  // A string with its length and final zero.
  absl::Status DecodeString(std::string* out) {
    const size_t start = out->size();
    Append(int32_t{0}, out);
    for (;;) {
      std::optional<uint8_t> byte = key_.Byte();
      if (byte == key_format::kEnd) break;
      if (byte == key_format::kEscape) {
        byte = key_.Byte();
        if (byte != 1 && byte != 2) return Damaged("string");
        --*byte;
      }
      if (!byte.has_value()) return Check(false);
      out->push_back(static_cast<char>(*byte));
    }
    out->push_back('\0');
    const auto length = static_cast<int32_t>(out->size() - start - sizeof(int32_t));
    std::memcpy(out->data() + start, &length, sizeof(length));
    return absl::OkStatus();
  }

  // Bytes up to and with a zero.
  absl::Status CopyName(std::string* out) {
    for (;;) {
      const std::optional<uint8_t> byte = key_.Byte();
      if (!byte.has_value()) return Check(false);
      out->push_back(static_cast<char>(*byte));
      if (*byte == 0) return absl::OkStatus();
    }
  }

  absl::Status DecodeFields(bool with_names, std::string* out) {
    if (++depth_ > kDepthMax) return Damaged("nested too deep");
    const size_t start = out->size();
    Append(int32_t{0}, out);
    for (uint64_t i = 0;; ++i) {
      const std::optional<uint8_t> first = key_.Peek();
      if (!first.has_value()) return Check(false);
      if (*first == key_format::kEnd) break;
      const size_t type_at = out->size();
      out->push_back('\0');
      if (with_names) {
        key_.Byte();
        EVENKEEL_RETURN_IF_ERROR(CopyName(out));
      } else {
        out->append(fmt::format_int(i).c_str());
        out->push_back('\0');
      }
      Type type = Type::kEod;
      EVENKEEL_RETURN_IF_ERROR(Decode(out, &type));
      if (type == Type::kEod) return Damaged("a missing field");
      (*out)[type_at] = static_cast<char>(type);
    }
    key_.Byte();
    out->push_back('\0');
    PatchLength(start, out);
    --depth_;
    return absl::OkStatus();
  }

  absl::Status DecodeCodeWithScope(std::string* out, Type* type) {
    *type = Type::kCodeWithScope;
    const size_t start = out->size();
    Append(int32_t{0}, out);
    EVENKEEL_RETURN_IF_ERROR(DecodeString(out));
    EVENKEEL_RETURN_IF_ERROR(DecodeFields(/*with_names=*/true, out));
    PatchLength(start, out);
    return absl::OkStatus();
  }

  KeyReader key_;
  TypeBitsReader type_bits_;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<bson::OwnedValue> DecodeValue(std::string_view* encoded, std::string_view* type_bits,
                                             Direction direction) {
  Decoder decoder(*encoded, *type_bits, direction == Direction::kAscending ? 0 : 0xFF);
  std::string bytes;
  Type type = Type::kEod;
  EVENKEEL_RETURN_IF_ERROR(decoder.Decode(&bytes, &type));
  *encoded = decoder.encoded();
  *type_bits = decoder.type_bits();
  return bson::OwnedValue(type, std::move(bytes));
}

}  // namespace evenkeel::storage
