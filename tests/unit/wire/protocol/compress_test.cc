// Tests of packed messages and of the negotiation of packers.
#include "wire/protocol/compress.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/random.h"
#include "base/status.h"
#include "tests/unit/wire/protocol/bytes.h"

namespace evenkeel::wire {
namespace {

constexpr Compressor kAll[] = {Compressor::kNoop, Compressor::kSnappy, Compressor::kZlib,
                               Compressor::kZstd};
constexpr MessageHeader kHeader{0, 11, 12, OpCode::kMsg};

// The payload of an OP_COMPRESSED.
std::string Payload(int32_t op_code, int32_t bytes, int compressor, std::string_view packed) {
  return Int32Bytes(op_code) + Int32Bytes(bytes) + static_cast<char>(compressor) +
         std::string(packed);
}

absl::StatusOr<std::string> Unpack(const std::string& payload) {
  absl::StatusOr<CompressedHeader> header = ParseCompressedHeader(payload);
  if (!header.ok()) return header.status();
  return Decompress(*header, payload);
}

TEST(Compress, RoundTrip) {
  const std::string payload =
      MsgPayload(0, BodySection(Json(R"({"x": ")" + std::string(5000, 'y') + "\"}")));
  for (const Compressor compressor : kAll) {
    const auto whole = Compress(compressor, kHeader, payload);
    ASSERT_TRUE(whole.has_value()) << static_cast<int>(compressor);
    const auto header = ParseHeader(*whole);
    ASSERT_TRUE(header.ok());
    EXPECT_EQ(header->length_bytes, static_cast<int32_t>(whole->size()));
    EXPECT_EQ(header->op_code, OpCode::kCompressed);
    EXPECT_EQ(header->request_id, 11);
    EXPECT_EQ(header->response_to, 12);
    const auto inner = ParseCompressedHeader(whole->substr(kHeaderBytes));
    ASSERT_TRUE(inner.ok());
    EXPECT_EQ(inner->original_op_code, OpCode::kMsg);
    EXPECT_EQ(inner->original_bytes, static_cast<int32_t>(payload.size()));
    EXPECT_EQ(inner->compressor, compressor);
    const auto unpacked = Unpack(whole->substr(kHeaderBytes));
    ASSERT_TRUE(unpacked.ok()) << unpacked.status();
    EXPECT_EQ(*unpacked, payload);
  }
}

TEST(Compress, LeavesWhatDoesNotShrink) {
  base::Random random(1);
  const std::string noise = random.Bytes(1000);
  for (const Compressor compressor : {Compressor::kSnappy, Compressor::kZlib, Compressor::kZstd}) {
    EXPECT_FALSE(Compress(compressor, kHeader, noise).has_value());
    EXPECT_FALSE(Compress(compressor, kHeader, "").has_value());
  }
}

TEST(ParseCompressedHeader, RefusesWhatCannotBe) {
  const struct {
    const char* what;
    std::string payload;
  } cases[] = {
      {"too short", Payload(2013, 1, 1, "").substr(0, 8)},
      {"negative size", Payload(2013, -1, 1, "x")},
      {"size above the limit", Payload(2013, limits::kMessageBytesMax - 15, 1, "x")},
      {"unknown compressor", Payload(2013, 10, 4, "x")},
      {"compressor 255", Payload(2013, 10, 255, "x")},
      {"nested", Payload(2012, 10, 1, "x")},
  };
  for (const auto& test : cases) {
    EXPECT_TRUE(Is(ParseCompressedHeader(test.payload).status(), kCloseConnection)) << test.what;
  }
  EXPECT_TRUE(ParseCompressedHeader(Payload(2013, limits::kMessageBytesMax - 16, 1, "x")).ok());
}

// A message of a million zeros, packed well.
std::string Zeros(Compressor compressor) {
  const auto whole = Compress(compressor, kHeader, std::string(1'000'000, '\0'));
  return whole->substr(kHeaderBytes + kCompressedHeaderBytes);
}

TEST(Decompress, NeverMakesMoreThanAnnounced) {
  for (const Compressor compressor : {Compressor::kSnappy, Compressor::kZlib, Compressor::kZstd}) {
    const std::string packed = Zeros(compressor);
    for (const int32_t announced : {0, 1, 100, 999'999, 1'000'001, 47'000'000}) {
      const auto result = Unpack(Payload(2013, announced, static_cast<int>(compressor), packed));
      EXPECT_TRUE(Is(result.status(), kCloseConnection))
          << static_cast<int>(compressor) << " " << announced;
    }
    EXPECT_TRUE(Unpack(Payload(2013, 1'000'000, static_cast<int>(compressor), packed)).ok());
  }
  EXPECT_FALSE(Unpack(Payload(2013, 5, 0, "1234")).ok());
  EXPECT_FALSE(Unpack(Payload(2013, 3, 0, "1234")).ok());
}

TEST(Decompress, RefusesDamage) {
  const std::string payload =
      MsgPayload(0, BodySection(Json(R"({"x": ")" + std::string(300, 'y') + "\"}")));
  for (const Compressor compressor : {Compressor::kSnappy, Compressor::kZlib, Compressor::kZstd}) {
    const std::string packed = Compress(compressor, kHeader, payload)->substr(kHeaderBytes);
    for (size_t size = kCompressedHeaderBytes; size < packed.size(); ++size) {
      EXPECT_FALSE(Unpack(packed.substr(0, size)).ok())
          << static_cast<int>(compressor) << " " << size;
    }
    base::Random random(2);
    for (int i = 0; i < 300; ++i) {
      std::string changed = packed;
      changed[kCompressedHeaderBytes + random.Uniform(changed.size() - kCompressedHeaderBytes)] ^=
          0x41;
      const auto result =
          Unpack(changed);  // may be valid by chance, must be of the announced size then
      if (result.ok()) {
        EXPECT_EQ(result->size(), payload.size());
      }
    }
  }
}

TEST(NegotiateCompressors, KeepsTheClientsOrder) {
  const struct {
    const char* hello;
    std::vector<std::string_view> expected;
  } cases[] = {
      {R"({"hello": 1})", {}},
      {R"({"compression": []})", {}},
      {R"({"compression": "snappy"})", {}},
      {R"({"compression": ["zstd", "lz4", "snappy"]})", {"zstd", "snappy"}},
      {R"({"compression": ["zlib", "zlib", 1, null]})", {"zlib"}},
      {R"({"compression": ["snappy", "zlib", "zstd"]})", {"snappy", "zlib", "zstd"}},
  };
  for (const auto& test : cases)
    EXPECT_EQ(NegotiateCompressors(Json(test.hello)), test.expected) << test.hello;
}

}  // namespace
}  // namespace evenkeel::wire
