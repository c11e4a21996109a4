// Tests of a command's writes: order, failures of any of them, a log without room.
#include "shard/command/write_task.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/async/cancellation.h"
#include "base/status.h"
#include "tests/lib/shard/shard_fixture.h"
#include "wire/protocol/message.h"

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

// A command of a test.
struct TestCommand {
  explicit TestCommand(ShardFixture& shard)
      : message(wire::MakeMessage(bson::Document())),
        context{shard.service(), message, absl::InfiniteFuture(), cancelled.token()} {}
  base::CancellationSource cancelled;
  const wire::Message message;
  const CommandContext context;
};

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
  TestCommand command(shard);
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    EXPECT_TRUE((co_await writes.Submit(command.context, PutTask("k", "1"))).ok());
    EXPECT_TRUE((co_await writes.Submit(command.context, PutTask("k", "2"))).ok());
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
  TestCommand command(shard);
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    EXPECT_TRUE((co_await writes.Submit(command.context, PutTask("k", "1"))).ok());
    EXPECT_TRUE((co_await writes.Executed()).ok());
    EXPECT_FALSE(shard.store().Read().Get(Table::kMeta, "k").has_value());
    shard.log.Hold(false);
    EXPECT_TRUE((co_await writes.Durable()).ok());
    EXPECT_TRUE(shard.store().Read().Get(Table::kMeta, "k").has_value());
  });
}

TEST(CommandWrites, ARefusedTaskIsNotExecuted) {
  ShardFixture shard;
  TestCommand command(shard);
  shard.log.SetSpace(10);
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    EXPECT_TRUE((co_await writes.Submit(command.context, PutTask("k", "1"))).ok());
    EXPECT_EQ(CodeOf(co_await writes.Executed()), ErrorCode::kOutOfDiskSpace);
    EXPECT_EQ(CodeOf(co_await writes.Durable()), ErrorCode::kOutOfDiskSpace);
  });
}

// It was executed and looked fine; that it was taken back is known only when it ends. The success
// of a later one must not hide it.
TEST(CommandWrites, AnEarlierFailureIsNotForgotten) {
  ShardFixture shard;
  TestCommand command(shard);
  shard.log.WaitUntilIdle();
  shard.log.SetSpace(4000);
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    // Writes more than it said.
    EXPECT_TRUE(
        (co_await writes.Submit(command.context, PutTask("large", std::string(100'000, 'x'))))
            .ok());
    EXPECT_TRUE((co_await writes.Executed()).ok());
    EXPECT_TRUE((co_await writes.Submit(command.context, PutTask("small", "1"))).ok());
    EXPECT_TRUE((co_await writes.Executed()).ok());
    EXPECT_EQ(CodeOf(co_await writes.Durable()), ErrorCode::kOutOfDiskSpace);
    EXPECT_FALSE(shard.store().Read().Get(Table::kMeta, "large").has_value());
    EXPECT_TRUE(shard.store().Read().Get(Table::kMeta, "small").has_value());
  });
}

// A command that writes faster than the log waits; one that gives up has done nothing.
TEST(CommandWrites, WaitForRoom) {
  ShardFixture shard;
  TestCommand command(shard), impatient(shard);
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  const auto large = [](const std::string& key) {
    return std::make_shared<FunctionTask>(
        [key](WriteContext& context) { context.Put(Table::kMeta, key, "1"); },
        ShardService::kWriteBudgetBytes);
  };
  std::vector<std::function<Awaitable<void>()>> tasks;
  CommandWrites first, second, third;
  bool submitted = false;
  tasks.emplace_back([&]() -> Awaitable<void> {
    EXPECT_TRUE((co_await first.Submit(command.context, large("a"))).ok());
    EXPECT_TRUE((co_await second.Submit(command.context, large("b"))).ok());
    submitted = true;
  });
  tasks.emplace_back([&]() -> Awaitable<void> {
    (void)co_await base::Sleep(absl::Milliseconds(5));
    EXPECT_FALSE(submitted);
    impatient.cancelled.Cancel();
    EXPECT_EQ(CodeOf(co_await third.Submit(impatient.context, large("c"))),
              ErrorCode::kInterrupted);
    EXPECT_TRUE(first.SubmitNow(shard.service(), PutTask("d", "1")).ok());  // never waits
    shard.log.Hold(false);
    EXPECT_TRUE((co_await first.Durable()).ok());
  });
  shard.RunOnLoop([&] { return base::WhenAll(tasks); });
  EXPECT_TRUE(submitted);
  shard.RunOnLoop([&]() -> Awaitable<void> { EXPECT_TRUE((co_await second.Durable()).ok()); });
  EXPECT_EQ(shard.CountRecords(Table::kMeta, "c"), 0u);
  shard.Write([](WriteContext&) {});
  EXPECT_EQ(shard.service().write_budget()->HeldBytes(), 0u);
}

TEST(CommandWrites, AClosedStoreTakesNothing) {
  ShardFixture shard;
  TestCommand command(shard);
  ASSERT_TRUE(shard.store().Close().ok());
  shard.RunOnLoop([&]() -> Awaitable<void> {
    CommandWrites writes;
    EXPECT_EQ(CodeOf(co_await writes.Submit(command.context, PutTask("k", "1"))),
              ErrorCode::kShutdownInProgress);
    EXPECT_EQ(CodeOf(writes.SubmitNow(shard.service(), PutTask("k", "1"))),
              ErrorCode::kShutdownInProgress);
    EXPECT_FALSE(writes.any());
    EXPECT_TRUE((co_await writes.Durable()).ok());
    EXPECT_EQ(CodeOf(co_await SubmitAndWait(command.context, PutTask("k", "1"))),
              ErrorCode::kShutdownInProgress);
    EXPECT_EQ(shard.service().write_budget()->HeldBytes(), 0u);
  });
}

}  // namespace
}  // namespace evenkeel::shard
