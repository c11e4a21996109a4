// The checkpoint store on a real LMDB file: transactions, cursors, compaction, damage, locks.
#include "storage/lmdb/lmdb_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/fail_point.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/status.h"
#include "tests/lib/fake_checkpoint_store.h"
#include "tests/lib/temp_folder.h"

namespace evenkeel::storage {
namespace {

constexpr uint64_t kMapBytes = uint64_t{1} << 30;

class LmdbStore : public testing::Test {
 protected:
  void Open() {
    auto opened = OpenLmdbStore(folder_.path(), kMapBytes);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }
  void Put(const std::string& key, const std::string& value) {
    auto writer = *store_->BeginWrite();
    ASSERT_TRUE(
        writer->Put(0, key, value.substr(0, value.size() / 2), value.substr(value.size() / 2))
            .ok());
    ASSERT_TRUE(writer->Commit().ok());
  }
  // Many values in one transaction.
  void Fill(int count) {
    auto writer = *store_->BeginWrite();
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(writer->Put(0, "k" + std::to_string(i), "", std::string(5000, 'x')).ok());
    }
    ASSERT_TRUE(writer->Commit().ok());
  }
  std::string Get(const std::string& key) {
    const auto reader = *store_->BeginRead();
    const auto value = reader->Get(0, key);
    return value.has_value() ? std::string(*value) : "-";
  }
  std::vector<std::string> DataFiles() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".mdb") || name.ends_with(".tmp")) names.push_back(name);
    }
    return names;
  }

  tests::TempFolder folder_;
  std::unique_ptr<CheckpointStore> store_;
};

TEST_F(LmdbStore, KeepsWhatWasCommitted) {
  Open();
  Put("a", "first");
  {
    auto writer = *store_->BeginWrite();
    ASSERT_TRUE(writer->Put(0, "a", "", "second").ok());
    EXPECT_EQ(**writer->Get(0, "a"), "second");
    EXPECT_EQ(Get("a"), "first");
  }
  EXPECT_EQ(Get("a"), "first");
  store_.reset();
  Open();
  EXPECT_EQ(Get("a"), "first");
  EXPECT_EQ(Get(""), "-");
}

TEST_F(LmdbStore, AReaderKeepsItsState) {
  Open();
  Put("a", "1");
  const auto reader = *store_->BeginRead();
  Put("a", "2");
  EXPECT_EQ(*reader->Get(0, "a"), "1");
  EXPECT_EQ(Get("a"), "2");
}

// The fake in memory and LMDB must agree, since the engine's tests rest on the fake.
TEST_F(LmdbStore, AgreesWithTheFake) {
  Open();
  tests::FakeCheckpointStore fake;
  base::Random random(3);
  const auto random_key = [&] { return random.Bytes(1 + random.Uniform(2)); };
  for (int round = 0; round < 60; ++round) {
    auto real_writer = *store_->BeginWrite();
    auto fake_writer = *fake.BeginWrite();
    for (int change = 0; change < 30; ++change) {
      const std::string key = random_key();
      const std::string value = random.Bytes(random.Uniform(20) == 0 ? 9000 : random.Uniform(50));
      const bool remove = random.Chance(0.3);
      for (CheckpointWriter* writer : {real_writer.get(), fake_writer.get()}) {
        ASSERT_TRUE((remove ? writer->Remove(1, key) : writer->Put(1, key, value, "tail")).ok());
      }
      std::string keys[2];
      std::string values[2];
      const std::string probe = random_key();
      const auto real_found = real_writer->FindAtLeast(1, probe, &keys[0], &values[0]);
      ASSERT_EQ(*real_found, *fake_writer->FindAtLeast(1, probe, &keys[1], &values[1]));
      ASSERT_EQ(keys[0], keys[1]);
      ASSERT_EQ(values[0], values[1]);
      ASSERT_EQ(*real_writer->Get(1, probe), *fake_writer->Get(1, probe));
    }
    ASSERT_TRUE(real_writer->Commit().ok());
    ASSERT_TRUE(fake_writer->Commit().ok());
    const auto real_reader = *store_->BeginRead();
    const auto fake_reader = *fake.BeginRead();
    const auto real_cursor = real_reader->NewCursor(1);
    const auto fake_cursor = fake_reader->NewCursor(1);
    for (int step = 0; step < 100; ++step) {
      const std::string key = random.Chance(0.1) ? "" : random_key();
      const uint64_t dice = random.Uniform(6);
      for (CheckpointCursor* cursor : {real_cursor.get(), fake_cursor.get()}) {
        if (!cursor->Valid() || dice == 0) {
          cursor->Seek(key);
        } else if (dice == 1) {
          cursor->SeekBack(key);
        } else {
          dice < 4 ? cursor->Next() : cursor->Previous();
        }
      }
      ASSERT_EQ(real_cursor->Valid(), fake_cursor->Valid());
      if (!real_cursor->Valid()) continue;
      ASSERT_EQ(real_cursor->key(), fake_cursor->key());
      ASSERT_EQ(real_cursor->value(), fake_cursor->value());
    }
  }
}

// As range removal goes on: the key right behind one of full length is longer than any that is
// stored.
TEST_F(LmdbStore, FindsWhatFollowsTheLongestKey) {
  Open();
  const std::string longest(limits::kLmdbKeyBytesMax, 'k');
  Put(longest, "1");
  Put("l", "2");
  const auto writer = *store_->BeginWrite();
  std::string key, value;
  for (const std::string& from : {longest, longest + '\0'}) {
    const auto found = writer->FindAtLeast(0, from, &key, &value);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_TRUE(*found);
    EXPECT_EQ(key, from == longest ? longest : "l");
  }
}

TEST_F(LmdbStore, EstimatesDirtyPages) {
  Open();
  struct Case {
    const char* name;
    size_t count;
    size_t bytes;
    size_t pages_min;
    size_t pages_max;
  };
  const Case cases[] = {
      {"rising keys fill pages", 3000, 1000, 730, 1700},
      {"small values share pages", 3000, 10, 10, 60},
      {"long values have pages of their own", 100, 9000, 300, 450},
  };
  for (const Case& each : cases) {
    auto writer = *store_->BeginWrite();
    for (size_t i = 0; i < each.count; ++i) {
      const std::string key = std::string(each.name) + std::to_string(100'000 + i);
      ASSERT_TRUE(writer->Put(0, key, "", std::string(each.bytes, 'x')).ok());
    }
    EXPECT_GE(writer->DirtyPages(), each.pages_min) << each.name;
    EXPECT_LE(writer->DirtyPages(), each.pages_max) << each.name;
    ASSERT_TRUE(writer->Commit().ok());
  }
  auto writer = *store_->BeginWrite();
  for (size_t i = 0; i < 1000; ++i) {
    const std::string key = std::string(cases[0].name) + std::to_string(100'000 + i * 3);
    ASSERT_TRUE(writer->Put(0, key, "", std::string(1000, 'y')).ok());
  }
  EXPECT_GE(writer->DirtyPages(), 900u) << "scattered overwrites dirty a page each";
  EXPECT_LE(writer->DirtyPages(), 1300u);
}

TEST_F(LmdbStore, CompactShrinksTheFileAndKeepsReaders) {
  Open();
  Fill(300);
  {
    auto writer = *store_->BeginWrite();
    for (int i = 1; i < 300; ++i) ASSERT_TRUE(writer->Remove(0, "k" + std::to_string(i)).ok());
    ASSERT_TRUE(writer->Commit().ok());
  }
  const auto old_reader = *store_->BeginRead();
  const uint64_t before = store_->SizeBytes();
  ASSERT_TRUE(store_->Compact().ok());
  EXPECT_LT(store_->SizeBytes(), before / 2);
  EXPECT_EQ(old_reader->Get(0, "k0")->size(), 5000u);
  EXPECT_EQ(DataFiles(), std::vector<std::string>{"data-000002.mdb"});
  Put("new", "value");
  EXPECT_EQ(Get("k0").size(), 5000u);
  EXPECT_EQ(Get("k1"), "-");
  EXPECT_FALSE(old_reader->Get(0, "new").has_value());
}

TEST_F(LmdbStore, ACompactThatStopsHalfwayLeavesTheOldFile) {
  Open();
  Put("a", "1");
  {
    const base::ScopedFailPoint stop(base::fail_points::storage_compact_before_swap,
                                     base::FailPointMode::Always());
    EXPECT_FALSE(store_->Compact().ok());
  }
  EXPECT_EQ(DataFiles(), std::vector<std::string>{"data-000001.mdb"});
  Put("b", "2");
  store_.reset();
  std::ofstream(folder_.path() + "/compact.tmp") << "half a copy";
  Open();
  EXPECT_EQ(DataFiles(), std::vector<std::string>{"data-000001.mdb"});
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
}

TEST_F(LmdbStore, TheNewestGenerationCounts) {
  Open();
  Put("a", "old");
  store_.reset();
  std::filesystem::copy(folder_.path() + "/data-000001.mdb", folder_.path() + "/kept");
  Open();
  ASSERT_TRUE(store_->Compact().ok());
  Put("a", "new");
  store_.reset();
  // A crash between the swap and the removal of the old file.
  std::filesystem::rename(folder_.path() + "/kept", folder_.path() + "/data-000001.mdb");
  Open();
  EXPECT_EQ(Get("a"), "new");
  EXPECT_EQ(DataFiles(), std::vector<std::string>{"data-000002.mdb"});
}

TEST_F(LmdbStore, AFolderIsOpenedOnce) {
  Open();
  const auto second = OpenLmdbStore(folder_.path(), kMapBytes);
  EXPECT_EQ(CodeOf(second.status()), ErrorCode::kOperationFailed);
  EXPECT_NE(MessageOf(second.status()).find("in use"), std::string_view::npos);
  store_.reset();
  Open();
}

TEST_F(LmdbStore, DamagedFilesAreRefusedByName) {
  Open();
  Fill(200);
  store_.reset();
  const std::string path = folder_.path() + "/data-000001.mdb";
  const uintmax_t size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size / 2);
  const auto cut = OpenLmdbStore(folder_.path(), kMapBytes);
  EXPECT_EQ(CodeOf(cut.status()), ErrorCode::kUnknownError);
  EXPECT_NE(MessageOf(cut.status()).find(path), std::string_view::npos);
  std::ofstream(path, std::ios::trunc) << std::string(8192, 'z');
  const auto foreign = OpenLmdbStore(folder_.path(), kMapBytes);
  EXPECT_EQ(CodeOf(foreign.status()), ErrorCode::kUnknownError);
}

TEST_F(LmdbStore, FreePagesMayBeMissingAtTheEnd) {
  constexpr int kCount = 100;
  Open();
  Put("kept", "value");
  Fill(kCount);
  {
    auto writer = *store_->BeginWrite();
    for (int i = 0; i < kCount; ++i) {
      ASSERT_TRUE(writer->Remove(0, "k" + std::to_string(i)).ok());
    }
    ASSERT_TRUE(writer->Commit().ok());
  }
  for (int i = 0; i < 3; ++i) Put("kept", "value");  // in pages at the begin that are free
  store_.reset();
  const std::string path = folder_.path() + "/" + DataFiles().front();
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 2 * 4096);
  Open();
  EXPECT_EQ(std::filesystem::file_size(path), size);
  EXPECT_EQ(Get("kept"), "value");
  Fill(kCount);
  EXPECT_EQ(Get("k99").size(), 5000);
  // Of these pages some are in use.
  store_.reset();
  std::filesystem::resize_file(path, size - 2 * 4096);
  EXPECT_EQ(CodeOf(OpenLmdbStore(folder_.path(), kMapBytes).status()), ErrorCode::kUnknownError);
  EXPECT_EQ(std::filesystem::file_size(path), size - 2 * 4096);
}

TEST_F(LmdbStore, AFullMapIsAFullDisk) {
  auto opened = OpenLmdbStore(folder_.path(), 1 << 20);
  ASSERT_TRUE(opened.ok());
  store_ = *std::move(opened);
  Put("k0", std::string(5000, 'x'));
  absl::Status status;
  {
    auto writer = *store_->BeginWrite();
    for (int i = 1; i < 400 && status.ok(); ++i) {
      status = writer->Put(0, "k" + std::to_string(i), "", std::string(5000, 'x'));
    }
  }
  EXPECT_EQ(CodeOf(status), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(Get("k0").size(), 5000u);
  Put("k0", "small");
  EXPECT_EQ(Get("k0"), "small");
}

}  // namespace
}  // namespace evenkeel::storage
