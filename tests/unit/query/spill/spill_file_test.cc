// Runs on disk: what is written comes back, files leave nothing behind, a full disk is an error.
#include "query/spill/spill_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/bson/builder.h"
#include "base/random.h"
#include "base/status.h"
#include "tests/lib/temp_folder.h"

namespace evenkeel::query {
namespace {

bson::Document Numbered(int number, size_t padding) {
  bson::Builder builder;
  builder.Append("n", number).Append("padding", std::string(padding, 'x'));
  return builder.Finish();
}

class SpillTest : public ::testing::Test {
 protected:
  SpillTest() {
    absl::StatusOr<std::shared_ptr<SpillFolder>> folder = SpillFolder::Open(path_);
    EXPECT_TRUE(folder.ok()) << folder.status();
    folder_ = *folder;
    folder_->SetFreeBytesMin(0);
  }
  std::unique_ptr<SpillFile> NewFile() {
    absl::StatusOr<std::unique_ptr<SpillFile>> file = folder_->NewFile();
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }

  tests::TempFolder temp_;
  const std::string path_ = temp_.path() + "/spill";
  std::shared_ptr<SpillFolder> folder_;
};

TEST_F(SpillTest, RunsSideBySideComeBackInOrder) {
  const auto file = NewFile();
  base::Random random(1);
  constexpr int kRuns = 3, kRecords = 400;
  std::vector<SpillWriter> writers(kRuns, SpillWriter(*file));
  for (int i = 0; i < kRecords; ++i) {
    for (int run = 0; run < kRuns; ++run) {
      const bson::Document key = Numbered(run, 0);
      const bson::Document row = Numbered(i, random.Uniform(4000));
      const bson::View record[] = {key, row};
      ASSERT_TRUE(writers[static_cast<size_t>(run)].Add(record).ok());
    }
  }
  for (int run = 0; run < kRuns; ++run) {
    absl::StatusOr<SpillRun> written = writers[static_cast<size_t>(run)].Finish();
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(written->count, kRecords);
    EXPECT_GT(written->blocks.size(), 1u);
    SpillReader reader(*file, *std::move(written), true);
    bson::View record[2];
    for (int i = 0; i < kRecords; ++i) {
      ASSERT_TRUE(*reader.Next(record));
      ASSERT_EQ(record[0]["n"].AsInt32(), run);
      ASSERT_EQ(record[1]["n"].AsInt32(), i);
    }
    EXPECT_FALSE(*reader.Next(record));
  }
}

TEST_F(SpillTest, ARunOfNothing) {
  const auto file = NewFile();
  SpillWriter writer(*file);
  SpillReader reader(*file, *writer.Finish(), false);
  bson::View record[1];
  EXPECT_FALSE(*reader.Next(record));
}

TEST_F(SpillTest, ARecordLargerThanABlock) {
  const auto file = NewFile();
  SpillWriter writer(*file);
  const bson::Document large = Numbered(1, 3 * SpillWriter::kBlockBytes);
  const bson::View record[] = {large};
  ASSERT_TRUE(writer.Add(record).ok());
  SpillReader reader(*file, *writer.Finish(), false);
  bson::View read[1];
  ASSERT_TRUE(*reader.Next(read));
  EXPECT_EQ(read[0].Bytes(), large.view().Bytes());
}

TEST_F(SpillTest, FilesHaveNoNamesAndAreCounted) {
  auto file = NewFile();
  EXPECT_TRUE(std::filesystem::is_empty(path_));
  ASSERT_TRUE(file->WriteBlock("some bytes").ok());
  EXPECT_EQ(folder_->file_count(), 1);
  EXPECT_GT(folder_->bytes(), 0);
  file = nullptr;
  EXPECT_EQ(folder_->file_count(), 0);
  EXPECT_EQ(folder_->bytes(), 0);
}

TEST_F(SpillTest, WhatACrashLeftIsRemovedAndNothingElse) {
  std::ofstream(path_ + "/1-0.spill") << "left";
  std::ofstream(path_ + "/notes.txt") << "mine";
  ASSERT_TRUE(SpillFolder::Open(path_).ok());
  EXPECT_FALSE(std::filesystem::exists(path_ + "/1-0.spill"));
  EXPECT_TRUE(std::filesystem::exists(path_ + "/notes.txt"));
}

TEST_F(SpillTest, ADiskWithTooLittleRoomIsAnError) {
  const auto file = NewFile();
  folder_->SetFreeBytesMin(INT64_MAX);
  EXPECT_EQ(CodeOf(file->WriteBlock("bytes").status()), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(CodeOf(SpillFolder::Open("/proc/no-such-folder").status()),
            ErrorCode::kOperationFailed);
}

}  // namespace
}  // namespace evenkeel::query
