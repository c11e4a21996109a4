// An owned BSON document or value, and shared ownership of bytes that views point into.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/bson/view.h"

namespace evenkeel::bson {

// Owns the bytes of one document or array. Moving keeps no promise about views into it: bytes may
// move with it.
class Document {
 public:
  Document() : bytes_("\x05\0\0\0\0", 5) {}
  explicit Document(View view) : bytes_(view.Bytes()) {}
  // Takes bytes that a Builder made or Validate accepted.
  explicit Document(std::string bytes) : bytes_(std::move(bytes)) {}

  View view() const { return View(bytes_.data()); }
  operator View() const {
    return view();
  }  // NOLINT(google-explicit-constructor): a document is usable as its view
  Value operator[](std::string_view key) const { return view()[key]; }
  const std::string& bytes() const { return bytes_; }
  std::string TakeBytes() && { return std::move(bytes_); }
  size_t SizeBytes() const { return bytes_.size(); }
  bool empty() const { return view().empty(); }

 private:
  std::string bytes_;
};

// Owns one value of any type, missing too.
class OwnedValue {
 public:
  OwnedValue() = default;
  explicit OwnedValue(Value value) : bytes_(value.Bytes()), type_(value.type()) {}
  OwnedValue(Type type, std::string bytes) : bytes_(std::move(bytes)), type_(type) {}
  Value value() const { return Value(type_, bytes_.data()); }
  operator Value() const {
    return value();
  }  // NOLINT(google-explicit-constructor): usable as its view

 private:
  std::string bytes_;
  Type type_ = Type::kEod;
};

// Bytes that several views share, e.g. one received message. Null: nobody owns them here.
using SharedBytes = std::shared_ptr<const std::string>;

}  // namespace evenkeel::bson
