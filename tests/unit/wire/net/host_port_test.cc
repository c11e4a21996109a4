// Addresses as people write them.
#include "wire/net/host_port.h"

#include <gtest/gtest.h>

namespace evenkeel::wire {
namespace {

TEST(HostPort, GoodOnes) {
  const auto at = ParseHostPort("shard3.example.net:27018");
  ASSERT_TRUE(at);
  EXPECT_EQ(at->host, "shard3.example.net");
  EXPECT_EQ(at->port, 27018);
  EXPECT_EQ(at->text(), "shard3.example.net:27018");
  EXPECT_EQ(ParseHostPort("h:1")->port, 1);
  EXPECT_EQ(ParseHostPort("h:65535")->port, 65535);
}

TEST(HostPort, BadOnes) {
  for (const char* bad : {"", "h", "h:", ":1", "h:0", "h:65536", "h:1x", "h:-1", "h: 1"}) {
    EXPECT_FALSE(ParseHostPort(bad)) << bad;
  }
}

}  // namespace
}  // namespace evenkeel::wire
