// Implements the writers of Extended JSON; the reader is in json_reader.cc.
#include "base/bson/json.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/bson/number.h"
#include "base/bson/text.h"

namespace evenkeel::bson {
namespace {

// Writes values as Extended JSON without white space.
class JsonWriter {
 public:
  explicit JsonWriter(bool canonical) : canonical_(canonical) {}

  void WriteDocument(View document, bool is_array) {
    out_.push_back(is_array ? '[' : '{');
    bool first = true;
    for (const Element& element : document) {
      if (!first) out_.push_back(',');
      first = false;
      if (!is_array) {
        WriteString(element.key);
        out_.push_back(':');
      }
      WriteValue(element.value);
    }
    out_.push_back(is_array ? ']' : '}');
  }

  std::string Take() { return std::move(out_); }

 private:
  template <typename... Args>
  void Format(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void WriteString(std::string_view text) {
    out_.push_back('"');
    AppendJsonEscaped(text, &out_);
    out_.push_back('"');
  }

  void WriteWrapped(std::string_view name, std::string_view text) {
    Format("{{\"{}\":", name);
    WriteString(text);
    out_.push_back('}');
  }

  void WriteDouble(double value) {
    const std::string text = DoubleText(value);
    if (canonical_ || !std::isfinite(value)) {
      WriteWrapped("$numberDouble", text);
    } else {
      out_.append(text);
    }
  }

  void WriteDate(int64_t millis) {
    constexpr int64_t kYear10000 = 253402300800000;
    if (canonical_ || millis < 0 || millis >= kYear10000) {
      Format("{{\"$date\":{{\"$numberLong\":\"{}\"}}}}", millis);
    } else {
      WriteWrapped("$date", IsoDateText(millis));
    }
  }

  void WriteBinary(BinaryView binary) {
    Format("{{\"$binary\":{{\"base64\":\"{}\",\"subType\":\"{:02x}\"}}}}", Base64Text(binary.bytes),
           binary.subtype);
  }

  void WriteRegex(RegexView regex) {
    out_.append(R"({"$regularExpression":{"pattern":)");
    WriteString(regex.pattern);
    out_.append(R"(,"options":)");
    WriteString(regex.options);
    out_.append("}}");
  }

  void WriteDbPointer(Value value) {
    out_.append(R"({"$dbPointer":{"$ref":)");
    WriteString(value.AsDbPointerNamespace());
    out_.append(R"(,"$id":)");
    WriteWrapped("$oid", HexText(value.AsDbPointerId()));
    out_.append("}}");
  }

  void WriteCodeWithScope(Value value) {
    out_.append(R"({"$code":)");
    WriteString(value.AsCodeWithScopeCode());
    out_.append(R"(,"$scope":)");
    WriteDocument(value.AsCodeWithScopeScope(), false);
    out_.push_back('}');
  }

  void WriteInteger(std::string_view name, int64_t value) {
    if (canonical_) {
      Format("{{\"{}\":\"{}\"}}", name, value);
    } else {
      Format("{}", value);
    }
  }

  void WriteValue(Value value) {
    switch (value.type()) {
      case Type::kDouble:
        return WriteDouble(value.AsDouble());
      case Type::kString:
        return WriteString(value.AsString());
      case Type::kObject:
        return WriteDocument(value.AsDocument(), false);
      case Type::kArray:
        return WriteDocument(value.AsDocument(), true);
      case Type::kInt32:
        return WriteInteger("$numberInt", value.AsInt32());
      case Type::kInt64:
        return WriteInteger("$numberLong", value.AsInt64());
      case Type::kBool:
        out_.append(value.AsBool() ? "true" : "false");
        return;
      case Type::kNull:
      case Type::kEod:
        out_.append("null");
        return;
      default:
        return WriteRareValue(value);
    }
  }

  // The types that need a wrapper in both forms.
  void WriteRareValue(Value value) {
    switch (value.type()) {
      case Type::kBinary:
        return WriteBinary(value.AsBinary());
      case Type::kObjectId:
        return WriteWrapped("$oid", HexText(value.AsObjectId()));
      case Type::kDate:
        return WriteDate(value.AsDateMillis());
      case Type::kRegex:
        return WriteRegex(value.AsRegex());
      case Type::kDbPointer:
        return WriteDbPointer(value);
      case Type::kCode:
        return WriteWrapped("$code", value.AsString());
      case Type::kSymbol:
        return WriteWrapped("$symbol", value.AsString());
      case Type::kCodeWithScope:
        return WriteCodeWithScope(value);
      case Type::kTimestamp:
        return Format("{{\"$timestamp\":{{\"t\":{},\"i\":{}}}}}", value.AsTimestamp().seconds(),
                      value.AsTimestamp().increment());
      case Type::kDecimal128:
        return WriteWrapped("$numberDecimal", DecimalToString(value.AsDecimal128()));
      case Type::kUndefined:
        out_.append(R"({"$undefined":true})");
        return;
      case Type::kMinKey:
        out_.append(R"({"$minKey":1})");
        return;
      default:
        out_.append(R"({"$maxKey":1})");
    }
  }

  const bool canonical_;
  std::string out_;
};

}  // namespace

std::string ToJson(View document) {
  JsonWriter writer(false);
  writer.WriteDocument(document, false);
  return writer.Take();
}

std::string ToCanonicalJson(View document) {
  JsonWriter writer(true);
  writer.WriteDocument(document, false);
  return writer.Take();
}

}  // namespace evenkeel::bson
