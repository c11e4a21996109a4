// The engine's own rows in LMDB.
#include "storage/checkpoint/engine_state.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/lib/fake_checkpoint_store.h"

namespace evenkeel::storage {
namespace {

TEST(EngineState, ANewStoreIsEmptyAndGetsItsFormat) {
  tests::FakeCheckpointStore store;
  const auto state = LoadEngineState(&store);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->position.index, LogIndex{});
  EXPECT_EQ(store.Content(kEngineDatabase).count("format"), 1u);
  EXPECT_TRUE(LoadEngineState(&store).ok());
}

TEST(EngineState, KeepsPositionAndRemovals) {
  tests::FakeCheckpointStore store;
  ASSERT_TRUE(LoadEngineState(&store).ok());
  MemTable table(LogIndex{1});
  table.AddDeadRange({Table::kDocs, {"begin", "end", {-5, INT64_MAX - 1}}, Timestamp{7}});
  table.AddDeadRange({Table::kIndex, {std::string("\0x", 2), ""}, Timestamp{8}});
  table.EndBatch(LogIndex{4}, Timestamp{8}, {});
  auto writer = *store.BeginWrite();
  ASSERT_TRUE(PutPosition(writer.get(), {LogIndex{4}, Timestamp{8}, Timestamp{20}}).ok());
  for (const PendingRemoval& removal : RemovalsOf(table))
    ASSERT_TRUE(PutRemoval(writer.get(), removal).ok());
  ASSERT_TRUE(writer->Commit().ok());

  const auto state = LoadEngineState(&store);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->position.index, LogIndex{4});
  EXPECT_EQ(state->position.latest, Timestamp{8});
  EXPECT_EQ(state->position.clock_bound, Timestamp{20});
  ASSERT_EQ(state->removals.size(), 2u);
  EXPECT_EQ(state->removals[0].range.keys.begin, "begin");
  EXPECT_EQ(state->removals[0].range.keys.end, "end");
  EXPECT_EQ(state->removals[0].range.keys.hashes, (HashSpan{-5, INT64_MAX - 1}));
  EXPECT_EQ(state->removals[1].range.table, Table::kIndex);
  EXPECT_EQ(state->removals[1].range.keys.begin, std::string("\0x", 2));
  EXPECT_EQ(state->removals[1].range.keys.hashes, HashSpan{});
  EXPECT_EQ(state->removals[1].range.marked, Timestamp{8});
}

struct BadCase {
  const char* name;
  const char* row;
  std::string value;
  ErrorCode code;
};

TEST(EngineState, RefusesWhatItCannotRead) {
  const BadCase cases[] = {
      {"newer format", "format", std::string("\x04\0\0\0", 4), ErrorCode::kOperationFailed},
      {"cut format", "format", "\x02", ErrorCode::kOperationFailed},
      {"short position", "position", "123", ErrorCode::kUnknownError},
      {"short removal", "removal/x", "123", ErrorCode::kUnknownError},
      {"removal of an unknown table", "removal/x", "\x09" + std::string(32, '\0'),
       ErrorCode::kUnknownError},
      {"removal cut off", "removal/x", std::string(25, '\0') + std::string(8, '\x01'),
       ErrorCode::kUnknownError},
  };
  for (const BadCase& bad : cases) {
    tests::FakeCheckpointStore store;
    ASSERT_TRUE(LoadEngineState(&store).ok());
    store.Damage(kEngineDatabase, bad.row, bad.value);
    EXPECT_EQ(CodeOf(LoadEngineState(&store).status()), bad.code) << bad.name;
  }
}

// Documents lay elsewhere in format 1, counters had other keys in format 2.
TEST(EngineState, AnOlderFormatIsRefusedWithTheWayOut) {
  tests::FakeCheckpointStore store;
  store.Damage(kEngineDatabase, "format", std::string("\x02\0\0\0", 4));
  const absl::Status refused = LoadEngineState(&store).status();
  EXPECT_EQ(CodeOf(refused), ErrorCode::kOperationFailed);
  for (const char* part : {"format 2", "reads format 3 only", "mongodump", "mongorestore"}) {
    EXPECT_NE(MessageOf(refused).find(part), std::string_view::npos) << refused;
  }
  EXPECT_EQ(store.Content(kEngineDatabase)["format"], std::string("\x02\0\0\0", 4));
}

}  // namespace
}  // namespace evenkeel::storage
