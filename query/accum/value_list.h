// A growing list of values that owns its bytes: the state of $push and its relatives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bson/builder.h"
#include "base/bson/view.h"
#include "query/accum/accumulator.h"

namespace evenkeel::query::accum {

class ValueList {
 public:
  // A missing value is stored as null.
  void Append(bson::Value value, AccumContext& context) {
    const bson::Type type = value.missing() ? bson::Type::kNull : value.type();
    const std::string_view bytes = value.Bytes();
    const size_t before = bytes_.capacity();
    bytes_.push_back(static_cast<char>(type));
    bytes_.append(bytes);
    context.memory_bytes += bytes_.capacity() - before;
    ++count_;
  }
  size_t count() const { return count_; }

  // Calls fn(value) in order.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (size_t at = 0; at < bytes_.size();) {
      const auto type = static_cast<bson::Type>(static_cast<uint8_t>(bytes_[at]));
      const bson::Value value(type, bytes_.data() + at + 1);
      fn(value);
      at += 1 + value.SizeBytes();
    }
  }
  // Appends the values to `builder` as one array.
  void AppendArray(bson::Builder& builder, std::string_view key) const {
    builder.OpenArray(key);
    bson::ArrayAppender array(builder);
    ForEach([&array](bson::Value value) { array.Add(value); });
    builder.Close();
  }

 private:
  std::string bytes_;  // per value its type and bytes
  size_t count_ = 0;
};

}  // namespace evenkeel::query::accum
