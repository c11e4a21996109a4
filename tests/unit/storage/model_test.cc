// Random operations on the store against a simple model: writes with taken-back parts, a log that
// commits late, checkpoints that stop halfway, crashes, restarts, snapshots at old timestamps,
// counters, removed ranges, compaction.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "storage/lmdb/doc_value.h"
#include "tests/lib/store_harness.h"

namespace evenkeel::storage {
namespace {

using Key = std::pair<Table, std::string>;
using Rows = std::map<std::string, std::string>;

constexpr Table kTables[] = {Table::kDocs, Table::kIndex, Table::kSessions, Table::kMeta};
constexpr int kCollections = 6;

std::string IndexKeyOf(const std::string& doc_key) { return doc_key + "#"; }

// Every version of every key, and the counters after every operation.
struct Model {
  std::map<Key, std::map<uint64_t, std::optional<std::string>>> versions;
  std::vector<std::pair<uint64_t, std::map<std::string, int64_t>>> counters{{0, {}}};
  std::map<std::string, uint64_t> dead;  // collection -> when it was dropped

  std::optional<std::string> Get(const Key& key, uint64_t at) const {
    const auto found = versions.find(key);
    if (found == versions.end()) return std::nullopt;
    auto version = found->second.upper_bound(at);
    if (version == found->second.begin()) return std::nullopt;
    return std::prev(version)->second;
  }
  // Rows of a table at a time, without the collections that were dropped by then.
  Rows All(Table table, uint64_t at) const {
    Rows rows;
    for (const auto& [key, unused] : versions) {
      if (key.first != table || IsDead(key.second, at)) continue;
      if (auto value = Get(key, at)) rows[key.second] = *value;
    }
    return rows;
  }
  bool IsDead(const std::string& key, uint64_t at) const {
    const auto found = dead.find(key.substr(0, 2));
    return found != dead.end() && found->second <= at;
  }
  std::map<std::string, int64_t> CountersAt(uint64_t at) const {
    auto entry = counters.end();
    while (std::prev(entry)->first > at) --entry;
    return std::prev(entry)->second;
  }
  // The newest write at or before `at`.
  uint64_t LastWrite(uint64_t at) const {
    uint64_t last = 0;
    for (const auto& [key, list] : versions) {
      auto next = list.upper_bound(at);
      if (next != list.begin()) last = std::max(last, std::prev(next)->first);
    }
    return last;
  }
  // Forgets everything newer than `at`: a crash.
  void CutTo(uint64_t at) {
    for (auto& [key, list] : versions) list.erase(list.upper_bound(at), list.end());
    while (counters.back().first > at) counters.pop_back();
    std::erase_if(dead, [at](const auto& each) { return each.second > at; });
  }
};

struct Config {
  size_t pages_per_change = 1500;
  size_t table_bytes_max = 3000;
  size_t history_bytes_max = size_t{1} << 30;
};

class ModelRun {
 public:
  ModelRun(uint64_t seed, const Config& config) : random_(seed), harness_(config.pages_per_change) {
    bounded_history_ = config.history_bytes_max < (size_t{1} << 30);
    harness_.options.table_bytes_max = config.table_bytes_max;
    harness_.options.history_bytes_max = config.history_bytes_max;
    harness_.options.history_age_max = absl::Hours(1);
    harness_.options.index_entries = [](std::string_view key, std::string_view,
                                        std::vector<std::string>* keys) {
      keys->push_back(IndexKeyOf(std::string(key)));
    };
    harness_.Open();
  }

  void Run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) Step();
    SetHold(false);
    harness_.lmdb->AllowCommits(~uint64_t{0});
    CheckLatest();
    CheckSnapshots();
    snapshots_.clear();
    DropCollection();
    ASSERT_TRUE(harness_.store->FinishRemovals().ok());
    CheckLmdb();
    harness_.Restart();
    CheckLatest();
  }

 private:
  void Step() {
    const uint64_t dice = random_.Uniform(100);
    if (dice < 45) {
      WriteSome();
    } else if (dice < 55) {
      CheckLatest();
    } else if (dice < 62) {
      OpenSnapshot();
    } else if (dice < 72) {
      CheckSnapshots();
    } else if (dice < 78) {
      SetHold(!held_);
    } else if (dice < 86) {
      CheckpointPartly();
    } else if (dice < 90) {
      Crash();
    } else if (dice < 92) {
      SetHold(false);
      snapshots_.clear();
      harness_.lmdb->AllowCommits(~uint64_t{0});
      harness_.Restart();
      ForgetHistory();
      CheckLatest();
    } else if (dice < 95) {
      DropCollection();
    } else if (dice < 96) {
      FinishRemovals();
    } else if (dice < 98) {
      harness_.wall.Advance(absl::Seconds(random_.Uniform(4)));
    } else if (!snapshots_.empty()) {
      snapshots_.erase(snapshots_.begin() + random_.Uniform(snapshots_.size()));
    }
  }

  std::string LiveCollection() {
    for (int tries = 0; tries < 20; ++tries) {
      std::string name = "c" + std::to_string(random_.Uniform(kCollections));
      if (!model_.dead.contains(name)) return name;
    }
    return "";
  }
  std::string RandomKey() {
    const std::string collection = LiveCollection();
    return collection.empty() ? "x/1" : collection + "/" + std::to_string(random_.Uniform(25));
  }

  // One operation with several units, some of them taken back, checked against the model while it
  // runs.
  void WriteSome() {
    absl::Notification executed;
    const auto body = [&](WriteContext& context) {
      std::map<std::string, int64_t> counters = model_.counters.back().second;
      const uint64_t units = random_.Uniform(3) + 1;
      for (uint64_t unit = 0; unit < units; ++unit) {
        if (unit > 0) context.NextUnit();
        OneUnit(context, &counters);
      }
      executed.Notify();
    };
    ends_.push_back(harness_.Submit(body));
    executed.WaitForNotification();
    if (!held_) ends_.back()->done.WaitForNotification();
  }

  void OneUnit(WriteContext& context, std::map<std::string, int64_t>* counters) {
    const size_t mark = context.Mark();
    const bool take_back = random_.Chance(0.2);
    const uint64_t effects = random_.Uniform(5);
    for (uint64_t effect = 0; effect < effects; ++effect) OneEffect(context, counters, take_back);
    if (take_back) context.RollBackTo(mark);
    if (random_.Chance(0.3)) CheckContext(context, *counters);
  }

  void OneEffect(WriteContext& context, std::map<std::string, int64_t>* counters, bool take_back) {
    const uint64_t dice = random_.Uniform(10);
    const std::string key = RandomKey();
    if (dice < 5) {
      const std::string value = random_.Bytes(random_.Uniform(60));
      Effect(context, {Table::kDocs, key}, value, take_back);
      Effect(context, {Table::kIndex, IndexKeyOf(key)}, "", take_back);
    } else if (dice < 7) {
      Effect(context, {Table::kDocs, key}, std::nullopt, take_back);
      Effect(context, {Table::kIndex, IndexKeyOf(key)}, std::nullopt, take_back);
    } else if (dice < 8) {
      const Table table = random_.Chance(0.5) ? Table::kSessions : Table::kMeta;
      Effect(context, {table, key}, random_.Bytes(5), take_back);
    } else {
      const auto delta = static_cast<int64_t>(random_.Uniform(9)) - 4;
      const std::string counter = key.substr(0, 2);
      context.AddToCounter(counter, {delta, 1});
      if (!take_back) {
        (*counters)[counter] += delta;
        // A counter alone has no timestamp: give the operation one, so the model can order it.
        model_.counters.push_back({context.timestamp().bits, *counters});
      }
    }
  }

  void Effect(WriteContext& context, const Key& key, std::optional<std::string> value,
              bool take_back) {
    if (value.has_value()) {
      context.Put(key.first, key.second, *value);
    } else {
      context.Remove(key.first, key.second);
    }
    if (!take_back) model_.versions[key][context.timestamp().bits] = std::move(value);
  }

  // The writer sees its own effects and those that are not durable yet.
  void CheckContext(WriteContext& context, const std::map<std::string, int64_t>& counters) {
    constexpr uint64_t kNow = ~uint64_t{0};
    const Key key{Table::kDocs, RandomKey()};
    const auto record = context.Get(key.first, key.second);
    const auto expected = model_.Get(key, kNow);
    ASSERT_EQ(record.has_value(), expected.has_value());
    ASSERT_TRUE(!record.has_value() || record->value == *expected);
    for (const auto& [counter, value] : counters) {
      ASSERT_EQ(context.Counter(counter).documents, value);
    }
    const auto cursor = context.NewCursor(Table::kDocs);
    CheckCursor(cursor.get(), Table::kDocs, model_.All(Table::kDocs, kNow), kNow);
  }

  // Compares what the cursor shows, walking in random directions, with the rows.
  void CheckCursor(Cursor* cursor, Table table, const Rows& rows, uint64_t at) {
    Rows seen;
    const bool backward = random_.Chance(0.5);
    const auto step = [&] { backward ? cursor->Previous() : cursor->Next(); };
    for (backward ? cursor->SeekBack({}, {}) : cursor->Seek({}, {}); cursor->Valid(); step()) {
      if (model_.IsDead(std::string(cursor->key()), at)) continue;
      ASSERT_TRUE(seen.emplace(cursor->key(), cursor->record().value).second);
    }
    ASSERT_EQ(seen, rows) << "table " << static_cast<int>(table)
                          << (backward ? " backward" : " forward");
    CheckLimits(cursor, rows, at);
    CheckWalk(cursor, rows, at);
  }

  // What lies between two random keys, in both directions.
  void CheckLimits(Cursor* cursor, const Rows& rows, uint64_t at) {
    if (!model_.dead.empty()) return;
    const auto [begin, end] = std::minmax({RandomKey(), RandomKey()});
    const Rows expected(rows.lower_bound(begin), rows.lower_bound(end));
    Rows forward, backward;
    for (cursor->Seek(begin, end); cursor->Valid(); cursor->Next()) {
      forward.emplace(cursor->key(), cursor->record().value);
    }
    for (cursor->SeekBack(end, begin); cursor->Valid(); cursor->Previous()) {
      backward.emplace(cursor->key(), cursor->record().value);
    }
    EXPECT_EQ(forward, expected) << "at " << at;
    EXPECT_EQ(backward, expected) << "at " << at;
  }

  // A few steps to and fro from a random key.
  void CheckWalk(Cursor* cursor, const Rows& rows, uint64_t at) {
    if (!model_.dead.empty() || rows.empty()) return;
    const std::string from = RandomKey();
    auto expected = rows.lower_bound(from);
    cursor->Seek(from, {});
    for (int step = 0; step < 6; ++step) {
      ASSERT_EQ(cursor->Valid(), expected != rows.end()) << "at " << at;
      if (!cursor->Valid()) return;
      ASSERT_EQ(cursor->key(), expected->first);
      ASSERT_EQ(cursor->record().value, expected->second);
      if (random_.Chance(0.5)) {
        ++expected;
        cursor->Next();
      } else {
        expected = expected == rows.begin() ? rows.end() : std::prev(expected);
        cursor->Previous();
      }
    }
  }

  void CheckSlice(const ReadSlice& slice) {
    const uint64_t at = slice.timestamp().bits;
    for (const Table table : kTables) {
      const auto cursor = slice.NewCursor(table);
      CheckCursor(cursor.get(), table, model_.All(table, at), at);
    }
    for (int i = 0; i < 3; ++i) {
      const Key key{Table::kDocs, RandomKey()};
      const auto record = slice.Get(key.first, key.second);
      const auto expected = model_.Get(key, at);
      ASSERT_EQ(record.has_value(), expected.has_value()) << key.second << " at " << at;
      ASSERT_TRUE(!record.has_value() || record->value == *expected) << key.second << " at " << at;
    }
  }

  void CheckLatest() {
    const ReadSlice slice = harness_.store->Read();
    CheckSlice(slice);
    for (const auto& [counter, value] : model_.CountersAt(slice.timestamp().bits)) {
      ASSERT_EQ(slice.Counter(counter).documents, value) << counter;
    }
  }

  void OpenSnapshot() {
    if (snapshots_.size() >= 4) return;
    Timestamp at = harness_.store->latest();
    if (random_.Chance(0.3) && !held_) at = harness_.clock.Now();
    if (!held_ && !harness_.WaitReadable(at).ok()) return;
    auto snapshot = harness_.store->OpenSnapshot(at);
    if (snapshot.ok()) {
      snapshots_.push_back(*std::move(snapshot));
    } else {
      ASSERT_TRUE(bounded_history_ || at < history_from_);
    }
  }

  void CheckSnapshots() {
    for (const auto& snapshot : snapshots_) {
      const auto slice = harness_.store->ReadAt(snapshot->timestamp());
      if (slice.ok()) {
        CheckSlice(*slice);
      } else {
        ASSERT_EQ(CodeOf(slice.status()), ErrorCode::kSnapshotTooOld);
        ASSERT_TRUE(bounded_history_);
      }
    }
  }

  void SetHold(bool hold) {
    held_ = hold;
    harness_.log.Hold(hold);
    if (hold) return;
    for (const auto& end : ends_) end->done.WaitForNotification();
    ends_.clear();
  }

  // Lets a checkpoint do a few transactions only, or all.
  void CheckpointPartly() {
    if (held_) return;
    const bool partly = random_.Chance(0.5);
    harness_.lmdb->AllowCommits(partly ? random_.Uniform(6) : ~uint64_t{0});
    const absl::Status status = harness_.store->Checkpoint();
    ASSERT_TRUE(status.ok() || partly);
    if (random_.Chance(0.5)) CheckLatest();
    if (random_.Chance(0.5)) CheckSnapshots();
  }

  void Crash() {
    snapshots_.clear();
    const uint64_t durable = harness_.store->latest().bits;
    harness_.Crash();
    ends_.clear();
    // What the log had committed is back, though the store had not shown all of it.
    held_ = false;
    const uint64_t recovered = harness_.store->latest().bits;
    ASSERT_GE(recovered, model_.LastWrite(durable));
    model_.CutTo(recovered);
    ForgetHistory();
    CheckLatest();
  }

  void ForgetHistory() { history_from_ = harness_.store->latest(); }

  void DropCollection() {
    const std::string collection = LiveCollection();
    if (collection.empty() || model_.dead.size() + 2 >= kCollections) return;
    Timestamp marked;
    absl::Notification executed;
    ends_.push_back(harness_.Submit([&](WriteContext& context) {
      context.RemoveRange(Table::kDocs, {collection, collection + "\xff"});
      marked = context.timestamp();
      executed.Notify();
    }));
    executed.WaitForNotification();
    model_.dead[collection] = marked.bits;
    if (!held_) ends_.back()->done.WaitForNotification();
  }

  void FinishRemovals() {
    if (held_) return;
    snapshots_.clear();
    harness_.lmdb->AllowCommits(~uint64_t{0});
    ASSERT_TRUE(harness_.store->FinishRemovals().ok());
    CheckLmdb();
    ASSERT_TRUE(harness_.store->Compact().ok());
  }

  // Everything is in LMDB, nothing of dead collections is, and the checksums fit.
  void CheckLmdb() {
    for (const Table table : kTables) {
      Rows rows;
      for (const auto& [key, value] : harness_.lmdb->Content(DatabaseOf(table))) {
        EXPECT_TRUE(table != Table::kDocs || DocValueIntact(value));
        rows[key] = table == Table::kDocs ? std::string(SplitDocValue(value).document) : value;
      }
      Rows expected = model_.All(table, ~uint64_t{0});
      if (table == Table::kSessions || table == Table::kMeta) {
        // Only documents and their index entries were dropped.
        std::erase_if(rows,
                      [&](const auto& row) { return model_.IsDead(row.first, ~uint64_t{0}); });
      }
      ASSERT_EQ(rows, expected) << "table " << static_cast<int>(table);
    }
    const auto check = harness_.store->CheckDocs("", "");
    ASSERT_TRUE(check.ok() && check->damaged_keys.empty());
  }

  base::Random random_;
  tests::StoreHarness harness_;
  Model model_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;
  std::vector<std::shared_ptr<tests::OpEnd>> ends_;
  Timestamp history_from_;
  bool held_ = false;
  bool bounded_history_ = false;
};

void RunSeeds(uint64_t first, uint64_t count, const Config& config) {
  ASSERT_TRUE(base::ConfigureLog({.level = base::LogLevel::kError, .path = "/dev/null"}).ok());
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ModelRun(seed, config).Run(120);
  }
}

TEST(StoreModel, SmallTablesAndTransactions) { RunSeeds(1, 150, {}); }

TEST(StoreModel, LargeTables) {
  RunSeeds(1000, 60, {.pages_per_change = 1, .table_bytes_max = 1 << 20});
}

TEST(StoreModel, LittleHistory) {
  RunSeeds(2000, 100, {.table_bytes_max = 2000, .history_bytes_max = 20'000});
}

}  // namespace
}  // namespace evenkeel::storage
