// $serializeEJSON, $deserializeEJSON: values as documents of Extended JSON and back.
//
// Source: the Extended JSON 2.0 specification.
#include "query/expr/ejson.h"

#include <fmt/format.h>

#include <cmath>

#include "base/bson/builder.h"
#include "base/bson/decimal.h"
#include "base/bson/json.h"
#include "base/bson/text.h"

namespace evenkeel::query::expr {
namespace {

using bson::Builder;
using bson::Type;
using bson::Value;

// Appends what stands for values: themselves where JSON has them, else the wrapper of their type.
class Serializer {
 public:
  explicit Serializer(bool relaxed) : relaxed_(relaxed) {}

  // Depth: that of the value, which is bounded.
  void Append(std::string_view name, Value value, Builder& out) const {
    switch (value.type()) {
      case Type::kString:
      case Type::kBool:
      case Type::kNull:
        out.Append(name, value);
        return;
      case Type::kObject:
        return AppendFields(value, out.OpenDocument(name));
      case Type::kArray:
        return AppendFields(value, out.OpenArray(name));
      case Type::kInt32:
      case Type::kInt64:
      case Type::kDouble:
      case Type::kDecimal128:
        return AppendNumber(name, value, out);
      case Type::kBinary:
      case Type::kRegex:
      case Type::kTimestamp:
      case Type::kDate:
        return AppendCompound(name, value, out);
      default:
        return AppendRare(name, value, out);
    }
  }

 private:
  static void Wrap(std::string_view name, std::string_view wrapper, std::string_view text,
                   Builder& out) {
    out.OpenDocument(name).Append(wrapper, text).Close();
  }
  void AppendFields(Value value, Builder& out) const {
    for (const auto& [key, element] : value.AsDocument()) Append(key, element, out);
    out.Close();
  }
  void AppendNumber(std::string_view name, Value value, Builder& out) const;
  void AppendCompound(std::string_view name, Value value, Builder& out) const;
  void AppendRare(std::string_view name, Value value, Builder& out) const;

  bool relaxed_;
};

void Serializer::AppendNumber(std::string_view name, Value value, Builder& out) const {
  if (value.Is(Type::kDecimal128)) {
    return Wrap(name, "$numberDecimal", bson::DecimalToString(value.AsDecimal128()), out);
  }
  const bool is_double = value.Is(Type::kDouble);
  if (relaxed_ && (!is_double || std::isfinite(value.AsDouble()))) {
    out.Append(name, value);
  } else if (is_double) {
    Wrap(name, "$numberDouble", bson::DoubleText(value.AsDouble()), out);
  } else if (value.Is(Type::kInt32)) {
    Wrap(name, "$numberInt", fmt::to_string(value.AsInt32()), out);
  } else {
    Wrap(name, "$numberLong", fmt::to_string(value.AsInt64()), out);
  }
}

void Serializer::AppendCompound(std::string_view name, Value value, Builder& out) const {
  out.OpenDocument(name);
  if (value.Is(Type::kBinary)) {
    const bson::BinaryView binary = value.AsBinary();
    out.OpenDocument("$binary")
        .Append("base64", bson::Base64Text(binary.bytes))
        .Append("subType", fmt::format("{:02x}", binary.subtype))
        .Close();
  } else if (value.Is(Type::kRegex)) {
    out.OpenDocument("$regularExpression")
        .Append("pattern", value.AsRegex().pattern)
        .Append("options", value.AsRegex().options)
        .Close();
  } else if (value.Is(Type::kTimestamp)) {
    const uint64_t bits = value.AsTimestamp().bits;
    out.OpenDocument("$timestamp")
        .Append("t", static_cast<int64_t>(bits >> 32))
        .Append("i", static_cast<int64_t>(bits & UINT32_MAX))
        .Close();
  } else {
    const int64_t milliseconds = value.AsDateMillis();
    constexpr int64_t kYear10000 = 253402300800000;  // from there on the text has no four digits
    if (relaxed_ && milliseconds >= 0 && milliseconds < kYear10000) {
      out.Append("$date", bson::IsoDateText(milliseconds));
    } else {
      Wrap("$date", "$numberLong", fmt::to_string(milliseconds), out);
    }
  }
  out.Close();
}

void Serializer::AppendRare(std::string_view name, Value value, Builder& out) const {
  switch (value.type()) {
    case Type::kObjectId:
      return Wrap(name, "$oid", bson::HexText(value.AsObjectId()), out);
    case Type::kSymbol:
      return Wrap(name, "$symbol", value.AsString(), out);
    case Type::kCode:
      return Wrap(name, "$code", value.AsString(), out);
    case Type::kCodeWithScope:
      out.OpenDocument(name).Append("$code", value.AsCodeWithScopeCode());
      Append("$scope", Value(Type::kObject, value.AsCodeWithScopeScope().data()), out);
      out.Close();
      return;
    case Type::kDbPointer:
      out.OpenDocument(name).OpenDocument("$dbPointer");
      out.Append("$ref", value.AsDbPointerNamespace());
      Wrap("$id", "$oid", bson::HexText(value.AsDbPointerId()), out);
      out.Close().Close();
      return;
    case Type::kUndefined:
      out.OpenDocument(name).Append("$undefined", true).Close();
      return;
    case Type::kMinKey:
    case Type::kMaxKey:
      out.OpenDocument(name)
          .Append(value.Is(Type::kMinKey) ? "$minKey" : "$maxKey", int32_t{1})
          .Close();
      return;
    default:
      return;  // missing
  }
}

enum SerializeArg { kInput, kRelaxed };

}  // namespace

absl::StatusOr<Value> EvalSerializeEjson(const Call& call) {
  const Value relaxed = call.args[kRelaxed];
  if (!relaxed.IsNullish() && !relaxed.Is(Type::kBool)) {
    return WrongType(call, ErrorCode::kTypeMismatch, "requires 'relaxed' to be a boolean", relaxed);
  }
  if (call.args[kInput].missing()) return NullValue();
  Builder out;
  Serializer(relaxed.Is(Type::kBool) && relaxed.AsBool()).Append("", call.args[kInput], out);
  return call.arena().Copy(out.Finish().view().Front().value);
}

// Native values survive the way through the canonical text; wrappers are read as what they stand
// for.
absl::StatusOr<Value> EvalDeserializeEjson(const Call& call) {
  constexpr size_t kOnErrorOfDeserialize = 1;
  const Value input = call.args[kInput];
  if (input.IsNullish()) return NullValue();
  Builder wrapped;
  wrapped.Append("v", input);
  const absl::StatusOr<bson::Document> read =
      bson::FromJson(bson::ToCanonicalJson(wrapped.Finish()));
  if (read.ok()) return call.arena().Copy((*read)["v"]);
  if (call.Given(kOnErrorOfDeserialize)) return call.EvaluateLazy(kOnErrorOfDeserialize);
  return Error(ErrorCode::kConversionFailure, "$deserializeEJSON failed: {}",
               MessageOf(read.status()));
}

}  // namespace evenkeel::query::expr
