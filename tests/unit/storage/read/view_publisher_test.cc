// The publisher: each change makes a new view, old ones stay as they were.
#include "storage/read/view_publisher.h"

#include <gtest/gtest.h>

namespace evenkeel::storage {
namespace {

class State final : public PublishedState {};

std::shared_ptr<const View> EmptyView() {
  auto view = std::make_shared<View>();
  auto tables = std::make_shared<TableList>();
  tables->entries.push_back({std::make_shared<MemTable>(LogIndex{1}), false});
  view->tables = std::move(tables);
  return view;
}

TEST(ViewPublisher, BatchesMoveTheViewForwardOnly) {
  ViewPublisher views(EmptyView());
  const auto before = views.Current();
  const auto state = std::make_shared<State>();
  views.PublishBatches(LogIndex{5}, Timestamp{50}, state);
  views.PublishBatches(LogIndex{6}, Timestamp{40}, nullptr);
  EXPECT_EQ(views.Current()->index, LogIndex{6});
  EXPECT_EQ(views.Current()->latest, Timestamp{50});
  EXPECT_EQ(views.Current()->state, state);
  EXPECT_EQ(views.Current()->tables, before->tables) << "readers need not look again";
  EXPECT_EQ(before->latest, Timestamp{});
}

TEST(ViewPublisher, TablesComeAgeAndGo) {
  ViewPublisher views(EmptyView());
  const auto first = views.Current()->tables->entries[0].table;
  const auto before = views.Current();
  views.AddTable(std::make_shared<MemTable>(LogIndex{2}));
  EXPECT_EQ(views.Current()->tables->entries.size(), 2u);
  EXPECT_NE(views.Current()->tables, before->tables);
  views.MarkInLmdb(first.get());
  EXPECT_TRUE(views.Current()->tables->entries[0].in_lmdb);
  EXPECT_EQ(views.DropOldest(Timestamp{70}), first);
  EXPECT_EQ(views.Current()->tables->entries.size(), 1u);
  EXPECT_EQ(views.Current()->tables->history_floor, Timestamp{70});
  EXPECT_EQ(before->tables->entries[0].table, first);
}

TEST(ViewPublisher, RecoveryStartsBehindLmdb) {
  ViewPublisher views(EmptyView());
  views.StartAt(LogIndex{9}, Timestamp{90});
  views.RaiseHistoryFloor(Timestamp{95});
  views.RaiseHistoryFloor(Timestamp{80});
  const auto view = views.Current();
  EXPECT_EQ(view->tables->entries.back().table->first_index(), LogIndex{10});
  EXPECT_EQ(view->latest, Timestamp{90});
  EXPECT_EQ(view->tables->history_floor, Timestamp{95});
}

}  // namespace
}  // namespace evenkeel::storage
