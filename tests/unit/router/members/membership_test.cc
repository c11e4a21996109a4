// The set of shards while it changes.
#include "router/members/membership.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/status.h"
#include "base/thread.h"

namespace evenkeel::router {
namespace {

class NoChannel final : public wire::ShardChannel {
 public:
  boost::asio::awaitable<absl::StatusOr<wire::Message>> Call(wire::Message, absl::Time,
                                                             base::CancellationToken) override {
    co_return MakeError(ErrorCode::kHostUnreachable, "a test");
  }
};

ShardRow Row(uint32_t number, std::string host = "h:1") {
  return {ShardId{number}, std::move(host)};
}

std::vector<ShardMember> First() { return {{Row(0), std::make_shared<NoChannel>()}}; }

OpenChannel Counting(std::vector<std::string>* opened) {
  return [opened](const std::string& name, const std::string& host) {
    opened->push_back(name + " " + host);
    return std::make_shared<NoChannel>();
  };
}

TEST(Membership, NewOnesAreOpenedAndGoneOnesGivenUp) {
  std::vector<std::string> opened;
  Membership members(First(), Counting(&opened));
  const auto zero = members.ChannelTo(ShardId{0});
  const auto before = members.Get();
  EXPECT_TRUE(members.Set(members.BeginReading(), {Row(0), Row(2, "h:2"), Row(5, "h:5")}).empty());
  EXPECT_EQ(opened, (std::vector<std::string>{"shard2 h:2", "shard5 h:5"}));
  EXPECT_EQ(members.ChannelTo(ShardId{0}), zero);
  EXPECT_EQ(members.ChannelTo(ShardId{1}), nullptr);
  EXPECT_EQ(before->size(), 1u) << "what was returned does not change";
  const auto two = members.ChannelTo(ShardId{2});
  const auto given_up = members.Set(members.BeginReading(), {Row(0), Row(5, "h:5")});
  ASSERT_EQ(given_up.size(), 1u);
  EXPECT_EQ(given_up.front(), two);
  EXPECT_EQ(members.Get()->size(), 2u);
}

TEST(Membership, AnotherAddressIsAnotherChannel) {
  std::vector<std::string> opened;
  Membership members(First(), Counting(&opened));
  const auto zero = members.ChannelTo(ShardId{0});
  EXPECT_EQ(members.Set(members.BeginReading(), {Row(0, "h:9")}).size(), 1u);
  EXPECT_NE(members.ChannelTo(ShardId{0}), zero);
}

TEST(Membership, WithoutAWayToOthersOnlyOwnOnesAreMembers) {
  Membership members(First(), {});
  const auto zero = members.ChannelTo(ShardId{0});
  EXPECT_TRUE(members.Set(members.BeginReading(), {Row(0, "h:9"), Row(1)}).empty());
  EXPECT_EQ(members.ChannelTo(ShardId{0}), zero);
  EXPECT_EQ(members.ChannelTo(ShardId{1}), nullptr);
}

TEST(Membership, WhatWasReadEarlierDoesNotComeBack) {
  std::vector<std::string> opened;
  Membership members(First(), Counting(&opened));
  const uint64_t earlier = members.BeginReading(), later = members.BeginReading();
  (void)members.Set(later, {Row(0), Row(1)});
  (void)members.Set(earlier, {Row(0)});
  EXPECT_NE(members.ChannelTo(ShardId{1}), nullptr);
}

TEST(Membership, ReadersSeeWholeSets) {
  std::vector<std::string> opened;
  Membership members(First(), Counting(&opened));
  std::atomic<bool> stop = false;
  base::Thread reader("reader", [&] {
    while (!stop) {
      const auto now = members.Get();
      EXPECT_TRUE(now->size() == 1 || now->size() == 3) << now->size();
      EXPECT_NE(members.ChannelTo(ShardId{0}), nullptr);
    }
  });
  for (int i = 0; i < 1000; ++i) {
    (void)members.Set(members.BeginReading(), {Row(0), Row(1), Row(2)});
    (void)members.Set(members.BeginReading(), {Row(0)});
  }
  stop = true;
  reader.Join();
}

}  // namespace
}  // namespace evenkeel::router
