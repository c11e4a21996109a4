// Builds BSON documents front to back into one string, nested documents in place.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bson/document.h"
#include "base/bson/view.h"
#include "base/types.h"

namespace evenkeel::bson {

// Appends fields in order. Open/Close nest documents and arrays; Finish closes the outermost and
// hands the bytes over. A Builder may be used again after Finish. Keys and regular expressions end
// at their first zero byte. A document of 2 GiB or more ends the process: callers bound what they
// build (base/limits.h).
class Builder {
 public:
  Builder();
  // Starts from a copy of `base`, whose fields come first.
  explicit Builder(View base);

  Builder& Append(std::string_view key, Value value);  // a missing value appends nothing
  Builder& Append(std::string_view key, View document) { return AppendDocument(key, document); }
  Builder& Append(std::string_view key, const Document& document) {
    return AppendDocument(key, document.view());
  }
  Builder& Append(std::string_view key, const OwnedValue& value) {
    return Append(key, value.value());
  }
  Builder& Append(std::string_view key, double value);
  Builder& Append(std::string_view key, int32_t value);
  Builder& Append(std::string_view key, int64_t value);
  Builder& Append(std::string_view key, bool value);
  Builder& Append(std::string_view key, std::string_view value);
  Builder& Append(std::string_view key, const std::string& value) {
    return Append(key, std::string_view(value));
  }
  Builder& Append(std::string_view key, const char* value) {
    return Append(key, std::string_view(value));
  }
  Builder& Append(std::string_view key, Timestamp value);
  Builder& AppendDocument(std::string_view key, View document);
  Builder& AppendArray(std::string_view key, View array);
  Builder& AppendDate(std::string_view key, int64_t milliseconds);
  Builder& AppendObjectId(std::string_view key, std::string_view twelve_bytes);
  Builder& AppendBinary(std::string_view key, uint8_t subtype, std::string_view bytes);
  Builder& AppendDecimal128(std::string_view key, Decimal128Bits bits);
  Builder& AppendRegex(std::string_view key, std::string_view pattern, std::string_view options);
  Builder& AppendCode(std::string_view key, std::string_view code);
  Builder& AppendSymbol(std::string_view key, std::string_view symbol);
  Builder& AppendCodeWithScope(std::string_view key, std::string_view code, View scope);
  Builder& AppendDbPointer(std::string_view key, std::string_view collection,
                           std::string_view twelve_bytes);
  Builder& AppendNull(std::string_view key);
  Builder& AppendUndefined(std::string_view key);
  Builder& AppendMinKey(std::string_view key);
  Builder& AppendMaxKey(std::string_view key);
  // Appends every field of `document`.
  Builder& AppendFields(View document);

  // The next appends go into a new nested document or array, until Close.
  Builder& OpenDocument(std::string_view key);
  Builder& OpenArray(std::string_view key);
  Builder& Close();

  // Bytes so far, with all open documents' headers.
  size_t SizeBytes() const { return bytes_.size() + open_.size(); }
  // Closes everything and returns the document; the builder is empty again.
  Document Finish();

 private:
  void Header(Type type, std::string_view key);
  std::string bytes_;
  absl::InlinedVector<size_t, 6> open_;  // where each open document starts
};

// Appends the elements of an array with keys "0", "1", …, into an array that the given builder has
// opened.
class ArrayAppender {
 public:
  explicit ArrayAppender(Builder& builder, size_t next = 0) : builder_(builder), next_(next) {}
  template <typename T>
  ArrayAppender& Add(const T& value) {
    builder_.Append(NextKey(), value);
    return *this;
  }
  // The key of the next element, for the appends that Add has no form for. Valid until the next
  // call.
  std::string_view NextKey();
  size_t count() const { return next_; }

 private:
  Builder& builder_;
  size_t next_;
  char key_[20];
};

// A 12-byte ObjectId: seconds, five random bytes of the process, a counter. Any thread.
std::string NewObjectId();

}  // namespace evenkeel::bson
