// The log loses power, or its process, at every kind of moment, chosen by seeds: what was
// acknowledged is there afterwards, whole, in order, and the log goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/unit/storage/log/log_test_lib.h"

namespace evenkeel::storage {
namespace {

constexpr uint32_t kShardCount = 3;

// What must be true of one shard.
struct ShardModel {
  std::vector<std::string> entries;  // everything appended, by index - 1
  uint64_t acknowledged = 0;
  uint64_t forgotten = 0;
};

struct Faults {
  bool syncs_ignored = false;
};

// Several lives of one log on one disk.
class LogOnOneDisk {
 public:
  LogOnOneDisk(uint64_t seed, Faults faults)
      : random_(seed), files_(seed + 1), shards_(kShardCount) {
    files_.IgnoreSyncs(faults.syncs_ignored);
  }

  // Loses power between the write and the sync of a group, again and again, with a few small groups
  // between: torn groups must not come back. What went wrong, if anything.
  std::optional<std::string> TearGroups(int rounds) {
    for (int round = 0; round < rounds && problem_.empty(); ++round) {
      fatal_ = false;
      if (!OpenAndCheck()) break;
      for (uint64_t i = random_.Uniform(3); i > 0; --i) {
        Append(0, 400);
        log_->StepForTest();
      }
      for (int i = 0; i < 7; ++i) Append(static_cast<uint32_t>(i % 2), 400);
      if (random_.Chance(0.7)) files_.StopAfter(2);
      log_->StepForTest();
      log_.reset();
      files_.CutPower();
    }
    return problem_.empty() ? std::nullopt : std::optional(problem_);
  }

  // Lives of any kind, ended at any moment. What went wrong, if anything.
  std::optional<std::string> Live(int lives) {
    for (int life = 0; life < lives; ++life) {
      fatal_ = false;
      if (random_.Chance(0.8))
        files_.StopAfter(1 + random_.Uniform(random_.Chance(0.5) ? 25 : 150));
      OneLife();
      if (!problem_.empty()) return fmt::format("life {}: {}", life, problem_);
      if (random_.Chance(0.7)) {
        files_.CutPower();
      } else {
        files_.RestartProcess();
      }
    }
    return std::nullopt;
  }

 private:
  void Problem(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  bool OpenAndCheck() {
    SharedLogOptions options = SmallLogOptions(&files_);
    options.group_bytes_max = 3 << 10;
    options.retain_bytes = 3 * options.segment_bytes;
    options.ballast_bytes = 4096;
    options.new_salt = [this] { return random_.Next64(); };
    options.on_fatal = [this](const absl::Status&) { fatal_ = true; };
    auto opened = SharedLog::Open(options, {ShardId{0}, ShardId{1}, ShardId{2}});
    if (!opened.ok()) {
      if (!files_.stopped()) Problem(fmt::format("open: {}", MessageOf(opened.status())));
      return false;
    }
    log_ = *std::move(opened);
    CheckRecovered();
    for (uint32_t i = 0; i < kShardCount; ++i) Listen(i);
    return true;
  }

  void OneLife() {
    if (!OpenAndCheck()) return;
    const uint64_t steps = random_.Uniform(200);
    for (uint64_t i = 0; i < steps && !fatal_ && problem_.empty(); ++i) Step();
    if (random_.Chance(0.3)) log_->Close().IgnoreError();  // an error has stopped the disk already
    log_.reset();
  }

  void Listen(uint32_t id) {
    log_->shard({id})->SetCommittedListener([this, id](LogIndex last) {
      if (fatal_) Problem("acknowledged after a failure");
      ShardModel& model = shards_[id];
      if (last.value <= model.acknowledged) Problem("acknowledged backwards");
      if (last.value > model.entries.size()) Problem("acknowledged what nobody appended");
      model.acknowledged = last.value;
    });
  }

  void CheckRecovered() {
    for (uint32_t id = 0; id < kShardCount; ++id) {
      ShardModel& model = shards_[id];
      const uint64_t committed = log_->shard({id})->committed().value;
      if (committed < model.acknowledged) {
        Problem(
            fmt::format("shard {} lost entries {} to {}", id, committed + 1, model.acknowledged));
      }
      if (committed > model.entries.size()) Problem("entries that nobody appended");
      model.entries.resize(std::min<size_t>(committed, model.entries.size()));
      model.acknowledged = committed;
      CheckEntries(id, log_->shard({id})->first_index());
    }
  }

  void CheckEntries(uint32_t id, LogIndex from) {
    const ShardModel& model = shards_[id];
    if (from.value > model.forgotten + 1) {
      Problem(
          fmt::format("shard {} begins at {}, forgotten is {}", id, from.value, model.forgotten));
    }
    const auto entries = ReadAll(log_->shard({id}), from, 1 + random_.Uniform(5000));
    if (!entries.ok()) {
      if (!files_.stopped()) Problem(fmt::format("read: {}", MessageOf(entries.status())));
      return;
    }
    if (from.value + entries->size() != model.acknowledged + 1) Problem("entries are missing");
    for (const LogEntry& entry : *entries) {
      if (entry.index.value != from.value++) Problem("entries out of order");
      if (entry.payload != model.entries[entry.index.value - 1]) Problem("another payload");
    }
  }

  void Step() {
    const auto id = static_cast<uint32_t>(random_.Uniform(kShardCount));
    const uint64_t choice = random_.Uniform(100);
    if (choice < 45) {
      for (uint64_t i = random_.Uniform(5); i > 0; --i) {
        Append(static_cast<uint32_t>(random_.Uniform(kShardCount)), PayloadBytes());
      }
    } else if (choice < 90) {
      log_->StepForTest();
    } else if (choice < 96) {
      // A shard that never forgets keeps everything; the last one does so often.
      ShardModel& model = shards_[id];
      if (id == kShardCount - 1 && random_.Chance(0.5)) return;
      model.forgotten = std::max(model.forgotten, random_.Uniform(model.acknowledged + 1));
      log_->shard({id})->Forget({model.forgotten});
    } else if (choice < 98) {
      CheckEntries(id, log_->shard({id})->first_index());
    } else if (choice < 99 && random_.Chance(0.2)) {
      files_.FailNextSync();
    }
  }

  // Often of one size, so that records of different lives begin at the same places.
  size_t PayloadBytes() {
    if (random_.Chance(0.5)) return 400;
    return random_.Uniform(random_.Chance(0.1) ? 12'000 : 1500);
  }

  void Append(uint32_t id, size_t bytes) {
    std::string payload = random_.Bytes(bytes);
    if (!log_->shard({id})->Reserve(payload.size()).ok()) return;  // the disk has stopped
    ShardModel& model = shards_[id];
    model.entries.push_back(payload);
    log_->shard({id})->Append(MakeEntry(model.entries.size(), std::move(payload)));
  }

  base::Random random_;
  tests::SimulatedFileSystem files_;
  std::vector<ShardModel> shards_;
  std::unique_ptr<SharedLog> log_;
  bool fatal_ = false;
  std::string problem_;
};

class PowerCut : public testing::TestWithParam<uint64_t> {};

TEST_P(PowerCut, KeepsWhatWasAcknowledged) {
  constexpr uint64_t kSeedsPerTest = 50;
  for (uint64_t i = 0; i < kSeedsPerTest; ++i) {
    const uint64_t seed = GetParam() * kSeedsPerTest + i;
    const auto problem = LogOnOneDisk(seed, {}).Live(6);
    ASSERT_FALSE(problem.has_value()) << "seed " << seed << ": " << *problem;
  }
}

TEST_P(PowerCut, TornGroupsDoNotComeBack) {
  constexpr uint64_t kSeedsPerTest = 50;
  for (uint64_t i = 0; i < kSeedsPerTest; ++i) {
    const uint64_t seed = GetParam() * kSeedsPerTest + i;
    const auto problem = LogOnOneDisk(seed, {}).TearGroups(10);
    ASSERT_FALSE(problem.has_value()) << "seed " << seed << ": " << *problem;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PowerCut, testing::Range<uint64_t>(0, 8));

TEST(PowerCutFault, WithoutSyncsTheLossIsNoticed) {
  int noticed = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    if (LogOnOneDisk(seed, {.syncs_ignored = true}).Live(6).has_value()) ++noticed;
  }
  EXPECT_GE(noticed, 10);
}

}  // namespace
}  // namespace evenkeel::storage
