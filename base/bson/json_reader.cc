// Implements FromJson: a recursive reader of JSON, and the wrapper objects of Extended JSON, e.g.
// {"$oid": "…"}.
//
// An object is read as a document first. If its first field is the name of a wrapper, the document
// is then turned into the value that it stands for. {"$regex": …} and {"$type": …} stay documents:
// they are query operators.
#include <charconv>
#include <limits>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/json_wrappers.h"
#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::bson {
namespace {

constexpr int kJsonDepthMax = limits::kCommandDepthMax;

void AppendUtf8(uint32_t point, std::string* out) {
  const auto add = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | point >> 6);
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12);
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | point >> 18);
    add(0x80 | (point >> 12 & 0x3F));
    add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

// The character that a one-letter escape stands for, or 0.
char Unescape(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  absl::StatusOr<Document> Read() {
    SkipSpace();
    if (!Take('{')) return Fail("a document starts with '{'");
    EVENKEEL_ASSIGN_OR_RETURN(Document document, ReadFields(1));
    SkipSpace();
    if (at_ != text_.size()) return Fail("text after the document");
    EVENKEEL_ASSIGN_OR_RETURN(const OwnedValue value, Unwrapped(document));
    if (!value.value().Is(Type::kObject)) return Fail("the outermost value is no document");
    return document;
  }

 private:
  absl::Status Fail(std::string_view what) const {
    return Error(ErrorCode::kFailedToParse, "invalid JSON at offset {}: {}", at_, what);
  }

  void SkipSpace() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool Take(char expected) {
    if (at_ >= text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  // The fields behind '{' up to and with '}'.
  absl::StatusOr<Document> ReadFields(int depth) {
    Builder builder;
    SkipSpace();
    if (Take('}')) return builder.Finish();
    do {
      SkipSpace();
      if (!Take('"')) return Fail("a field name starts with '\"'");
      EVENKEEL_ASSIGN_OR_RETURN(const std::string key, ReadString());
      if (key.find('\0') != std::string::npos) return Fail("zero byte in a field name");
      SkipSpace();
      if (!Take(':')) return Fail("':' is missing");
      EVENKEEL_RETURN_IF_ERROR(ReadValue(key, depth, &builder));
      SkipSpace();
    } while (Take(','));
    if (!Take('}')) return Fail("',' or '}' is missing");
    return builder.Finish();
  }

  absl::StatusOr<Document> ReadElements(int depth) {
    Builder builder;
    ArrayAppender array(builder);
    SkipSpace();
    if (Take(']')) return builder.Finish();
    do {
      EVENKEEL_RETURN_IF_ERROR(ReadValue(array.NextKey(), depth, &builder));
      SkipSpace();
    } while (Take(','));
    if (!Take(']')) return Fail("',' or ']' is missing");
    return builder.Finish();
  }

  absl::Status ReadValue(std::string_view key, int depth, Builder* builder) {
    SkipSpace();
    if (Take('{') || Take('[')) {
      if (depth >= kJsonDepthMax) return Fail("nested too deep");
      if (text_[at_ - 1] == '[') {
        EVENKEEL_ASSIGN_OR_RETURN(const Document array, ReadElements(depth + 1));
        builder->AppendArray(key, array);
        return absl::OkStatus();
      }
      EVENKEEL_ASSIGN_OR_RETURN(const Document document, ReadFields(depth + 1));
      EVENKEEL_ASSIGN_OR_RETURN(const OwnedValue value, Unwrapped(document));
      builder->Append(key, value);
    } else if (Take('"')) {
      EVENKEEL_ASSIGN_OR_RETURN(const std::string text, ReadString());
      builder->Append(key, text);
    } else if (TakeWord("true")) {
      builder->Append(key, true);
    } else if (TakeWord("false")) {
      builder->Append(key, false);
    } else if (TakeWord("null")) {
      builder->AppendNull(key);
    } else {
      return ReadNumber(key, builder);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<OwnedValue> Unwrapped(const Document& document) const {
    OwnedValue value;
    switch (UnwrapJson(document, &value)) {
      case JsonWrapper::kNone:
        return OwnedValue(Value(Type::kObject, document.view().data()));
      case JsonWrapper::kValue:
        return value;
      case JsonWrapper::kMalformed:
        break;
    }
    return Fail(fmt::format("malformed {}", document.view().Front().key));
  }

  size_t SkipDigits() {
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ - start;
  }

  absl::Status ReadNumber(std::string_view key, Builder* builder) {
    const size_t start = at_;
    bool integer = true;
    Take('-');
    const size_t first = at_;
    const size_t digits = SkipDigits();
    if (digits == 0) return Fail("not a value");
    if (digits > 1 && text_[first] == '0') return Fail("number with a leading zero");
    if (Take('.')) {
      integer = false;
      if (SkipDigits() == 0) return Fail("no digit behind the point");
    }
    if (Take('e') || Take('E')) {
      integer = false;
      if (!Take('+')) Take('-');
      if (SkipDigits() == 0) return Fail("no digit in the exponent");
    }
    return AppendNumber(key, text_.substr(start, at_ - start), integer, builder);
  }

  absl::Status AppendNumber(std::string_view key, std::string_view digits, bool integer,
                            Builder* builder) {
    const char* end = digits.data() + digits.size();
    int64_t whole = 0;
    if (integer && std::from_chars(digits.data(), end, whole).ec == std::errc()) {
      if (whole >= std::numeric_limits<int32_t>::min() &&
          whole <= std::numeric_limits<int32_t>::max()) {
        builder->Append(key, static_cast<int32_t>(whole));
      } else {
        builder->Append(key, whole);
      }
      return absl::OkStatus();
    }
    double real = 0;
    if (std::from_chars(digits.data(), end, real).ec != std::errc()) {
      return Fail("number out of range");
    }
    builder->Append(key, real);
    return absl::OkStatus();
  }

  // The text behind the opening quote, with the closing one.
  absl::StatusOr<std::string> ReadString() {
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) return Fail("control character in a string");
      if (c == '\\') {
        EVENKEEL_RETURN_IF_ERROR(ReadEscape(&out));
      } else {
        out.push_back(c);
      }
    }
    return Fail("string without end");
  }

  absl::Status ReadEscape(std::string* out) {
    if (at_ >= text_.size()) return Fail("string without end");
    const char letter = text_[at_++];
    if (letter == 'u') return ReadUnicodeEscape(out);
    const char c = Unescape(letter);
    if (c == 0) return Fail("unknown escape");
    out->push_back(c);
    return absl::OkStatus();
  }

  bool TakeFourHex(uint32_t* number) {
    if (text_.size() - at_ < 4) return false;
    const char* start = text_.data() + at_;
    const auto result = std::from_chars(start, start + 4, *number, 16);
    at_ += 4;
    return result.ec == std::errc() && result.ptr == start + 4;
  }

  absl::Status ReadUnicodeEscape(std::string* out) {
    uint32_t point = 0;
    if (!TakeFourHex(&point)) return Fail("malformed \\u escape");
    if (point >= 0xDC00 && point <= 0xDFFF) return Fail("half a surrogate pair");
    if (point >= 0xD800 && point <= 0xDBFF) {
      uint32_t low = 0;
      if (!TakeWord("\\u") || !TakeFourHex(&low) || low < 0xDC00 || low > 0xDFFF) {
        return Fail("half a surrogate pair");
      }
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    }
    AppendUtf8(point, out);
    return absl::OkStatus();
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<Document> FromJson(std::string_view json) { return Reader(json).Read(); }

}  // namespace evenkeel::bson
