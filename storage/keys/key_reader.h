// Reads the bytes of an encoded value from the front, turning inverted ones back. Internal to
// storage/keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel::storage {

class KeyReader {
 public:
  // `mask` is 0xFF for a descending field.
  KeyReader(std::string_view bytes, uint8_t mask) : bytes_(bytes), mask_(mask) {}

  size_t left() const { return bytes_.size(); }
  std::string_view rest() const { return bytes_; }
  // Inverts everything read from here on: the bytes of a negative number.
  void Invert() { mask_ ^= 0xFF; }

  std::optional<uint8_t> Peek() const {
    if (bytes_.empty()) return std::nullopt;
    return static_cast<uint8_t>(static_cast<uint8_t>(bytes_[0]) ^ mask_);
  }
  std::optional<uint8_t> Byte() {
    const std::optional<uint8_t> byte = Peek();
    if (byte.has_value()) bytes_.remove_prefix(1);
    return byte;
  }
  // A big-endian number of `count` bytes, at most 8.
  std::optional<uint64_t> Number(size_t count) {
    if (bytes_.size() < count) return std::nullopt;
    uint64_t number = 0;
    for (size_t i = 0; i < count; ++i) number = number << 8 | *Byte();
    return number;
  }
  // Appends the next `count` bytes to `out`.
  bool Copy(size_t count, std::string* out) {
    if (bytes_.size() < count) return false;
    for (size_t i = 0; i < count; ++i) out->push_back(static_cast<char>(*Byte()));
    return true;
  }

 private:
  std::string_view bytes_;
  uint8_t mask_;
};

// Reads type bits; behind their end everything is zero.
class TypeBitsReader {
 public:
  explicit TypeBitsReader(std::string_view bytes) : bytes_(bytes) {}

  std::string_view rest() const { return bytes_; }
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return byte;
  }
  void Copy(size_t count, std::string* out) {
    for (size_t i = 0; i < count; ++i) out->push_back(static_cast<char>(Byte()));
  }

 private:
  std::string_view bytes_;
};

}  // namespace evenkeel::storage
