// Implements ToDisplay: one value as MongoDB's error messages and logs show it.
#include <fmt/format.h>

#include <iterator>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/bson/text.h"

namespace evenkeel::bson {
namespace {

// Writes a value until `bytes_max` bytes are there; what comes later is left out.
class DisplayWriter {
 public:
  explicit DisplayWriter(size_t bytes_max) : bytes_max_(bytes_max) {}

  void WriteValue(Value value) {
    switch (value.type()) {
      case Type::kDouble:
        out_.append(DoubleText(value.AsDouble()));
        return;
      case Type::kInt32:
        return Format("{}", value.AsInt32());
      case Type::kInt64:
        return Format("{}", value.AsInt64());
      case Type::kDecimal128:
        out_.append(DecimalToString(value.AsDecimal128()));
        return;
      case Type::kString:
      case Type::kSymbol:
        return WriteQuoted(value.AsString());
      case Type::kObject:
        return WriteDocument(value.AsDocument(), false);
      case Type::kArray:
        return WriteDocument(value.AsDocument(), true);
      case Type::kBool:
        out_.append(value.AsBool() ? "true" : "false");
        return;
      case Type::kNull:
        out_.append("null");
        return;
      default:
        return WriteRareValue(value);
    }
  }

  std::string Take() {
    if (out_.size() <= bytes_max_) return std::move(out_);
    // Cuts between characters.
    size_t end = bytes_max_;
    while (end > 0 && (static_cast<unsigned char>(out_[end]) & 0xC0) == 0x80) --end;
    out_.resize(end);
    out_.append("...");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void Format(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  bool Full() const { return out_.size() > bytes_max_; }

  // At most one byte more than fits is needed to see that something was cut.
  std::string_view Head(std::string_view text) const { return text.substr(0, bytes_max_ + 1); }

  void WriteQuoted(std::string_view text) {
    out_.push_back('"');
    out_.append(Head(text));
    out_.push_back('"');
  }

  void WriteDocument(View document, bool is_array) {
    if (document.empty()) {
      out_.append(is_array ? "[]" : "{}");
      return;
    }
    out_.append(is_array ? "[ " : "{ ");
    bool first = true;
    for (const Element& element : document) {
      if (Full()) return;
      if (!first) out_.append(", ");
      first = false;
      if (!is_array) {
        out_.append(Head(element.key));
        out_.append(": ");
      }
      WriteValue(element.value);
    }
    out_.append(is_array ? " ]" : " }");
  }

  void WriteRegex(RegexView regex) {
    out_.push_back('/');
    out_.append(Head(regex.pattern));
    out_.push_back('/');
    out_.append(Head(regex.options));
  }

  void WriteCodeWithScope(Value value) {
    out_.append("CodeWScope( ");
    out_.append(Head(value.AsCodeWithScopeCode()));
    out_.append(", ");
    WriteDocument(value.AsCodeWithScopeScope(), false);
    out_.append(")");
  }

  void WriteRareValue(Value value) {
    switch (value.type()) {
      case Type::kBinary:
        return Format("BinData({}, {})", value.AsBinary().subtype,
                      HexText(Head(value.AsBinary().bytes)));
      case Type::kUndefined:
        out_.append("undefined");
        return;
      case Type::kObjectId:
        return Format("ObjectId('{}')", HexText(value.AsObjectId()));
      case Type::kDate:
        return Format("new Date({})", value.AsDateMillis());
      case Type::kRegex:
        return WriteRegex(value.AsRegex());
      case Type::kDbPointer:
        return Format("DBRef('{}',{})", Head(value.AsDbPointerNamespace()),
                      HexText(value.AsDbPointerId()));
      case Type::kCode:
        out_.append(Head(value.AsString()));
        return;
      case Type::kCodeWithScope:
        return WriteCodeWithScope(value);
      case Type::kTimestamp:
        return Format("Timestamp({}, {})", value.AsTimestamp().seconds(),
                      value.AsTimestamp().increment());
      case Type::kMinKey:
        out_.append("MinKey");
        return;
      case Type::kMaxKey:
        out_.append("MaxKey");
        return;
      default:
        out_.append("missing");
    }
  }

  const size_t bytes_max_;
  std::string out_;
};

}  // namespace

std::string ToDisplay(Value value, size_t bytes_max) {
  DisplayWriter writer(bytes_max);
  writer.WriteValue(value);
  return writer.Take();
}

}  // namespace evenkeel::bson
