// The writer's queue: bounds, batches, requests, closing.
#include "storage/write/write_queue.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "base/thread.h"
#include "tests/lib/store_harness.h"

namespace evenkeel::storage {
namespace {

std::unique_ptr<WriteOp> OpOf(size_t bytes, bool essential = false) {
  return std::make_unique<tests::FunctionOp>([](WriteContext&) {}, std::make_shared<tests::OpEnd>(),
                                             bytes, essential);
}

TEST(WriteQueue, BatchesAreCutByBytes) {
  WriteQueue queue(1 << 20);
  for (const size_t bytes : {100, 100, 100, 5000, 100}) ASSERT_TRUE(queue.Submit(OpOf(bytes)).ok());
  WriteQueue::Work work;
  std::vector<size_t> sizes;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(queue.Take(250, &work));
    sizes.push_back(work.ops.size());
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{2, 1, 1, 1})) << "a large one goes alone";
}

TEST(WriteQueue, PendingBytesAreBounded) {
  WriteQueue queue(1000);
  ASSERT_TRUE(queue.Submit(OpOf(5000)).ok()) << "one may always run";
  EXPECT_EQ(CodeOf(queue.Submit(OpOf(1))), ErrorCode::kExceededTimeLimit);
  EXPECT_TRUE(queue.Submit(OpOf(1, true)).ok()) << "what frees others is never refused";
  WriteQueue::Work work;
  ASSERT_TRUE(queue.Take(10'000, &work));
  EXPECT_EQ(CodeOf(queue.Submit(OpOf(1))), ErrorCode::kExceededTimeLimit)
      << "taken is not finished";
  for (const auto& op : work.ops) queue.Release(PendingBytesOf(*op));
  EXPECT_EQ(queue.pending_bytes(), 0u);
  EXPECT_TRUE(queue.Submit(OpOf(1)).ok());
}

TEST(WriteQueue, AFreezeComesBehindWhatWasSubmittedBefore) {
  WriteQueue queue(1 << 20);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.Submit(OpOf(100)).ok());
  const uint64_t number = queue.RequestFreeze();
  WriteQueue::Work work;
  ASSERT_TRUE(queue.Take(200, &work));
  EXPECT_EQ(work.freeze, 0u);
  ASSERT_TRUE(queue.Take(200, &work));
  EXPECT_EQ(work.freeze, number);
  queue.RequestClockBound(Timestamp{5});
  queue.RequestClockBound(Timestamp{3});
  ASSERT_TRUE(queue.Take(200, &work));
  EXPECT_EQ(work.freeze, 0u);
  EXPECT_EQ(work.clock_bound, Timestamp{5});
}

TEST(WriteQueue, ClosingLetsTheRestThrough) {
  WriteQueue queue(1 << 20);
  ASSERT_TRUE(queue.Submit(OpOf(1)).ok());
  queue.Close();
  EXPECT_EQ(CodeOf(queue.Submit(OpOf(1))), ErrorCode::kShutdownInProgress);
  WriteQueue::Work work;
  EXPECT_TRUE(queue.Take(100, &work));
  EXPECT_FALSE(queue.Take(100, &work));
}

TEST(WriteQueue, AbortGivesTheRestBackAndWakesTheWriter) {
  WriteQueue queue(1 << 20);
  bool more = true;
  {
    const base::Thread writer("writer", [&] {
      WriteQueue::Work work;
      more = queue.Take(100, &work) && queue.Take(100, &work);
    });
    EXPECT_LE(queue.Abort().size(), 1u);
  }
  EXPECT_FALSE(more);
  WriteQueue other(1 << 20);
  ASSERT_TRUE(other.Submit(OpOf(1)).ok());
  EXPECT_EQ(other.Abort().size(), 1u);
}

}  // namespace
}  // namespace evenkeel::storage
