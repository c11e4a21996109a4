// Values and documents that the BSON tests share: one of every type, a pool of tricky values,
// random documents.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/document.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/check.h"
#include "base/random.h"
#include "base/status.h"

namespace evenkeel::bson {

// A single value by way of a builder: Make([](Builder& b) { b.Append("", 1); }).
template <typename Append>
OwnedValue Make(Append append) {
  Builder builder;
  append(builder);
  return OwnedValue(builder.Finish().view().Front().value);
}

inline OwnedValue Int(int32_t value) {
  return Make([&](Builder& b) { b.Append("", value); });
}
inline OwnedValue Long(int64_t value) {
  return Make([&](Builder& b) { b.Append("", value); });
}
inline OwnedValue Real(double value) {
  return Make([&](Builder& b) { b.Append("", value); });
}
inline OwnedValue Text(std::string_view value) {
  return Make([&](Builder& b) { b.Append("", value); });
}

// The decimal written as `text`, which must be one.
inline OwnedValue Dec(std::string_view text) {
  const absl::StatusOr<Decimal128Bits> bits = DecimalFromString(text);
  EVENKEEL_CHECK(bits.ok());
  return Make([&](Builder& b) { b.AppendDecimal128("", *bits); });
}

// The document that `json` describes, which must be valid.
inline Document Json(std::string_view json) {
  absl::StatusOr<Document> document = FromJson(json);
  if (!document.ok()) fmt::print(stderr, "{}\n{}\n", json, MessageOf(document.status()));
  EVENKEEL_CHECK(document.ok());
  return *std::move(document);
}

inline constexpr std::string_view kSampleId{"\x50\x7f\x1f\x77\xbc\xf8\x6c\xd7\x99\x43\x90\x11", 12};

// A document with one field of every BSON type, nested documents and arrays.
inline Document EveryType() {
  Builder b;
  b.Append("double", 1.5).Append("string", "text").Append("zero", std::string_view("a\0b", 3));
  b.OpenDocument("object").Append("a", 1).OpenDocument("b").Append("c", true).Close().Close();
  b.OpenArray("array").Append("0", 1).Append("1", "x").OpenArray("2").Close().Close();
  b.AppendBinary("binary", 0, "\x01\x02\x03")
      .AppendBinary("old", 2, "old")
      .AppendBinary("none", 0, "");
  b.AppendUndefined("undefined").AppendObjectId("id", kSampleId).Append("true", true);
  b.Append("false", false).AppendDate("date", 1360707177211).AppendDate("early", -62135596800001);
  b.AppendNull("null")
      .AppendRegex("regex", "^a/\"b", "im")
      .AppendDbPointer("pointer", "db.c", kSampleId);
  b.AppendCode("code", "f()").AppendSymbol("symbol", "sym");
  b.AppendCodeWithScope("scoped", "g()", Builder().Append("x", 1).Finish());
  b.Append("int32", -7)
      .Append("timestamp", Timestamp::FromParts(5, 6))
      .Append("int64", int64_t{1} << 40);
  b.AppendDecimal128("decimal", *DecimalFromString("-1.50E+3"))
      .AppendMinKey("min")
      .AppendMaxKey("max");
  return b.Finish();
}

namespace internal {

template <typename Append>
void AddTo(std::vector<OwnedValue>& values, Append append) {
  values.push_back(Make(append));
}

inline void AddTrickyIntegers(std::vector<OwnedValue>& values) {
  constexpr int64_t kTwoTo53 = int64_t{1} << 53;
  for (const int32_t v : {0, 1, -1, 2, INT32_MAX, INT32_MIN}) values.push_back(Int(v));
  for (const int64_t v :
       {int64_t{0}, int64_t{1}, int64_t{-1}, kTwoTo53, kTwoTo53 + 1, -kTwoTo53 - 1}) {
    values.push_back(Long(v));
  }
  for (const int64_t v : {INT64_MAX, INT64_MAX - 1, INT64_MIN, int64_t{INT32_MAX} + 1}) {
    values.push_back(Long(v));
  }
}

inline void AddTrickyDoubles(std::vector<OwnedValue>& values) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kSmall[] = {0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.5, 2.0, 5e-324, -5e-324};
  constexpr double kLarge[] = {0x1p53, -0x1p53, 0x1p63, -0x1p63,
                               0x1p64, 1e300,   -1e300, 1.7976931348623157e308};
  for (const double v : kSmall) values.push_back(Real(v));
  for (const double v : kLarge) values.push_back(Real(v));
  for (const double v :
       {kInfinity, -kInfinity, std::nan(""), 9007199254740991.0, 9223372036854774784.0}) {
    values.push_back(Real(v));
  }
}

inline void AddTrickyDecimals(std::vector<OwnedValue>& values) {
  constexpr std::string_view kTexts =
      "0 -0 0E+6000 0E-6176 1 1.0 1.00E+0 -1 0.1 0.10 0.5 1.5 0.1000000000000000055511151231257827 "
      "9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 "
      "9007199254740993 1E+6144 -1E+6144 1E-6176 -1E-6176 "
      "9.999999999999999999999999999999999E+6144 "
      "NaN -NaN Infinity -Infinity 1E+300 1E+308 1E+309 4.94E-324 1E-323 2147483648 "
      "18446744073709551616 ";
  for (size_t at = 0; at < kTexts.size();) {
    const size_t end = kTexts.find(' ', at);
    values.push_back(Dec(kTexts.substr(at, end - at)));
    at = end + 1;
  }
}

inline void AddTrickyText(std::vector<OwnedValue>& values) {
  const std::string_view texts[] = {"",         "a",         "A",        "aa",  "b",
                                    {"a\0", 2}, {"a\0b", 3}, "\xC3\xA4", "\xFF"};
  for (const std::string_view t : texts) {
    AddTo(values, [&](Builder& b) { b.Append("", t); });
    AddTo(values, [&](Builder& b) { b.AppendSymbol("", t); });
    AddTo(values, [&](Builder& b) { b.AppendBinary("", 0, t); });
    AddTo(values, [&](Builder& b) { b.AppendCode("", t); });
    AddTo(values, [&](Builder& b) { b.AppendDbPointer("", t, kSampleId); });
  }
  for (const int subtype : {1, 2, 4, 128, 255}) {
    AddTo(values, [&](Builder& b) { b.AppendBinary("", static_cast<uint8_t>(subtype), "xy"); });
  }
  for (const char* const pattern : {"", "a", "b"}) {
    for (const char* const options : {"", "i", "m"}) {
      AddTo(values, [&](Builder& b) { b.AppendRegex("", pattern, options); });
    }
  }
}

inline void AddTrickyOthers(std::vector<OwnedValue>& values) {
  values.emplace_back();
  AddTo(values, [](Builder& b) { b.AppendUndefined(""); });
  AddTo(values, [](Builder& b) { b.AppendNull(""); });
  AddTo(values, [](Builder& b) { b.AppendMinKey(""); });
  AddTo(values, [](Builder& b) { b.AppendMaxKey(""); });
  for (const bool v : {false, true}) AddTo(values, [&](Builder& b) { b.Append("", v); });
  for (const int64_t v : {int64_t{0}, int64_t{1}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    AddTo(values, [&](Builder& b) { b.AppendDate("", v); });
  }
  for (const uint64_t v :
       {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX}) {
    AddTo(values, [&](Builder& b) { b.Append("", Timestamp{v}); });
  }
  AddTo(values, [](Builder& b) { b.AppendObjectId("", kSampleId); });
  AddTo(values, [](Builder& b) { b.AppendObjectId("", std::string(12, '\0')); });
  AddTo(values, [](Builder& b) { b.AppendObjectId("", std::string(12, '\xFF')); });
  for (const char* json :
       {"{}", R"({"a":1})", R"({"a":1.5})", R"({"a":1,"b":1})", R"({"b":0})", R"({"a":"x"})",
        R"({"a":{"b":1}})", R"({"a":[1]})", R"({"a":null})", R"({"":1})"}) {
    const Document document = Json(json);
    AddTo(values, [&](Builder& b) { b.AppendDocument("", document); });
    AddTo(values, [&](Builder& b) { b.AppendCodeWithScope("", "f", document); });
  }
  for (const char* json :
       {R"({"a":[]})", R"({"a":[1]})", R"({"a":[1,2]})", R"({"a":[2]})", R"({"a":["x"]})",
        R"({"a":[[]]})", R"({"a":[null]})", R"({"a":[{"a":1}]})", R"({"a":[1,1.5]})"}) {
    values.emplace_back(Json(json)["a"]);
  }
}

}  // namespace internal

// About 170 values of all types around the edges of their order.
inline std::vector<OwnedValue> TrickyValues() {
  std::vector<OwnedValue> values;
  internal::AddTrickyIntegers(values);
  internal::AddTrickyDoubles(values);
  internal::AddTrickyDecimals(values);
  internal::AddTrickyText(values);
  internal::AddTrickyOthers(values);
  return values;
}

// A document of random shape with at most `depth` levels below it.
inline Document RandomDocument(base::Random& random, int depth) {
  static const std::vector<OwnedValue>* const values = new std::vector<OwnedValue>(TrickyValues());
  Builder b;
  const uint64_t fields = random.Uniform(6);
  for (uint64_t i = 0; i < fields; ++i) {
    const std::string key(random.Uniform(4), static_cast<char>('a' + random.Uniform(26)));
    const uint64_t kind = depth > 0 ? random.Uniform(6) : 5;
    if (kind == 0) {
      b.AppendDocument(key, RandomDocument(random, depth - 1));
    } else if (kind == 1) {
      b.AppendArray(key, RandomDocument(random, depth - 1));
    } else if (kind == 2) {
      b.AppendCodeWithScope(key, "f", RandomDocument(random, depth - 1));
    } else {
      b.Append(key, (*values)[random.Uniform(values->size())]);
    }
  }
  return b.Finish();
}

// Reads every value of `document` through its views. False as soon as one leaves [begin, end).
inline bool WalkWithin(View document, const char* begin, const char* end) {
  const auto inside = [&](std::string_view part) {
    return part.data() >= begin && part.data() + part.size() <= end;
  };
  if (!inside({document.data(), 5}) || !inside(document.Bytes())) return false;
  for (auto it = document.begin(); it != document.end(); ++it) {
    const Value value = it->value;
    if (!inside(it->key) || (value.SizeBytes() > 0 && !inside(value.Bytes()))) return false;
    switch (value.type()) {
      case Type::kString:
      case Type::kSymbol:
      case Type::kCode:
        if (!inside(value.AsString())) return false;
        break;
      case Type::kBinary:
        if (!inside(value.AsBinary().bytes)) return false;
        break;
      case Type::kRegex:
        if (!inside(value.AsRegex().pattern) || !inside(value.AsRegex().options)) return false;
        break;
      case Type::kDbPointer:
        if (!inside(value.AsDbPointerNamespace()) || !inside(value.AsDbPointerId())) return false;
        break;
      case Type::kCodeWithScope:
        if (!inside(value.AsCodeWithScopeCode()) ||
            !WalkWithin(value.AsCodeWithScopeScope(), begin, end))
          return false;
        break;
      case Type::kObject:
      case Type::kArray:
        if (!WalkWithin(value.AsDocument(), begin, end)) return false;
        break;
      default:
        break;
    }
  }
  return true;
}

}  // namespace evenkeel::bson
