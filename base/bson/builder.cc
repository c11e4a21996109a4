// Implements the BSON builder, array keys and new ObjectIds.
#include "base/bson/builder.h"

#include <absl/time/clock.h>

#include <atomic>
#include <charconv>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/random.h"

namespace evenkeel::bson {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kRoom = 240;  // taken with the first field: most documents need no second piece

template <typename T>
void AppendLittle(T value, std::string* out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out->append(bytes, sizeof(T));
}

// Field names and regular expressions end at a zero byte, so what follows one cannot be stored.
std::string_view UpToZero(std::string_view text) { return text.substr(0, text.find('\0')); }

void AppendCString(std::string_view text, std::string* out) {
  out->append(UpToZero(text));
  out->push_back('\0');
}

void AppendLengthAndText(std::string_view text, std::string* out) {
  EVENKEEL_CHECK(text.size() < size_t{std::numeric_limits<int32_t>::max()});
  AppendLittle(static_cast<int32_t>(text.size() + 1), out);
  out->append(text);
  out->push_back('\0');
}

}  // namespace

Builder::Builder() : bytes_(kLengthBytes, '\0'), open_{0} {}

Builder::Builder(View base) : open_{0} {
  bytes_.reserve(base.SizeBytes() + kRoom);
  bytes_.assign(base.data(), base.SizeBytes() - 1);
}

void Builder::Header(Type type, std::string_view key) {
  if (bytes_.capacity() < kRoom) bytes_.reserve(kRoom);
  bytes_.push_back(static_cast<char>(type));
  AppendCString(key, &bytes_);
}

Builder& Builder::Append(std::string_view key, Value value) {
  if (value.missing()) return *this;
  Header(value.type(), key);
  bytes_.append(value.Bytes());
  return *this;
}

Builder& Builder::Append(std::string_view key, double value) {
  Header(Type::kDouble, key);
  AppendLittle(value, &bytes_);
  return *this;
}

Builder& Builder::Append(std::string_view key, int32_t value) {
  Header(Type::kInt32, key);
  AppendLittle(value, &bytes_);
  return *this;
}

Builder& Builder::Append(std::string_view key, int64_t value) {
  Header(Type::kInt64, key);
  AppendLittle(value, &bytes_);
  return *this;
}

Builder& Builder::Append(std::string_view key, bool value) {
  Header(Type::kBool, key);
  bytes_.push_back(value ? '\1' : '\0');
  return *this;
}

Builder& Builder::Append(std::string_view key, std::string_view value) {
  Header(Type::kString, key);
  AppendLengthAndText(value, &bytes_);
  return *this;
}

Builder& Builder::Append(std::string_view key, Timestamp value) {
  Header(Type::kTimestamp, key);
  AppendLittle(value.bits, &bytes_);
  return *this;
}

Builder& Builder::AppendDocument(std::string_view key, View document) {
  Header(Type::kObject, key);
  bytes_.append(document.Bytes());
  return *this;
}

Builder& Builder::AppendArray(std::string_view key, View array) {
  Header(Type::kArray, key);
  bytes_.append(array.Bytes());
  return *this;
}

Builder& Builder::AppendDate(std::string_view key, int64_t milliseconds) {
  Header(Type::kDate, key);
  AppendLittle(milliseconds, &bytes_);
  return *this;
}

Builder& Builder::AppendObjectId(std::string_view key, std::string_view twelve_bytes) {
  EVENKEEL_CHECK(twelve_bytes.size() == 12);
  Header(Type::kObjectId, key);
  bytes_.append(twelve_bytes);
  return *this;
}

Builder& Builder::AppendBinary(std::string_view key, uint8_t subtype, std::string_view bytes) {
  constexpr uint8_t kSubtypeOld = 2;  // repeats its length inside
  EVENKEEL_CHECK(bytes.size() < size_t{std::numeric_limits<int32_t>::max()} - kLengthBytes);
  const auto length = static_cast<int32_t>(bytes.size());
  Header(Type::kBinary, key);
  AppendLittle(subtype == kSubtypeOld ? length + 4 : length, &bytes_);
  bytes_.push_back(static_cast<char>(subtype));
  if (subtype == kSubtypeOld) AppendLittle(length, &bytes_);
  bytes_.append(bytes);
  return *this;
}

Builder& Builder::AppendDecimal128(std::string_view key, Decimal128Bits bits) {
  Header(Type::kDecimal128, key);
  AppendLittle(bits.low, &bytes_);
  AppendLittle(bits.high, &bytes_);
  return *this;
}

Builder& Builder::AppendRegex(std::string_view key, std::string_view pattern,
                              std::string_view options) {
  Header(Type::kRegex, key);
  AppendCString(pattern, &bytes_);
  AppendCString(options, &bytes_);
  return *this;
}

Builder& Builder::AppendCode(std::string_view key, std::string_view code) {
  Header(Type::kCode, key);
  AppendLengthAndText(code, &bytes_);
  return *this;
}

Builder& Builder::AppendSymbol(std::string_view key, std::string_view symbol) {
  Header(Type::kSymbol, key);
  AppendLengthAndText(symbol, &bytes_);
  return *this;
}

Builder& Builder::AppendCodeWithScope(std::string_view key, std::string_view code, View scope) {
  Header(Type::kCodeWithScope, key);
  const size_t total = kLengthBytes + kLengthBytes + code.size() + 1 + scope.SizeBytes();
  EVENKEEL_CHECK(total < size_t{std::numeric_limits<int32_t>::max()});
  AppendLittle(static_cast<int32_t>(total), &bytes_);
  AppendLengthAndText(code, &bytes_);
  bytes_.append(scope.Bytes());
  return *this;
}

Builder& Builder::AppendDbPointer(std::string_view key, std::string_view collection,
                                  std::string_view twelve_bytes) {
  EVENKEEL_CHECK(twelve_bytes.size() == 12);
  Header(Type::kDbPointer, key);
  AppendLengthAndText(collection, &bytes_);
  bytes_.append(twelve_bytes);
  return *this;
}

Builder& Builder::AppendNull(std::string_view key) {
  Header(Type::kNull, key);
  return *this;
}

Builder& Builder::AppendUndefined(std::string_view key) {
  Header(Type::kUndefined, key);
  return *this;
}

Builder& Builder::AppendMinKey(std::string_view key) {
  Header(Type::kMinKey, key);
  return *this;
}

Builder& Builder::AppendMaxKey(std::string_view key) {
  Header(Type::kMaxKey, key);
  return *this;
}

Builder& Builder::AppendFields(View document) {
  bytes_.append(document.data() + kLengthBytes, document.SizeBytes() - kLengthBytes - 1);
  return *this;
}

Builder& Builder::OpenDocument(std::string_view key) {
  Header(Type::kObject, key);
  open_.push_back(bytes_.size());
  bytes_.append(kLengthBytes, '\0');
  return *this;
}

Builder& Builder::OpenArray(std::string_view key) {
  Header(Type::kArray, key);
  open_.push_back(bytes_.size());
  bytes_.append(kLengthBytes, '\0');
  return *this;
}

Builder& Builder::Close() {
  EVENKEEL_CHECK(!open_.empty());
  bytes_.push_back('\0');
  const size_t start = open_.back();
  open_.pop_back();
  EVENKEEL_CHECK(bytes_.size() - start <= size_t{std::numeric_limits<int32_t>::max()});
  const auto length = static_cast<int32_t>(bytes_.size() - start);
  std::memcpy(bytes_.data() + start, &length, sizeof(length));
  return *this;
}

Document Builder::Finish() {
  while (!open_.empty()) Close();
  Document document(std::move(bytes_));
  bytes_.assign(kLengthBytes, '\0');
  open_.assign(1, 0);
  return document;
}

std::string_view ArrayAppender::NextKey() {
  const auto result = std::to_chars(key_, key_ + sizeof(key_), next_++);
  return {key_, static_cast<size_t>(result.ptr - key_)};
}

std::string NewObjectId() {
  constexpr size_t kProcessBytes = 5;
  static const uint64_t process = base::GlobalRandom64();
  static std::atomic<uint32_t> counter{static_cast<uint32_t>(base::GlobalRandom64())};
  const auto seconds = static_cast<uint32_t>(absl::ToUnixSeconds(absl::Now()));
  const uint32_t count = counter.fetch_add(1, std::memory_order_relaxed);
  std::string id;
  for (int shift = 24; shift >= 0; shift -= 8) id.push_back(static_cast<char>(seconds >> shift));
  for (size_t i = 0; i < kProcessBytes; ++i) id.push_back(static_cast<char>(process >> (8 * i)));
  for (int shift = 16; shift >= 0; shift -= 8) id.push_back(static_cast<char>(count >> shift));
  return id;
}

}  // namespace evenkeel::bson
