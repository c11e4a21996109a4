// UUIDs are random and say of which kind they are.
#include "router/uuid.h"

#include <gtest/gtest.h>

namespace evenkeel::router {
namespace {

TEST(Uuid, IsRandomOfVersion4) {
  const std::string uuid = NewUuid();
  ASSERT_EQ(uuid.size(), 16u);
  EXPECT_EQ(uuid[6] & 0xF0, 0x40);
  EXPECT_EQ(uuid[8] & 0xC0, 0x80);
  EXPECT_NE(uuid, NewUuid());
}

}  // namespace
}  // namespace evenkeel::router
