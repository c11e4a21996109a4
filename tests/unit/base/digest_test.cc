// Digests against published values.
#include "base/digest.h"

#include <absl/strings/escaping.h>
#include <gtest/gtest.h>

namespace evenkeel::base {
namespace {

std::string Hex(const std::string& bytes) { return absl::BytesToHexString(bytes); }

TEST(Digest, PublishedValues) {
  EXPECT_EQ(Hex(Md5("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Hex(Md5("abc")), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(Hex(Sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(Xxh64("")), "ef46db3751d8e999");
  EXPECT_EQ(Hex(Xxh64("abc")), "44bc2cf5ad770999");
}

}  // namespace
}  // namespace evenkeel::base
