// Memory for values that expressions compute: a bump allocator that is emptied between documents.
//
// A computed value is a bson::Value that points into the arena, so evaluation needs no heap once
// the first block exists. One thread at a time. Limits: blocks double up to 1 MB; the caller asks
// OverLimit where a query could ask for too much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/bson/number.h"
#include "base/bson/view.h"
#include "base/types.h"

namespace evenkeel::query {

class EvalArena {
 public:
  // What one evaluation may hold; as MongoDB's bound for arrays and strings made by one expression.
  static constexpr size_t kBytesMax = 100u << 20;

  EvalArena() = default;
  EvalArena(const EvalArena&) = delete;
  EvalArena& operator=(const EvalArena&) = delete;

  // `bytes` bytes, aligned to 8; valid until Reset.
  char* Allocate(size_t bytes) {
    const size_t rounded = (bytes + 7) & ~size_t{7};
    if (static_cast<size_t>(end_ - at_) < rounded) return AllocateInNewBlock(rounded);
    char* out = at_;
    at_ += rounded;
    return out;
  }
  // Lengthens the newest allocation in place; false when it is not the newest or the block is full.
  bool Extend(const char* allocation, size_t old_bytes, size_t new_bytes);
  // Forgets everything allocated; keeps one block for the next document.
  void Reset();
  // True when more is held than one evaluation may.
  bool OverLimit() const { return held_bytes_ > kBytesMax; }

  // Values with their own bytes.
  bson::Value Int32(int32_t value) { return Scalar(bson::Type::kInt32, value); }
  bson::Value Int64(int64_t value) { return Scalar(bson::Type::kInt64, value); }
  bson::Value Double(double value) { return Scalar(bson::Type::kDouble, value); }
  bson::Value Date(int64_t milliseconds) { return Scalar(bson::Type::kDate, milliseconds); }
  bson::Value Decimal(bson::Decimal128Bits bits) { return Scalar(bson::Type::kDecimal128, bits); }
  bson::Value TimestampValue(Timestamp value) { return Scalar(bson::Type::kTimestamp, value.bits); }
  bson::Value Number(const bson::Number& number);
  // The concatenation of two strings, as one BSON string.
  bson::Value String(std::string_view head, std::string_view tail = {});
  // Copies the bytes of `value`, which may live elsewhere.
  bson::Value Copy(bson::Value value);
  // An int32 where it fits, else an int64.
  bson::Value Count(size_t count);

 private:
  template <typename T>
  bson::Value Scalar(bson::Type type, T value) {
    char* bytes = Allocate(sizeof(T));
    std::memcpy(bytes, &value, sizeof(T));
    return bson::Value(type, bytes);
  }
  char* AllocateInNewBlock(size_t bytes);

  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
  };
  char* at_ = nullptr;
  char* end_ = nullptr;
  std::vector<Block> blocks_;
  size_t held_bytes_ = 0;  // of all blocks
};

// Constants without bytes of their own.
bson::Value TrueValue();
bson::Value FalseValue();
inline bson::Value BoolValue(bool value) { return value ? TrueValue() : FalseValue(); }
inline bson::Value NullValue() {
  static constexpr char kNothing = 0;
  return bson::Value(bson::Type::kNull, &kNothing);
}
bson::Value EmptyArray();
bson::Value EmptyString();

// Builds one document or array in an arena. Other allocations may happen between its appends.
class ArenaBuilder {
 public:
  ArenaBuilder(EvalArena& arena, bson::Type type) : arena_(arena), type_(type) {}

  // A missing value appends nothing.
  void Append(std::string_view key, bson::Value value);
  // Appends an array element with the next index as its key; a missing value becomes null.
  void Add(bson::Value value);
  // The elements appended by Add.
  size_t count() const { return count_; }
  // The finished object or array; the builder must not be used afterwards.
  bson::Value Finish();

 private:
  char* Reserve(size_t bytes);

  EvalArena& arena_;
  bson::Type type_;
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  size_t count_ = 0;
};

}  // namespace evenkeel::query
