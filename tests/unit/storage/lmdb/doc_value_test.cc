// Documents in LMDB: the head, and that damage is noticed.
#include "storage/lmdb/doc_value.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace evenkeel::storage {
namespace {

std::string Stored(Timestamp timestamp, std::string_view document) {
  const auto head = DocHead(timestamp, document);
  return std::string(head.data(), head.size()) + std::string(document);
}

TEST(DocValue, SplitsWhatWasJoined) {
  for (const std::string& document : {std::string(), std::string("x"), std::string(5000, 'y')}) {
    const std::string stored = Stored(Timestamp{77}, document);
    EXPECT_EQ(SplitDocValue(stored).commit_timestamp, Timestamp{77});
    EXPECT_EQ(SplitDocValue(stored).document, document);
    EXPECT_TRUE(DocValueIntact(stored));
  }
}

TEST(DocValue, EveryFlippedBitIsNoticed) {
  const std::string stored = Stored(Timestamp{0x123456789}, "some document");
  for (size_t bit = 0; bit < stored.size() * 8; ++bit) {
    std::string damaged = stored;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(DocValueIntact(damaged)) << "bit " << bit;
  }
}

TEST(DocValue, ShortValuesAreDamagedAndEmpty) {
  EXPECT_FALSE(DocValueIntact("short"));
  EXPECT_EQ(SplitDocValue("short").document, "");
}

TEST(DocValue, TheChecksumIsTheStandardCrc32c) {
  // The check value of the CRC catalogue is that of "123456789": its first eight bytes as the
  // timestamp, the ninth as document.
  uint64_t timestamp = 0;
  std::memcpy(&timestamp, "12345678", 8);
  const std::string stored = Stored(Timestamp{timestamp}, "9");
  uint32_t checksum = 0;
  std::memcpy(&checksum, stored.data() + 8, 4);
  EXPECT_EQ(checksum, 0xe3069283u);
}

}  // namespace
}  // namespace evenkeel::storage
