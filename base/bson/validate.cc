// Implements validation: one forward walk with an explicit stack of open documents.
//
// Invariant: a position is read only after it was shown to lie before the end of the innermost open
// document, and every open document ends at or before the terminator of the one around it.
#include "base/bson/validate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bson/view.h"
#include "base/status.h"

namespace evenkeel::bson {
namespace {

constexpr int kDepthMaxSupported = 256;  // the stack below is of this size
constexpr size_t kDocumentBytesMin = 5;
constexpr uint8_t kBinarySubtypeOld = 2;

class Validator {
 public:
  Validator(std::string_view bytes, int depth_max)
      : bytes_(bytes), depth_max_(std::min(depth_max, kDepthMaxSupported)) {}

  absl::Status Run() {
    if (bytes_.size() < kDocumentBytesMin) return Invalid("document is shorter than 5 bytes");
    limit_ = bytes_.size();
    EVENKEEL_RETURN_IF_ERROR(Open());
    if (limit_ + 1 != bytes_.size()) return Invalid("document length differs from the bytes given");
    while (depth_ > 0) {
      if (at_ == limit_) {
        Leave();
      } else {
        EVENKEEL_RETURN_IF_ERROR(CheckElement());
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Invalid(std::string_view what) const {
    return Error(ErrorCode::kInvalidBSON, "invalid BSON at offset {}: {}", at_, what);
  }

  // Bytes left in the innermost open document, without its terminator.
  size_t Left() const { return limit_ - at_; }

  // Enters the document at the current position, which must end at or before limit_.
  absl::Status Open() {
    if (depth_ >= depth_max_) {
      return Error(ErrorCode::kOverflow, "BSON nested deeper than {} levels, at offset {}",
                   depth_max_, at_);
    }
    if (Left() < kDocumentBytesMin) return Invalid("no room for a document");
    const auto length = LoadLittle<int32_t>(bytes_.data() + at_);
    if (length < static_cast<int32_t>(kDocumentBytesMin) || static_cast<size_t>(length) > Left()) {
      return Invalid("document length out of bounds");
    }
    const size_t end = at_ + static_cast<size_t>(length);
    if (bytes_[end - 1] != '\0') return Invalid("document does not end in a zero byte");
    limits_[static_cast<size_t>(depth_++)] = limit_;
    limit_ = end - 1;
    at_ += sizeof(length);
    return absl::OkStatus();
  }

  // Leaves the innermost document, at its terminator.
  void Leave() {
    ++at_;
    limit_ = limits_[static_cast<size_t>(--depth_)];
  }

  absl::Status CheckElement() {
    const auto type = static_cast<Type>(static_cast<uint8_t>(bytes_[at_]));
    if (type == Type::kEod) return Invalid("document ends before its length");
    ++at_;
    EVENKEEL_RETURN_IF_ERROR(SkipCString());
    return CheckValue(type);
  }

  absl::Status CheckValue(Type type) {
    switch (type) {
      case Type::kDouble:
      case Type::kDate:
      case Type::kTimestamp:
      case Type::kInt64:
        return SkipBytes(8);
      case Type::kInt32:
        return SkipBytes(4);
      case Type::kObjectId:
        return SkipBytes(12);
      case Type::kDecimal128:
        return SkipBytes(16);
      case Type::kString:
      case Type::kSymbol:
      case Type::kCode:
        return SkipString();
      case Type::kObject:
      case Type::kArray:
        return Open();
      case Type::kBinary:
        return SkipBinary();
      case Type::kBool:
        return SkipBool();
      case Type::kRegex:
        EVENKEEL_RETURN_IF_ERROR(SkipCString());
        return SkipCString();
      case Type::kDbPointer:
        EVENKEEL_RETURN_IF_ERROR(SkipString());
        return SkipBytes(12);
      case Type::kCodeWithScope:
        return EnterCodeWithScope();
      case Type::kNull:
      case Type::kUndefined:
      case Type::kMinKey:
      case Type::kMaxKey:
        return absl::OkStatus();
      case Type::kEod:
        break;
    }
    return Invalid("unknown type");
  }

  absl::Status SkipBytes(size_t count) {
    if (Left() < count) return Invalid("value runs past its document");
    at_ += count;
    return absl::OkStatus();
  }

  absl::Status SkipBool() {
    if (Left() < 1) return Invalid("value runs past its document");
    if (bytes_[at_] != '\0' && bytes_[at_] != '\1') return Invalid("boolean is neither 0 nor 1");
    ++at_;
    return absl::OkStatus();
  }

  absl::Status SkipCString() {
    const void* zero = std::memchr(bytes_.data() + at_, '\0', Left());
    if (zero == nullptr) return Invalid("name or pattern without a zero byte");
    at_ = static_cast<size_t>(static_cast<const char*>(zero) - bytes_.data()) + 1;
    return absl::OkStatus();
  }

  absl::Status SkipString() {
    if (Left() < 4) return Invalid("value runs past its document");
    const auto length = LoadLittle<int32_t>(bytes_.data() + at_);
    if (length < 1 || static_cast<size_t>(length) > Left() - 4) {
      return Invalid("string length out of bounds");
    }
    const size_t end = at_ + 4 + static_cast<size_t>(length);
    if (bytes_[end - 1] != '\0') return Invalid("string does not end in a zero byte");
    at_ = end;
    return absl::OkStatus();
  }

  absl::Status SkipBinary() {
    if (Left() < 5) return Invalid("value runs past its document");
    const auto length = LoadLittle<int32_t>(bytes_.data() + at_);
    if (length < 0 || static_cast<size_t>(length) > Left() - 5) {
      return Invalid("binary length out of bounds");
    }
    const auto subtype = static_cast<uint8_t>(bytes_[at_ + 4]);
    if (subtype == kBinarySubtypeOld &&
        (length < 4 || LoadLittle<int32_t>(bytes_.data() + at_ + 5) != length - 4)) {
      return Invalid("inner length of binary subtype 2 is wrong");
    }
    at_ += 5 + static_cast<size_t>(length);
    return absl::OkStatus();
  }

  // Checks length and code, then enters the scope, which must end exactly where the value does.
  absl::Status EnterCodeWithScope() {
    if (Left() < 4) return Invalid("value runs past its document");
    const auto length = LoadLittle<int32_t>(bytes_.data() + at_);
    if (length < 0 || static_cast<size_t>(length) > Left()) {
      return Invalid("code with scope length out of bounds");
    }
    const size_t end = at_ + static_cast<size_t>(length);
    const size_t outer_limit = limit_;
    if (length < 4) return Invalid("code with scope length out of bounds");
    limit_ = end;
    at_ += 4;
    EVENKEEL_RETURN_IF_ERROR(SkipString());
    EVENKEEL_RETURN_IF_ERROR(Open());
    if (limit_ + 1 != end) return Invalid("scope does not end with its value");
    limits_[static_cast<size_t>(depth_ - 1)] = outer_limit;
    return absl::OkStatus();
  }

  const std::string_view bytes_;
  const int depth_max_;
  size_t at_ = 0;
  size_t limit_ = 0;  // position of the innermost open document's terminator
  int depth_ = 0;
  std::array<size_t, kDepthMaxSupported>
      limits_;  // limit_ of the documents around it; [0, depth_) is set
};

}  // namespace

absl::Status Validate(std::string_view bytes, int depth_max) {
  return Validator(bytes, depth_max).Run();
}

}  // namespace evenkeel::bson
