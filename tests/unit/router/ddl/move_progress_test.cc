// Phases, figures and estimates of moves.
#include "router/ddl/move_progress.h"

#include <gtest/gtest.h>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "router/ddl/job.h"

namespace evenkeel::router::ddl {
namespace {

catalog::CollectionEntry Unsharded(uint32_t shard) {
  catalog::CollectionEntry entry;
  entry.ns = "db.c";
  entry.uuid = std::string(16, 'u');
  entry.primary = ShardId{shard};
  return entry;
}

// As a moveCollection from shard0 to shard1 is made.
Job MoveJob() {
  const catalog::CollectionEntry from = Unsharded(0), into = Unsharded(1);
  Job job;
  job.name = "db.c";
  job.kind = "moveCollection";
  job.steps.push_back(Step::Apply(ShardId{0}, {from}));
  job.steps.push_back(Step::Commit(bson::Document()));
  job.steps.push_back(Step::Apply(ShardId{1}, {into}));
  job.steps.push_back(Step::Copying(Step::Kind::kCopy, from, into));
  job.steps.push_back(Step::Copying(Step::Kind::kCatchUp, from, into));
  job.steps.push_back(Step::Apply(ShardId{0}, {from}));
  job.steps.push_back(Step::Copying(Step::Kind::kFinish, from, into));
  job.steps.push_back(Step::Apply(ShardId{1}, {into}));
  job.steps.push_back(Step::Commit(bson::Document()));
  job.no_return = job.steps.size();
  job.steps.push_back(Step::Apply(ShardId{0}, {}, {CollectionId{7}}));
  return job;
}

class MoveProgressTest : public testing::Test {
 protected:
  base::FakeWallClock wall_{absl::FromUnixSeconds(1'700'000'000)};
  MoveTable table_{&wall_};
  const Job job_ = MoveJob();

  static int64_t Number(const bson::Document& row, std::string_view field) {
    return bson::ToInt64Truncated(row[field]);
  }
};

TEST_F(MoveProgressTest, Phases) {
  constexpr MovePhase kWanted[] = {
      MovePhase::kBeginning,      MovePhase::kBeginning,  MovePhase::kBeginning,
      MovePhase::kCloning,        MovePhase::kCatchingUp, MovePhase::kBlockingWrites,
      MovePhase::kBlockingWrites, MovePhase::kCommitting, MovePhase::kCommitting,
      MovePhase::kCleaning,
  };
  for (size_t i = 0; i < std::size(kWanted); ++i) {
    EXPECT_EQ(NameOf(PhaseAt(job_, i)), NameOf(kWanted[i])) << i;
  }
}

TEST_F(MoveProgressTest, OnlyJobsThatCopyAreListed) {
  Job other;
  other.name = "db.c";
  other.steps.push_back(Step::Apply(ShardId{0}, {Unsharded(0)}));
  other.no_return = 1;
  EXPECT_EQ(table_.Begin(other), nullptr);
  {
    const MoveRun run(table_, job_);
    ASSERT_EQ(table_.List().size(), 1u);
    EXPECT_EQ(table_.Find("db.c"), table_.List()[0]);
    EXPECT_EQ(table_.Find("db.d"), nullptr);
  }
  EXPECT_TRUE(table_.List().empty());
}

TEST_F(MoveProgressTest, Facts) {
  const bson::Document row = table_.Begin(job_)->Row();
  EXPECT_EQ(row["ns"].AsString(), "db.c");
  EXPECT_EQ(row["kind"].AsString(), "moveCollection");
  EXPECT_EQ(bson::ToJson(row["command"].AsDocument()),
            R"({"moveCollection":"db.c","toShard":"shard1"})");
  EXPECT_EQ(row["from"].AsString(), "shard0");
  EXPECT_EQ(row["to"].AsString(), "shard1");
  EXPECT_EQ(row["phase"].AsString(), "beginning");
  EXPECT_TRUE(row["secondsLeft"].missing());
}

TEST_F(MoveProgressTest, FiguresAndEstimates) {
  const auto move = table_.Begin(job_);
  wall_.Advance(absl::Seconds(1));
  move->Enter(MovePhase::kCloning);
  move->AddTotals(600, 60'000);
  move->AddTotals(400, 40'000);
  EXPECT_TRUE(move->Row()["secondsLeft"].missing());
  for (int i = 0; i < 20; ++i) {
    wall_.Advance(absl::Seconds(1));
    move->Copied(10, 1000);
  }
  const bson::Document row = move->Row();
  EXPECT_EQ(Number(row, "documents"), 200);
  EXPECT_EQ(Number(row, "documentsTotal"), 1000);
  EXPECT_EQ(Number(row, "bytes"), 20'000);
  EXPECT_EQ(Number(row, "bytesTotal"), 100'000);
  EXPECT_EQ(Number(row, "elapsedMs"), 21'000);
  EXPECT_EQ(Number(row, "cloningMs"), 20'000);
  EXPECT_NEAR(static_cast<double>(Number(row, "bytesPerSecond")), 1000, 300);
  EXPECT_NEAR(static_cast<double>(Number(row, "secondsLeft")), 80, 30);
}

TEST_F(MoveProgressTest, TheRateIsTheOneOfNow) {
  const auto move = table_.Begin(job_);
  move->Enter(MovePhase::kCloning);
  for (int i = 0; i < 1000; ++i) {
    wall_.Advance(absl::Seconds(1));
    move->Copied(1, 10);
  }
  for (int i = 0; i < 20; ++i) {
    wall_.Advance(absl::Seconds(1));
    move->Copied(1, 1000);
  }
  EXPECT_NEAR(static_cast<double>(Number(move->Row(), "bytesPerSecond")), 1000, 300);
  wall_.Advance(absl::Minutes(10));
  EXPECT_LT(Number(move->Row(), "bytesPerSecond"), 20);
}

TEST_F(MoveProgressTest, TheTimeThatWritesAreClosed) {
  const auto move = table_.Begin(job_);
  move->Enter(MovePhase::kCatchingUp);
  wall_.Advance(absl::Seconds(3));
  move->TookOver(70);
  move->SetLag(70);
  move->Enter(MovePhase::kBlockingWrites);
  EXPECT_EQ(Number(move->Row(), "secondsLeft"), 0);
  wall_.Advance(absl::Milliseconds(30));
  move->Enter(MovePhase::kCommitting);
  wall_.Advance(absl::Milliseconds(12));
  move->Enter(MovePhase::kCleaning);
  wall_.Advance(absl::Seconds(9));
  const bson::Document row = move->Row();
  EXPECT_EQ(Number(row, "writesClosedMs"), 42);
  EXPECT_EQ(Number(row, "applyingMs"), 3000);
  EXPECT_EQ(Number(row, "notes"), 70);
  EXPECT_EQ(Number(row, "lag"), 70);
}

}  // namespace
}  // namespace evenkeel::router::ddl
