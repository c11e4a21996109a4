// The bump allocator behind computed values, and building documents in it.
#include "query/expr/arena.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace evenkeel::query {
namespace {

constexpr size_t kFirstBlockBytes = 4096;
constexpr size_t kBlockBytesMax = 1u << 20;

}  // namespace

char* EvalArena::AllocateInNewBlock(size_t bytes) {
  const size_t wish =
      blocks_.empty() ? kFirstBlockBytes : std::min(blocks_.back().size * 2, kBlockBytesMax);
  const size_t size = std::max(wish, bytes);
  blocks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
  held_bytes_ += size;
  at_ = blocks_.back().bytes.get() + bytes;
  end_ = blocks_.back().bytes.get() + size;
  return blocks_.back().bytes.get();
}

bool EvalArena::Extend(const char* allocation, size_t old_bytes, size_t new_bytes) {
  const size_t old_rounded = (old_bytes + 7) & ~size_t{7};
  const size_t new_rounded = (new_bytes + 7) & ~size_t{7};
  if (allocation + old_rounded != at_) return false;
  if (static_cast<size_t>(end_ - at_) < new_rounded - old_rounded) return false;
  at_ += new_rounded - old_rounded;
  return true;
}

void EvalArena::Reset() {
  if (blocks_.empty()) return;
  if (blocks_.size() > 1 || blocks_.back().size > kBlockBytesMax) {
    // Keeps the largest block of ordinary size, so that the next document of this kind fits in it.
    while (blocks_.size() > 1 && blocks_.back().size > kBlockBytesMax) blocks_.pop_back();
    if (blocks_.back().size > kBlockBytesMax) {
      blocks_.clear();
      at_ = end_ = nullptr;
      held_bytes_ = 0;
      return;
    }
    blocks_.erase(blocks_.begin(), blocks_.end() - 1);
  }
  held_bytes_ = blocks_.back().size;
  at_ = blocks_.back().bytes.get();
  end_ = at_ + blocks_.back().size;
}

bson::Value EvalArena::Number(const bson::Number& number) {
  switch (number.type) {
    case bson::Type::kInt32:
      return Int32(static_cast<int32_t>(number.integer));
    case bson::Type::kInt64:
      return Int64(number.integer);
    case bson::Type::kDouble:
      return Double(number.real);
    default:
      return Decimal(number.decimal);
  }
}

bson::Value EvalArena::String(std::string_view head, std::string_view tail) {
  const size_t length = head.size() + tail.size();
  char* bytes = Allocate(length + 5);
  const auto prefix = static_cast<int32_t>(length + 1);
  std::memcpy(bytes, &prefix, 4);
  if (!head.empty()) std::memcpy(bytes + 4, head.data(), head.size());
  if (!tail.empty()) std::memcpy(bytes + 4 + head.size(), tail.data(), tail.size());
  bytes[4 + length] = '\0';
  return bson::Value(bson::Type::kString, bytes);
}

bson::Value EvalArena::Copy(bson::Value value) {
  const std::string_view bytes = value.Bytes();
  if (bytes.empty()) return value.missing() ? value : bson::Value(value.type(), "");
  char* copy = Allocate(bytes.size());
  std::memcpy(copy, bytes.data(), bytes.size());
  return bson::Value(value.type(), copy);
}

bson::Value EvalArena::Count(size_t count) {
  if (count <= INT32_MAX) return Int32(static_cast<int32_t>(count));
  return Int64(static_cast<int64_t>(count));
}

bson::Value TrueValue() { return bson::Value(bson::Type::kBool, "\x01"); }
bson::Value FalseValue() { return bson::Value(bson::Type::kBool, "\0"); }
bson::Value EmptyArray() { return bson::Value(bson::Type::kArray, "\x05\0\0\0\0"); }
bson::Value EmptyString() { return bson::Value(bson::Type::kString, "\x01\0\0\0\0"); }

char* ArenaBuilder::Reserve(size_t bytes) {
  if (data_ == nullptr) {
    capacity_ = std::max<size_t>(128, bytes + 8);
    data_ = arena_.Allocate(capacity_);
    size_ = 4;  // the length, written by Finish
  } else if (size_ + bytes > capacity_) {
    const size_t wanted = std::max(capacity_ * 2, size_ + bytes);
    if (!arena_.Extend(data_, capacity_, wanted)) {
      char* moved = arena_.Allocate(wanted);
      std::memcpy(moved, data_, size_);
      data_ = moved;
    }
    capacity_ = wanted;
  }
  char* out = data_ + size_;
  size_ += bytes;
  return out;
}

void ArenaBuilder::Append(std::string_view key, bson::Value value) {
  if (value.missing()) return;
  const std::string_view bytes = value.Bytes();
  char* at = Reserve(1 + key.size() + 1 + bytes.size());
  *at++ = static_cast<char>(value.type());
  std::memcpy(at, key.data(), key.size());
  at += key.size();
  *at++ = '\0';
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
}

void ArenaBuilder::Add(bson::Value value) {
  char digits[20];
  char* begin = digits + sizeof(digits);
  size_t rest = count_++;
  do {
    *--begin = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  const std::string_view key(begin, static_cast<size_t>(digits + sizeof(digits) - begin));
  Append(key, value.missing() ? NullValue() : value);
}

bson::Value ArenaBuilder::Finish() {
  *Reserve(1) = '\0';
  const auto length = static_cast<int32_t>(size_);
  std::memcpy(data_, &length, 4);
  return bson::Value(type_, data_);
}

}  // namespace evenkeel::query
