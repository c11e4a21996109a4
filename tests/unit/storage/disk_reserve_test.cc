// The disk reserve.
#include "storage/disk_reserve.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/lib/temp_folder.h"

namespace evenkeel::storage {
namespace {

TEST(DiskReserve, IsMadeGivenUpAndMadeAgain) {
  const tests::TempFolder folder;
  DiskReserve reserve(folder.path(), 1 << 20);
  EXPECT_FALSE(reserve.Release()) << "nothing there yet";
  reserve.Restore();
  EXPECT_EQ(std::filesystem::file_size(folder.path() + "/disk-reserve"), 1u << 20);
  EXPECT_TRUE(reserve.Release());
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/disk-reserve"));
  EXPECT_FALSE(reserve.Release());
  reserve.Restore();
  EXPECT_TRUE(reserve.Release());
}

TEST(DiskReserve, NoneIsKeptWithoutFolderOrBytes) {
  const tests::TempFolder folder;
  DiskReserve reserve(folder.path(), 0);
  reserve.Restore();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  DiskReserve nowhere("", 1 << 20);
  nowhere.Restore();
  EXPECT_FALSE(nowhere.Release());
}

}  // namespace
}  // namespace evenkeel::storage
