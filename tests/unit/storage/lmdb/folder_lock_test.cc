// The folder lock.
#include "storage/lmdb/folder_lock.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/lib/temp_folder.h"

namespace evenkeel::storage {
namespace {

TEST(FolderLock, IsHeldOnceAndGivenBack) {
  const tests::TempFolder folder;
  auto first = FolderLock::Take(folder.path());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(CodeOf(FolderLock::Take(folder.path()).status()), ErrorCode::kOperationFailed);
  first->reset();
  EXPECT_TRUE(FolderLock::Take(folder.path()).ok());
}

TEST(FolderLock, NamesAFolderItCannotUse) {
  const auto lock = FolderLock::Take("/nonexistent/folder");
  EXPECT_EQ(CodeOf(lock.status()), ErrorCode::kOperationFailed);
  EXPECT_NE(MessageOf(lock.status()).find("/nonexistent/folder"), std::string_view::npos);
}

}  // namespace
}  // namespace evenkeel::storage
