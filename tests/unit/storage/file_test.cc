// The operating system's file system behind the interface.
#include "storage/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/status.h"

namespace evenkeel::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class SystemFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "evenkeel-file-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  FileSystem* const files_ = FileSystem::System();
  std::string folder_;
};

TEST_F(SystemFilesTest, WritesAndReadsAtOffsets) {
  auto file = files_->Open(Path("a"), /*create=*/true);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->WriteAt(5, "world").ok());
  EXPECT_TRUE((*file)->WriteAt(0, "hello").ok());
  EXPECT_TRUE((*file)->Sync().ok());
  EXPECT_EQ((*file)->SizeBytes(), 10u);
  EXPECT_EQ(*(*file)->ReadAt(0, 100), "helloworld");
  EXPECT_EQ(*(*file)->ReadAt(7, 2), "rl");
  EXPECT_EQ(*(*file)->ReadAt(10, 5), "");
  EXPECT_EQ(*(*file)->ReadAt(99, 5), "");
  auto again = files_->Open(Path("a"), /*create=*/false);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->SizeBytes(), 10u);
}

TEST_F(SystemFilesTest, AllocatesZeroedSpaceAndNeverShrinks) {
  auto file = *files_->Open(Path("a"), true);
  ASSERT_TRUE(file->WriteAt(0, "x").ok());
  ASSERT_TRUE(file->Allocate(1 << 20).ok());
  EXPECT_EQ(file->SizeBytes(), 1u << 20);
  EXPECT_EQ(*file->ReadAt(0, 4), std::string("x\0\0\0", 4));
  ASSERT_TRUE(file->Allocate(10).ok());
  EXPECT_EQ(file->SizeBytes(), 1u << 20);
  EXPECT_EQ(std::filesystem::file_size(Path("a")), 1u << 20);
}

TEST_F(SystemFilesTest, ListsRenamesAndRemoves) {
  ASSERT_TRUE(files_->Open(Path("a"), true).ok());
  ASSERT_TRUE(files_->Open(Path("b"), true).ok());
  EXPECT_THAT(*files_->List(folder_), UnorderedElementsAre("a", "b"));
  EXPECT_TRUE(files_->Rename(Path("a"), Path("c")).ok());
  EXPECT_TRUE(files_->Remove(Path("b")).ok());
  EXPECT_TRUE(files_->SyncFolder(folder_).ok());
  EXPECT_THAT(*files_->List(folder_), ElementsAre("c"));
  EXPECT_TRUE(files_->Exists(Path("c")));
  EXPECT_FALSE(files_->Exists(Path("a")));
}

TEST_F(SystemFilesTest, ARemovedFileStaysReadable) {
  auto file = *files_->Open(Path("a"), true);
  ASSERT_TRUE(file->WriteAt(0, "still here").ok());
  ASSERT_TRUE(files_->Remove(Path("a")).ok());
  EXPECT_EQ(*file->ReadAt(0, 100), "still here");
}

TEST_F(SystemFilesTest, CreatesFoldersWithParents) {
  EXPECT_TRUE(files_->CreateFolder(Path("x/y/z")).ok());
  EXPECT_TRUE(files_->CreateFolder(Path("x/y/z")).ok());
  EXPECT_TRUE(files_->CreateFolder(Path("x/y/")).ok());
  EXPECT_TRUE(std::filesystem::is_directory(Path("x/y/z")));
}

TEST_F(SystemFilesTest, ErrorsNameThePath) {
  const auto missing = files_->Open(Path("missing"), false);
  EXPECT_EQ(CodeOf(missing.status()), ErrorCode::kOperationFailed);
  EXPECT_THAT(std::string(MessageOf(missing.status())), HasSubstr(Path("missing")));
  EXPECT_FALSE(files_->List(Path("missing")).ok());
  EXPECT_FALSE(files_->Remove(Path("missing")).ok());
  EXPECT_FALSE(files_->Rename(Path("missing"), Path("b")).ok());
  EXPECT_FALSE(files_->SyncFolder(Path("missing")).ok());
  EXPECT_FALSE(files_->FreeBytes(Path("missing")).ok());
  ASSERT_TRUE(files_->Open(Path("plain"), true).ok());
  EXPECT_FALSE(files_->CreateFolder(Path("plain/below")).ok());
}

TEST_F(SystemFilesTest, AFullDeviceIsOutOfDiskSpace) {
  if (!files_->Exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto file = files_->Open("/dev/full", false);
  if (!file.ok()) GTEST_SKIP() << "no access to /dev/full";
  EXPECT_EQ(CodeOf((*file)->WriteAt(0, "x")), ErrorCode::kOutOfDiskSpace);
}

TEST_F(SystemFilesTest, AFolderIsLockedOnce) {
  auto lock = files_->LockFolder(folder_);
  ASSERT_TRUE(lock.ok());
  const absl::Status second = files_->LockFolder(folder_).status();
  EXPECT_EQ(CodeOf(second), ErrorCode::kOperationFailed);
  EXPECT_THAT(std::string(MessageOf(second)), HasSubstr(folder_));
  lock->reset();
  EXPECT_TRUE(files_->LockFolder(folder_).ok());
}

TEST_F(SystemFilesTest, KnowsTheFreeSpace) {
  const auto free = files_->FreeBytes(folder_);
  ASSERT_TRUE(free.ok());
  EXPECT_GT(*free, 0u);
}

}  // namespace
}  // namespace evenkeel::storage
