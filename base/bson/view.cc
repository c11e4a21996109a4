// Implements the parts of BSON views that are not inlined.
#include "base/bson/view.h"

namespace evenkeel::bson {
namespace {

constexpr uint8_t kBinarySubtypeOld = 2;  // carries a second length inside

}  // namespace

BinaryView Value::AsBinary() const {
  EVENKEEL_DCHECK(type_ == Type::kBinary);
  const auto length = static_cast<size_t>(LoadLittle<int32_t>(data_));
  const auto subtype = static_cast<uint8_t>(data_[4]);
  if (subtype == kBinarySubtypeOld && length >= 4) return {subtype, {data_ + 9, length - 4}};
  return {subtype, {data_ + 5, length}};
}

RegexView Value::AsRegex() const {
  EVENKEEL_DCHECK(type_ == Type::kRegex);
  const std::string_view pattern(data_);
  return {pattern, std::string_view(data_ + pattern.size() + 1)};
}

size_t Value::RegexSizeBytes() const {
  const size_t pattern_bytes = std::strlen(data_) + 1;
  return pattern_bytes + std::strlen(data_ + pattern_bytes) + 1;
}

std::string_view Value::AsCodeWithScopeCode() const {
  EVENKEEL_DCHECK(type_ == Type::kCodeWithScope);
  return {data_ + 8, static_cast<size_t>(LoadLittle<int32_t>(data_ + 4)) - 1};
}

View Value::AsCodeWithScopeScope() const {
  EVENKEEL_DCHECK(type_ == Type::kCodeWithScope);
  return View(data_ + 8 + LoadLittle<int32_t>(data_ + 4));
}

std::string_view Value::AsDbPointerNamespace() const {
  EVENKEEL_DCHECK(type_ == Type::kDbPointer);
  return {data_ + 4, static_cast<size_t>(LoadLittle<int32_t>(data_)) - 1};
}

std::string_view Value::AsDbPointerId() const {
  EVENKEEL_DCHECK(type_ == Type::kDbPointer);
  return {data_ + 4 + LoadLittle<int32_t>(data_), 12};
}

Value View::operator[](std::string_view key) const {
  for (const Element& element : *this) {
    if (element.key == key) return element.value;
  }
  return {};
}

size_t View::CountFields() const {
  size_t count = 0;
  for (auto it = begin(); it != end(); ++it) ++count;
  return count;
}

}  // namespace evenkeel::bson
