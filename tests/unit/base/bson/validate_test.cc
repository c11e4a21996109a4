// Tests of validation: hand-made broken documents, and mutations that must stay readable if they
// are accepted.
#include "base/bson/validate.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/bson/compare.h"
#include "base/bson/json.h"
#include "base/status.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int byte : bytes) out.push_back(static_cast<char>(byte));
  return out;
}

// A document with one field "a" of this type and these value bytes.
std::string WithValue(Type type, const std::string& value) {
  std::string body(1, static_cast<char>(type));
  body.append("a").push_back('\0');
  body.append(value).push_back('\0');
  const auto length = static_cast<int32_t>(body.size() + 4);
  return std::string(reinterpret_cast<const char*>(&length), 4) + body;
}

// A document nested `levels` deep, the outermost counted.
Document Nested(int levels, Type type) {
  Builder b;
  for (int i = 1; i < levels; ++i) type == Type::kArray ? b.OpenArray("0") : b.OpenDocument("a");
  return b.Finish();
}

// Validates a copy that ends exactly where its allocation does, so that sanitizers see any step
// outside.
absl::Status ValidateExact(std::string_view bytes, int depth_max = limits::kCommandDepthMax) {
  const auto copy = std::make_unique<char[]>(bytes.size() + 1);
  char* start = copy.get() + 1;
  bytes.copy(start, bytes.size());
  const absl::Status status = Validate({start, bytes.size()}, depth_max);
  if (status.ok()) {
    EXPECT_TRUE(WalkWithin(View(start), start, start + bytes.size()));
  }
  return status;
}

TEST(ValidateTest, AcceptsWhatBuildersMake) {
  EXPECT_TRUE(ValidateExact(Document().bytes()).ok());
  EXPECT_TRUE(ValidateExact(EveryType().bytes()).ok());
  base::Random random(1);
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(ValidateExact(RandomDocument(random, 4).bytes()).ok());
}

struct Broken {
  const char* what;
  std::string bytes;
};

void ExpectInvalid(const std::vector<Broken>& cases) {
  for (const Broken& c : cases) {
    EXPECT_EQ(CodeOf(ValidateExact(c.bytes)), ErrorCode::kInvalidBSON) << c.what;
  }
}

TEST(ValidateTest, RefusesBrokenOutlines) {
  ExpectInvalid({
      {"nothing", ""},
      {"four bytes", Bytes({4, 0, 0, 0})},
      {"length too small", Bytes({4, 0, 0, 0, 0})},
      {"length too large", Bytes({6, 0, 0, 0, 0})},
      {"negative length", Bytes({5, 0, 0, 0x80, 0})},
      {"trailing byte", Bytes({5, 0, 0, 0, 0, 0})},
      {"no terminator", Bytes({5, 0, 0, 0, 1})},
      {"terminator too early", Bytes({7, 0, 0, 0, 0, 0, 0})},
      {"name runs to the end", Bytes({7, 0, 0, 0, 0x0A, 'a', 0})},
      {"type alone", Bytes({6, 0, 0, 0, 0x0A, 0})},
      {"unknown type", WithValue(static_cast<Type>(0x14), "")},
      {"unknown type 0x80", WithValue(static_cast<Type>(0x80), "")},
  });
}

TEST(ValidateTest, RefusesBrokenScalars) {
  ExpectInvalid({
      {"short double", WithValue(Type::kDouble, "1234567")},
      {"short int32", WithValue(Type::kInt32, "123")},
      {"short int64", WithValue(Type::kInt64, "1234567")},
      {"short date", WithValue(Type::kDate, "")},
      {"short timestamp", WithValue(Type::kTimestamp, "1")},
      {"short decimal", WithValue(Type::kDecimal128, "123456789012345")},
      {"short id", WithValue(Type::kObjectId, "12345678901")},
      {"no bool", WithValue(Type::kBool, "")},
      {"bool 2", WithValue(Type::kBool, "\2")},
      {"string without length", WithValue(Type::kString, Bytes({1, 0, 0}))},
      {"string of length 0", WithValue(Type::kString, Bytes({0, 0, 0, 0, 0}))},
      {"string of negative length", WithValue(Type::kString, Bytes({255, 255, 255, 255, 0}))},
      {"string that takes the terminator", WithValue(Type::kString, Bytes({3, 0, 0, 0, 'x', 0}))},
      {"string without zero", WithValue(Type::kString, Bytes({2, 0, 0, 0, 'x', 'y'}))},
      {"string longer than its document", WithValue(Type::kString, Bytes({255, 255, 255, 127, 0}))},
      {"symbol without zero", WithValue(Type::kSymbol, Bytes({1, 0, 0, 0, 'x'}))},
      {"code of length 0", WithValue(Type::kCode, Bytes({0, 0, 0, 0}))},
  });
}

TEST(ValidateTest, RefusesBrokenBinariesAndPatterns) {
  const std::string twelve(12, 'x');
  ExpectInvalid({
      {"binary without subtype", WithValue(Type::kBinary, Bytes({0, 0, 0, 0}))},
      {"binary of negative length", WithValue(Type::kBinary, Bytes({255, 255, 255, 255, 0}))},
      {"binary too long", WithValue(Type::kBinary, Bytes({2, 0, 0, 0, 0, 'x'}))},
      {"old binary too short", WithValue(Type::kBinary, Bytes({3, 0, 0, 0, 2, 0, 0, 0}))},
      {"old binary, inner length wrong",
       WithValue(Type::kBinary, Bytes({5, 0, 0, 0, 2, 2, 0, 0, 0, 'x'}))},
      {"old binary, inner length negative",
       WithValue(Type::kBinary, Bytes({4, 0, 0, 0, 2, 255, 255, 255, 255}))},
      {"regex without options", WithValue(Type::kRegex, Bytes({'x', 0}))},
      {"regex without zero", WithValue(Type::kRegex, "xyz")},
      {"pointer without id", WithValue(Type::kDbPointer, Bytes({1, 0, 0, 0, 0}))},
      {"pointer without name", WithValue(Type::kDbPointer, twelve)},
  });
}

TEST(ValidateTest, RefusesBrokenNesting) {
  ExpectInvalid({
      {"object too long", WithValue(Type::kObject, Bytes({6, 0, 0, 0, 0}))},
      {"object too short", WithValue(Type::kObject, Bytes({4, 0, 0, 0, 0}))},
      {"object without terminator", WithValue(Type::kObject, Bytes({5, 0, 0, 0, 1}))},
      {"object of length 0", WithValue(Type::kObject, Bytes({0, 0, 0, 0, 0}))},
      {"array cut off", WithValue(Type::kArray, Bytes({5, 0, 0}))},
      {"scope missing", WithValue(Type::kCodeWithScope, Bytes({9, 0, 0, 0, 1, 0, 0, 0, 0}))},
      {"scope too long",
       WithValue(Type::kCodeWithScope, Bytes({14, 0, 0, 0, 1, 0, 0, 0, 0, 6, 0, 0, 0, 0}))},
      {"code with scope too long",
       WithValue(Type::kCodeWithScope, Bytes({15, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0}))},
      {"bytes behind the scope",
       WithValue(Type::kCodeWithScope, Bytes({15, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0}))},
      {"code with scope of length 0", WithValue(Type::kCodeWithScope, Bytes({0, 0, 0, 0}))},
      {"code takes the scope",
       WithValue(Type::kCodeWithScope, Bytes({14, 0, 0, 0, 6, 0, 0, 0, 0, 5, 0, 0, 0, 0}))},
  });
}

TEST(ValidateTest, AcceptsTheEdges) {
  EXPECT_TRUE(ValidateExact(WithValue(Type::kString, Bytes({1, 0, 0, 0, 0}))).ok());
  EXPECT_TRUE(ValidateExact(WithValue(Type::kBinary, Bytes({0, 0, 0, 0, 0}))).ok());
  EXPECT_TRUE(ValidateExact(WithValue(Type::kBinary, Bytes({4, 0, 0, 0, 2, 0, 0, 0, 0}))).ok());
  EXPECT_TRUE(ValidateExact(WithValue(Type::kRegex, Bytes({0, 0}))).ok());
  EXPECT_TRUE(ValidateExact(WithValue(Type::kCodeWithScope,
                                      Bytes({14, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0})))
                  .ok());
  EXPECT_TRUE(ValidateExact(WithValue(Type::kString, Bytes({2, 0, 0, 0, 255, 0}))).ok())
      << "no UTF-8";
}

TEST(ValidateTest, BoundsTheNesting) {
  for (const Type type : {Type::kObject, Type::kArray}) {
    EXPECT_TRUE(ValidateExact(Nested(201, type).bytes()).ok());
    EXPECT_EQ(CodeOf(ValidateExact(Nested(202, type).bytes())), ErrorCode::kOverflow);
    EXPECT_TRUE(ValidateExact(Nested(100, type).bytes(), 100).ok());
    EXPECT_EQ(CodeOf(ValidateExact(Nested(101, type).bytes(), 100)), ErrorCode::kOverflow);
    EXPECT_TRUE(ValidateExact(Nested(256, type).bytes(), 1000).ok());
    EXPECT_EQ(CodeOf(ValidateExact(Nested(257, type).bytes(), 1000)), ErrorCode::kOverflow);
    EXPECT_EQ(CodeOf(Validate(Nested(100'000, type).bytes())), ErrorCode::kOverflow);
  }
  EXPECT_EQ(CodeOf(Validate(Document().bytes(), 0)), ErrorCode::kOverflow);
}

TEST(ValidateTest, NamesTheOffset) {
  const absl::Status status = Validate(WithValue(Type::kBool, "\2"));
  EXPECT_EQ(MessageOf(status), "invalid BSON at offset 7: boolean is neither 0 nor 1");
}

TEST(ValidateTest, EveryTruncationIsRefused) {
  const std::string bytes = EveryType().bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ValidateExact(bytes.substr(0, size)).ok()) << size;
  }
}

TEST(ValidateTest, EverySingleByteChangeStaysInBounds) {
  const std::string bytes = EveryType().bytes();
  size_t accepted = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string mutant = bytes;
      mutant[at] = static_cast<char>(byte);
      if (!ValidateExact(mutant).ok()) continue;
      ++accepted;
      const View view(mutant.data());
      ASSERT_EQ(CompareDocuments(view, view), 0);
    }
  }
  EXPECT_GT(accepted, 1000u) << "some changes, in text and numbers, are harmless";
}

TEST(ValidateTest, RandomMutationsStayInBounds) {
  base::Random random(7);
  size_t accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = RandomDocument(random, 3).bytes();
    const uint64_t changes = 1 + random.Uniform(4);
    for (uint64_t i = 0; i < changes; ++i) {
      const size_t at = random.Uniform(bytes.size());
      switch (random.Uniform(4)) {
        case 0:
          bytes[at] = static_cast<char>(random.Next64());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] + 1 - 2 * static_cast<int>(random.Uniform(2)));
          break;
        case 2:
          bytes.erase(at, 1 + random.Uniform(3));
          break;
        default:
          bytes.insert(at, 1 + random.Uniform(3), static_cast<char>(random.Uniform(20)));
      }
      if (bytes.empty()) break;
      // Mostly with a right outer length, so that the walk gets further.
      if (bytes.size() >= 5 && random.Chance(0.8)) {
        const auto length = static_cast<int32_t>(bytes.size());
        std::memcpy(bytes.data(), &length, sizeof(length));
      }
    }
    if (!ValidateExact(bytes).ok()) continue;
    ++accepted;
    const View view(bytes.data());
    ASSERT_EQ(CompareDocuments(view, view), 0);
    ASSERT_FALSE(ToCanonicalJson(view).empty());
  }
  EXPECT_GT(accepted, 500u);
}

}  // namespace
}  // namespace evenkeel::bson
