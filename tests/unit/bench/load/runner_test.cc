// Tests of the runner, the mixes and the reports, without a server.
#include "bench/load/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "base/status.h"
#include "bench/load/goals.h"
#include "bench/load/log_ceiling.h"
#include "bench/load/report.h"
#include "bench/load/workload.h"

namespace evenkeel::bench {
namespace {

using ::testing::HasSubstr;

// Does a fixed number of steps; every third fails.
class CountedWorker : public Worker {
 public:
  explicit CountedWorker(int steps) : left_(steps) {}
  bool Finished() const override { return left_ == 0; }
  absl::StatusOr<Operation> Step() override {
    --left_;
    if (left_ % 3 == 0) return Error(ErrorCode::kOperationFailed, "step {} failed", left_);
    return Operation::kRead;
  }

 private:
  int left_;
};

TEST(RunnerTest, AddsUpTheThreads) {
  const auto result = RunWorkers({.name = "counted", .threads = 3}, [](int) {
    return absl::StatusOr<std::unique_ptr<Worker>>(std::make_unique<CountedWorker>(9));
  });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->Count(), 18u);
  EXPECT_EQ(result->error_count, 9u);
  EXPECT_EQ(result->first_error, "step 6 failed");
}

TEST(RunnerTest, AFailedFactoryRunsNothing) {
  const auto result = RunWorkers({.name = "broken", .threads = 2},
                                 [](int thread) -> absl::StatusOr<std::unique_ptr<Worker>> {
                                   if (thread == 1)
                                     return Error(ErrorCode::kOperationFailed, "no connection");
                                   return std::make_unique<CountedWorker>(1'000'000'000);
                                 });
  EXPECT_EQ(MessageOf(result.status()), "no connection");
}

TEST(MixTest, SharesSumToOneHundred) {
  for (const Mix& mix : YcsbMixes()) {
    EXPECT_EQ(mix.read + mix.update + mix.insert + mix.scan + mix.read_modify_write, 100)
        << mix.name;
    EXPECT_EQ(FindMix(mix.name), &mix);
  }
  EXPECT_EQ(FindMix("e"), FindMix("E"));
  EXPECT_EQ(FindMix("G"), nullptr);
}

TEST(ReportTest, TextAndJsonNameTheOperations) {
  Result result{.name = "a \"name\"", .threads = 2, .elapsed = absl::Seconds(2)};
  result.operations[static_cast<size_t>(Operation::kRead)].Record(absl::Microseconds(50));
  EXPECT_THAT(TextOf(result), HasSubstr("read"));
  const std::string json = JsonOf(result);
  EXPECT_THAT(json, HasSubstr(R"("name": "a \"name\"")"));
  EXPECT_THAT(json, HasSubstr(R"("read": {"count": 1, "perSecond": 0.5, "meanMicros": 50.0)"));
}

TEST(GoalsTest, AnonymousMemoryOfThisProcess) {
  const auto bytes = AnonymousBytes(getpid());
  ASSERT_TRUE(bytes.ok());
  EXPECT_GT(*bytes, 100'000u);
  EXPECT_FALSE(AnonymousBytes(-1).ok());
}

TEST(GoalsTest, TheTableMarksWhatIsNotReached) {
  const std::string text =
      TextOf({{.name = "good", .wanted = "> 1", .measured = 2, .reached = true},
              {.name = "bad", .wanted = "> 1", .measured = 0.5}});
  EXPECT_THAT(text, HasSubstr("NOT REACHED"));
  EXPECT_LT(text.find("good"), text.find("NOT REACHED"));
}

TEST(LogCeilingTest, MeasuresAndNamesAFolderThatIsMissing) {
  const auto measured =
      MeasureLogCeiling({.folder = ::testing::TempDir(), .duration = absl::Milliseconds(20)});
  ASSERT_TRUE(measured.ok()) << MessageOf(measured.status());
  EXPECT_GT(measured->records_per_second, 0);
  const auto missing = MeasureLogCeiling({.folder = "/nonexistent"});
  EXPECT_THAT(std::string(MessageOf(missing.status())), HasSubstr("/nonexistent"));
}

}  // namespace
}  // namespace evenkeel::bench
