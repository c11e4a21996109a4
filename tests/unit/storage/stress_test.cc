// Many threads on one store over real LMDB: money is moved between accounts while checkpoints,
// compaction and snapshots go on.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <vector>

#include "base/random.h"
#include "base/thread.h"
#include "storage/shard_store.h"
#include "tests/lib/store_harness.h"
#include "tests/lib/temp_folder.h"

namespace evenkeel::storage {
namespace {

constexpr int kAccounts = 40;
constexpr int kTransfers = 1500;
constexpr int64_t kStart = 100;

std::string KeyOf(uint64_t account) { return "account" + std::to_string(100 + account); }

int64_t AmountOf(const std::optional<Record>& record) {
  return record.has_value() ? std::stoll(std::string(record->value)) : 0;
}

class Bank {
 public:
  Bank() {
    h_.options.checkpoint_store = nullptr;
    h_.options.folder = folder_.path() + "/shard0";
    h_.options.map_bytes = uint64_t{1} << 30;
    h_.options.table_bytes_max = 10'000;
    h_.options.history_bytes_max = 400'000;
    h_.options.reserve_bytes = 0;
    h_.Open();
    EXPECT_TRUE(h_.Write([](WriteContext& context) {
                    for (uint64_t i = 0; i < kAccounts; ++i)
                      context.Put(Table::kDocs, KeyOf(i), std::to_string(kStart));
                  }).ok());
  }

  void Run() {
    {
      const base::Thread latest("latest", [this] { ReadLatest(); });
      const base::Thread snapshots("snapshots", [this] { ReadSnapshots(); });
      const base::Thread upkeep("upkeep", [this] { Upkeep(); });
      {
        const base::Thread one("writer1", [this] { Transfer(1); });
        const base::Thread two("writer2", [this] { Transfer(2); });
      }
      done_.store(true);
    }
    CheckSum(h_.store->Read());
    h_.Restart();
    CheckSum(h_.store->Read());
    EXPECT_EQ(h_.store->Read().Counter("transfers").documents, 2 * kTransfers);
  }

 private:
  void Transfer(uint64_t seed) {
    base::Random random(seed);
    std::vector<std::shared_ptr<tests::OpEnd>> ends;
    for (int i = 0; i < kTransfers; ++i) {
      const std::string from = KeyOf(random.Uniform(kAccounts));
      const std::string to = KeyOf(random.Uniform(kAccounts));
      ends.push_back(h_.Submit([=](WriteContext& context) {
        const int64_t amount = AmountOf(context.Get(Table::kDocs, from));
        context.AddToCounter("transfers", {1, 0});
        if (from == to) return;
        // An emptied account is removed.
        if (amount <= 10) {
          context.Remove(Table::kDocs, from);
        } else {
          context.Put(Table::kDocs, from, std::to_string(amount - 10));
        }
        const int64_t moved = std::min<int64_t>(amount, 10);
        context.Put(Table::kDocs, to,
                    std::to_string(AmountOf(context.Get(Table::kDocs, to)) + moved));
      }));
      if (ends.size() < 20) continue;
      for (const auto& end : ends) end->done.WaitForNotification();
      ends.clear();
    }
    for (const auto& end : ends) end->done.WaitForNotification();
  }

  static std::map<std::string, int64_t> Accounts(const ReadSlice& slice, bool backward) {
    std::map<std::string, int64_t> accounts;
    const auto cursor = slice.NewCursor(Table::kDocs);
    for (backward ? cursor->SeekBack({}, {}) : cursor->Seek({}, {}); cursor->Valid();
         backward ? cursor->Previous() : cursor->Next()) {
      accounts[std::string(cursor->key())] = AmountOf(cursor->record());
    }
    return accounts;
  }
  static void CheckSum(const ReadSlice& slice) {
    int64_t sum = 0;
    for (const auto& [key, amount] : Accounts(slice, false)) sum += amount;
    ASSERT_EQ(sum, kAccounts * kStart);
    sum = 0;
    for (uint64_t i = 0; i < kAccounts; ++i) sum += AmountOf(slice.Get(Table::kDocs, KeyOf(i)));
    ASSERT_EQ(sum, kAccounts * kStart);
  }

  void ReadLatest() {
    Timestamp before;
    while (!done_.load() && !testing::Test::HasFailure()) {
      const ReadSlice slice = h_.store->Read();
      ASSERT_GE(slice.timestamp(), before);
      before = slice.timestamp();
      CheckSum(slice);
    }
  }

  // A snapshot shows the same at the end of its life as at the beginning.
  void ReadSnapshots() {
    while (!done_.load() && !testing::Test::HasFailure()) {
      const Timestamp at = h_.clock.Now();
      ASSERT_TRUE(h_.WaitReadable(at).ok());
      const auto snapshot = h_.store->OpenSnapshot(at);
      if (!snapshot.ok()) continue;
      std::optional<std::map<std::string, int64_t>> first;
      for (int round = 0; round < 6; ++round) {
        const auto slice = h_.store->ReadAt(at);
        if (!slice.ok()) break;  // the budget has ended it
        CheckSum(*slice);
        const auto accounts = Accounts(*slice, round % 2 == 1);
        if (first.has_value()) {
          ASSERT_EQ(accounts, *first);
        }
        first = accounts;
      }
    }
  }

  void Upkeep() {
    while (!done_.load() && !testing::Test::HasFailure()) {
      ASSERT_TRUE(h_.store->Checkpoint().ok());
      ASSERT_TRUE(h_.store->Compact().ok());
      (void)h_.store->ResolvedTimestamp();
      (void)h_.store->Stats();
    }
  }

  const tests::TempFolder folder_;
  tests::StoreHarness h_;
  std::atomic<bool> done_{false};
};

TEST(StoreStress, MoneyIsNeitherLostNorMade) { Bank().Run(); }

}  // namespace
}  // namespace evenkeel::storage
