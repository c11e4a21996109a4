// The finisher: order, publication before the end, waiters, closing.
#include "storage/write/finisher.h"

#include <gtest/gtest.h>

#include <string>

#include "base/status.h"

namespace evenkeel::storage {
namespace {

class FinisherTest : public testing::Test {
 public:
  // Writes its name, status and what was visible then.
  class NamedOp final : public WriteOp {
   public:
    NamedOp(FinisherTest* test, std::string name) : test_(test), name_(std::move(name)) {}
    void Execute(WriteContext&) override {}
    void Finished(const absl::Status& status, Timestamp timestamp) override {
      test_->told_ += name_ + (status.ok() ? "" : "!") + "@" + std::to_string(timestamp.bits) +
                      "/" + std::to_string(test_->views_.Current()->index.value) + " ";
    }
    size_t SizeBytes() const override { return 1; }

   private:
    FinisherTest* const test_;
    const std::string name_;
  };

  static std::shared_ptr<const View> EmptyView() {
    auto view = std::make_shared<View>();
    view->tables = std::make_shared<TableList>();
    return view;
  }

  void Add(uint64_t index, uint64_t latest, const std::string& name, uint64_t bound = 0) {
    ExecutedBatch batch{
        .index = LogIndex{index}, .latest = Timestamp{latest}, .clock_bound = Timestamp{bound}};
    batch.ops.push_back({std::make_unique<NamedOp>(this, name), absl::OkStatus()});
    finisher_.Add(std::move(batch));
  }
  void Wait(uint64_t commit, uint64_t bound, const std::string& name) {
    finisher_.WhenVisible(
        Timestamp{commit}, Timestamp{bound},
        [this, name](const absl::Status& status) { told_ += name + (status.ok() ? " " : "! "); });
  }
  std::string Told() { return std::exchange(told_, std::string()); }

  std::string told_;
  size_t released_ = 0;
  ViewPublisher views_{EmptyView()};
  Finisher finisher_{&views_, Timestamp{100}, [this](size_t bytes) { released_ += bytes; }, [] {}};
};

TEST_F(FinisherTest, OperationsEndWhenTheirBatchIsCommitted) {
  Add(1, 10, "a");
  Add(2, 20, "b");
  Add(3, 30, "c");
  EXPECT_EQ(Told(), "");
  EXPECT_EQ(views_.Current()->latest, Timestamp{});
  finisher_.Committed(LogIndex{1});
  EXPECT_EQ(Told(), "a@10/1 ");
  finisher_.Committed(LogIndex{3});
  EXPECT_EQ(Told(), "b@30/3 c@30/3 ") << "one view for both";
  EXPECT_GT(released_, 0u);
}

// M5: an answer that rests on what is not durable waits for it, also when it changes nothing.
TEST_F(FinisherTest, M5_ABatchWithoutEntryWaitsForTheOneItHasSeen) {
  Add(1, 10, "insert");
  Add(1, 0, "duplicate key");
  EXPECT_EQ(Told(), "");
  finisher_.Committed(LogIndex{1});
  EXPECT_EQ(Told(), "insert@10/1 duplicate key@10/1 ");
  Add(1, 0, "nothing to wait for");
  EXPECT_EQ(Told(), "nothing to wait for@10/1 ");
}

TEST_F(FinisherTest, WaitersWaitForCommitAndBound) {
  Wait(0, 50, "at once");
  Wait(10, 0, "commit");
  Wait(10, 200, "both");
  Wait(0, 200, "bound");
  EXPECT_EQ(Told(), "at once ");
  Add(1, 10, "a");
  finisher_.Committed(LogIndex{1});
  EXPECT_EQ(Told(), "a@10/1 commit ");
  Add(2, 0, "b", 200);
  finisher_.Committed(LogIndex{2});
  EXPECT_EQ(finisher_.clock_bound(), Timestamp{200});
  const std::string told = Told();
  EXPECT_EQ(told.substr(0, 7), "b@10/2 ");
  EXPECT_NE(told.find("both "), std::string::npos);
  EXPECT_NE(told.find("bound "), std::string::npos);
}

TEST_F(FinisherTest, WhenNoBoundCanBeLoggedItsWaitersAreTold) {
  Wait(10, 50, "commit");
  Wait(0, 200, "bound");
  finisher_.FailBoundWaiters(MakeError(ErrorCode::kOutOfDiskSpace, "full"));
  EXPECT_EQ(Told(), "bound! ");
}

TEST_F(FinisherTest, ClosingEndsEverythingWithAnError) {
  Add(1, 10, "a");
  Wait(10, 0, "waiter");
  finisher_.Abandon(MakeError(ErrorCode::kInterruptedAtShutdown, "closed"));
  EXPECT_EQ(Told(), "a!@0/0 waiter! ");
  finisher_.Committed(LogIndex{1});
  EXPECT_EQ(Told(), "");
  Wait(10, 0, "late");
  EXPECT_EQ(Told(), "late! ");
}

TEST_F(FinisherTest, AFinishedOperationMayFinishOthers) {
  // What an operation's end brings about must not be lost while this thread finishes.
  class Chain final : public WriteOp {
   public:
    explicit Chain(std::function<void()> then) : then_(std::move(then)) {}
    void Execute(WriteContext&) override {}
    void Finished(const absl::Status&, Timestamp) override { then_(); }
    size_t SizeBytes() const override { return 1; }

   private:
    const std::function<void()> then_;
  };
  ExecutedBatch batch{.index = LogIndex{1}};
  batch.ops.push_back({std::make_unique<Chain>([this] {
                         Add(2, 20, "next");
                         finisher_.Committed(LogIndex{2});
                       }),
                       absl::OkStatus()});
  finisher_.Add(std::move(batch));
  finisher_.Committed(LogIndex{1});
  EXPECT_EQ(Told(), "next@20/2 ");
}

}  // namespace
}  // namespace evenkeel::storage
