// Tests of a command's writes: order, failures of any of them, a log without room.
#include "shard/command/write_task.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/status.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using storage::Table;
using storage::WriteContext;
using tests::ShardFixture;

class FunctionTask final : public WriteTask {
 public:
  explicit FunctionTask(std::function<void(WriteContext&)> body, size_t bytes = 64)
      : body_(std::move(body)), bytes_(bytes) {}
  void Execute(WriteContext& context) override { body_(context); }
  size_t SizeBytes() const override { return bytes_; }

 private:
  const std::function<void(WriteContext&)> body_;
  const size_t bytes_;
};

std::shared_ptr<WriteTask> PutTask(const std::string& key, const std::string& value) {
  return std::make_shared<FunctionTask>(
      [key, value](WriteContext& context) { context.Put(Table::kMeta, key, value); });
}

TEST(CommandWrites, WithoutAnyNothingIsWaitedFor) {
  ShardFixture shard;
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    EXPECT_FALSE(writes.any());
    EXPECT_TRUE((co_await writes.Durable()).ok());
  });
}

TEST(CommandWrites, RunInOrder) {
  ShardFixture shard;
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    EXPECT_TRUE(writes.Submit(shard.service(), PutTask("k", "1")).ok());
    EXPECT_TRUE(writes.Submit(shard.service(), PutTask("k", "2")).ok());
    EXPECT_TRUE(writes.any());
    EXPECT_TRUE((co_await writes.Executed()).ok());
    EXPECT_GT(writes.timestamp(), Timestamp{});
    EXPECT_TRUE((co_await writes.Durable()).ok());
    EXPECT_GE(shard.store().latest(), writes.timestamp());
    EXPECT_EQ(shard.store().Read().Get(Table::kMeta, "k")->value, "2");
  });
}

TEST(CommandWrites, AreExecutedBeforeTheyAreDurable) {
  ShardFixture shard;
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    EXPECT_TRUE(writes.Submit(shard.service(), PutTask("k", "1")).ok());
    EXPECT_TRUE((co_await writes.Executed()).ok());
    EXPECT_FALSE(shard.store().Read().Get(Table::kMeta, "k").has_value());
    shard.log.Hold(false);
    EXPECT_TRUE((co_await writes.Durable()).ok());
    EXPECT_TRUE(shard.store().Read().Get(Table::kMeta, "k").has_value());
  });
}

TEST(CommandWrites, ARefusedTaskIsNotExecuted) {
  ShardFixture shard;
  shard.log.SetSpace(10);
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    EXPECT_TRUE(writes.Submit(shard.service(), PutTask("k", "1")).ok());
    EXPECT_EQ(CodeOf(co_await writes.Executed()), ErrorCode::kOutOfDiskSpace);
    EXPECT_EQ(CodeOf(co_await writes.Durable()), ErrorCode::kOutOfDiskSpace);
  });
}

// It was executed and looked fine; that it was taken back is known only when it ends. The success
// of a later one must not hide it.
TEST(CommandWrites, AnEarlierFailureIsNotForgotten) {
  ShardFixture shard;
  shard.log.WaitUntilIdle();
  shard.log.SetSpace(4000);
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    // Writes more than it said.
    EXPECT_TRUE(writes.Submit(shard.service(), PutTask("large", std::string(100'000, 'x'))).ok());
    EXPECT_TRUE((co_await writes.Executed()).ok());
    EXPECT_TRUE(writes.Submit(shard.service(), PutTask("small", "1")).ok());
    EXPECT_TRUE((co_await writes.Executed()).ok());
    EXPECT_EQ(CodeOf(co_await writes.Durable()), ErrorCode::kOutOfDiskSpace);
    EXPECT_FALSE(shard.store().Read().Get(Table::kMeta, "large").has_value());
    EXPECT_TRUE(shard.store().Read().Get(Table::kMeta, "small").has_value());
  });
}

TEST(CommandWrites, AClosedStoreTakesNothing) {
  ShardFixture shard;
  ASSERT_TRUE(shard.store().Close().ok());
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    EXPECT_EQ(CodeOf(writes.Submit(shard.service(), PutTask("k", "1"))),
              ErrorCode::kShutdownInProgress);
    EXPECT_FALSE(writes.any());
    EXPECT_TRUE((co_await writes.Durable()).ok());
    EXPECT_EQ(CodeOf(co_await SubmitAndWait(shard.service(), PutTask("k", "1"))),
              ErrorCode::kShutdownInProgress);
  });
}

}  // namespace
}  // namespace evenkeel::shard
