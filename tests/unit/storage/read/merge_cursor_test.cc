// The merging cursor against a sorted map, with tables and LMDB laid out at random.
#include "storage/read/merge_cursor.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.h"
#include "tests/lib/fake_checkpoint_store.h"

namespace evenkeel::storage {
namespace {

constexpr uint64_t kNewest = ~uint64_t{0};

std::string At(const Cursor& cursor) {
  return cursor.Valid() ? std::string(cursor.key()) + "=" + std::string(cursor.record().value)
                        : "end";
}

// LMDB whose cursors count their steps.
class CountingReader final : public CheckpointReader {
 public:
  explicit CountingReader(std::unique_ptr<CheckpointReader> reader) : reader_(std::move(reader)) {}
  std::optional<std::string_view> Get(size_t database, std::string_view key) override {
    return reader_->Get(database, key);
  }
  std::unique_ptr<CheckpointCursor> NewCursor(size_t database) override {
    return std::make_unique<CountingCursor>(reader_->NewCursor(database), &steps);
  }

  size_t steps = 0;

 private:
  class CountingCursor final : public CheckpointCursor {
   public:
    CountingCursor(std::unique_ptr<CheckpointCursor> cursor, size_t* steps)
        : cursor_(std::move(cursor)), steps_(steps) {}
    void Seek(std::string_view key) override { cursor_->Seek(key); }
    void SeekBack(std::string_view key) override { cursor_->SeekBack(key); }
    void Next() override { ++*steps_, cursor_->Next(); }
    void Previous() override { ++*steps_, cursor_->Previous(); }
    bool Valid() const override { return cursor_->Valid(); }
    std::string_view key() const override { return cursor_->key(); }
    std::string_view value() const override { return cursor_->value(); }

   private:
    const std::unique_ptr<CheckpointCursor> cursor_;
    size_t* const steps_;
  };
  const std::unique_ptr<CheckpointReader> reader_;
};

// Sessions have no head in LMDB, so the fake can hold plain values.
class MergeCursorTest : public testing::Test {
 protected:
  void PutLmdb(const std::string& key, const std::string& value) {
    lmdb_.Damage(DatabaseOf(Table::kSessions), key, value);
  }
  MergeCursor Make(bool growing = false) {
    reader_ = *lmdb_.BeginRead();
    return MergeCursor({&new_, &old_}, reader_.get(), Table::kSessions, kNewest, growing);
  }

  tests::FakeCheckpointStore lmdb_;
  std::unique_ptr<CheckpointReader> reader_;
  MemTable old_{LogIndex{1}};
  MemTable new_{LogIndex{2}};
};

TEST_F(MergeCursorTest, MergesAllSourcesBothWays) {
  for (const char* key : {"a", "b", "c", "d"}) PutLmdb(key, "lmdb");
  old_.Put(Table::kSessions, "b", 5, "old");
  old_.Remove(Table::kSessions, "c", 5);
  old_.Put(Table::kSessions, "e", 5, "old");
  new_.Put(Table::kSessions, "e", 6, "new");
  new_.Remove(Table::kSessions, "d", 6);
  MergeCursor cursor = Make();
  std::string forward;
  for (cursor.Seek({}, {}); cursor.Valid(); cursor.Next()) forward += At(cursor) + " ";
  EXPECT_EQ(forward, "a=lmdb b=old e=new ");
  std::string backward;
  for (cursor.SeekBack({}, {}); cursor.Valid(); cursor.Previous()) backward += At(cursor) + " ";
  EXPECT_EQ(backward, "e=new b=old a=lmdb ");
}

TEST_F(MergeCursorTest, TurnsAround) {
  for (const char* key : {"a", "c", "e"}) PutLmdb(key, "l");
  for (const char* key : {"b", "d"}) new_.Put(Table::kSessions, key, 5, "n");
  MergeCursor cursor = Make();
  cursor.Seek("c", {});
  EXPECT_EQ(At(cursor), "c=l");
  cursor.Previous();
  EXPECT_EQ(At(cursor), "b=n");
  cursor.Next();
  EXPECT_EQ(At(cursor), "c=l");
  cursor.Next();
  EXPECT_EQ(At(cursor), "d=n");
  cursor.SeekBack("d", {});
  EXPECT_EQ(At(cursor), "c=l");
  cursor.Next();
  EXPECT_EQ(At(cursor), "d=n");
  cursor.Previous();
  cursor.Previous();
  cursor.Previous();
  EXPECT_EQ(At(cursor), "a=l");
  cursor.Previous();
  EXPECT_EQ(At(cursor), "end");
}

TEST_F(MergeCursorTest, WalksEndAtTheirLimit) {
  for (const char* key : {"a", "c", "e"}) PutLmdb(key, "l");
  for (const char* key : {"b", "d"}) new_.Put(Table::kSessions, key, 5, "n");
  MergeCursor cursor = Make();
  cursor.Seek("b", "d");
  EXPECT_EQ(At(cursor), "b=n");
  cursor.Next();
  EXPECT_EQ(At(cursor), "c=l");
  cursor.Next();
  EXPECT_EQ(At(cursor), "end");
  cursor.Seek("b1", "c");
  EXPECT_EQ(At(cursor), "end");
  cursor.SeekBack("d", "c");
  EXPECT_EQ(At(cursor), "c=l");
  cursor.Previous();
  EXPECT_EQ(At(cursor), "end");
  cursor.Seek("b", "b1");
  EXPECT_EQ(At(cursor), "b=n");
  cursor.Previous();  // turns around: no limit
  EXPECT_EQ(At(cursor), "a=l");
}

TEST_F(MergeCursorTest, WhatWasRemovedBehindTheLimitIsNotWalkedOver) {
  constexpr int kRemoved = 1000;
  for (int i = 0; i < kRemoved; ++i) {
    const std::string key = "m" + std::to_string(i);
    PutLmdb(key, "l");
    new_.Remove(Table::kSessions, key, 5);
  }
  CountingReader reader(*lmdb_.BeginRead());
  MergeCursor cursor({&new_, &old_}, &reader, Table::kSessions, kNewest, false);
  cursor.Seek("a", "m");
  EXPECT_EQ(At(cursor), "end");
  cursor.SeekBack("z", "n");
  EXPECT_EQ(At(cursor), "end");
  EXPECT_EQ(reader.steps, 0);
  cursor.SeekPrefix("m1");
  EXPECT_EQ(At(cursor), "end");
  EXPECT_LE(reader.steps, kRemoved / 4);
}

TEST_F(MergeCursorTest, AGrowingTableIsSeenWhileTheCursorLives) {
  for (const char* key : {"a", "m", "z"}) PutLmdb(key, "l");
  MergeCursor cursor = Make(true);
  cursor.Seek({}, {});
  EXPECT_EQ(At(cursor), "a=l");
  new_.Put(Table::kSessions, "b", 5, "n");
  cursor.Next();
  EXPECT_EQ(At(cursor), "b=n");
  new_.Remove(Table::kSessions, "m", 5);
  new_.Put(Table::kSessions, "a1", 5, "behind the cursor");
  cursor.Next();
  EXPECT_EQ(At(cursor), "z=l");
  new_.Put(Table::kSessions, "y", 5, "n");
  cursor.Previous();
  EXPECT_EQ(At(cursor), "y=n");
}

TEST_F(MergeCursorTest, AgreesWithAMap) {
  base::Random random(11);
  for (int round = 0; round < 40; ++round) {
    MemTable old_table(LogIndex{1});
    MemTable new_table(LogIndex{2});
    tests::FakeCheckpointStore lmdb;
    std::map<std::string, std::string> expected;
    for (int i = 0; i < 60; ++i) {
      const std::string key(1, static_cast<char>('a' + random.Uniform(26)));
      const std::string value = std::to_string(i);
      const uint64_t where = random.Uniform(3);
      if (where == 0) {
        // What is in a table already is newer than LMDB.
        lmdb.Damage(DatabaseOf(Table::kSessions), key, value);
        if (!old_table.list(Table::kSessions).Find(key) &&
            !new_table.list(Table::kSessions).Find(key)) {
          expected[key] = value;
        }
        continue;
      }
      MemTable& table = where == 1 ? old_table : new_table;
      const bool visible = where == 2 || !new_table.list(Table::kSessions).Find(key);
      if (random.Chance(0.3)) {
        table.Remove(Table::kSessions, key, 5);
        if (visible) expected.erase(key);
      } else {
        table.Put(Table::kSessions, key, 5, value);
        if (visible) expected[key] = value;
      }
    }
    const auto reader = *lmdb.BeginRead();
    MergeCursor cursor({&new_table, &old_table}, reader.get(), Table::kSessions, kNewest, false);
    for (int step = 0; step < 60; ++step) {
      const std::string key(1, static_cast<char>('a' + random.Uniform(26)));
      auto place = expected.lower_bound(key);
      if (random.Chance(0.5)) {
        cursor.Seek(key, {});
      } else {
        cursor.SeekBack(key, {});
        place = place == expected.begin() ? expected.end() : std::prev(place);
      }
      ASSERT_EQ(At(cursor), place == expected.end() ? "end" : place->first + "=" + place->second);
      if (!cursor.Valid()) continue;
      if (random.Chance(0.5)) {
        cursor.Next();
        ++place;
      } else {
        cursor.Previous();
        place = place == expected.begin() ? expected.end() : std::prev(place);
      }
      ASSERT_EQ(At(cursor), place == expected.end() ? "end" : place->first + "=" + place->second);
    }
  }
}

}  // namespace
}  // namespace evenkeel::storage
