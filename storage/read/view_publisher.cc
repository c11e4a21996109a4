// Implements the publisher.
#include "storage/read/view_publisher.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace evenkeel::storage {

template <typename Change>
void ViewPublisher::Publish(Change change) {
  absl::MutexLock change_lock(&change_mutex_);
  auto next = std::make_shared<View>(*Current());
  change(next.get());
  std::shared_ptr<const View> old = std::move(next);
  absl::MutexLock lock(&pointer_mutex_);
  current_.swap(old);
}

template <typename Change>
void ViewPublisher::PublishTables(Change change) {
  Publish([&](View* view) {
    auto tables = std::make_shared<TableList>(*view->tables);
    change(tables.get());
    view->tables = std::move(tables);
  });
}

void ViewPublisher::StartAt(LogIndex index, Timestamp latest) {
  Publish([&](View* view) {
    auto tables = std::make_shared<TableList>();
    tables->entries.push_back({std::make_shared<MemTable>(LogIndex{index.value + 1}), false});
    *view = View{.latest = latest, .index = index, .tables = std::move(tables)};
  });
}

void ViewPublisher::RaiseHistoryFloor(Timestamp floor) {
  PublishTables(
      [&](TableList* list) { list->history_floor = std::max(list->history_floor, floor); });
}

void ViewPublisher::PublishBatches(LogIndex index, Timestamp latest,
                                   std::shared_ptr<const PublishedState> state) {
  Publish([&](View* view) {
    view->index = std::max(view->index, index);
    view->latest = std::max(view->latest, latest);
    if (state != nullptr) view->state = std::move(state);
  });
}

void ViewPublisher::AddTable(std::shared_ptr<MemTable> table) {
  PublishTables([&](TableList* list) { list->entries.push_back({std::move(table), false}); });
}

void ViewPublisher::MarkInLmdb(const MemTable* table) {
  PublishTables([&](TableList* list) {
    for (TableList::Entry& entry : list->entries) {
      if (entry.table.get() == table) entry.in_lmdb = true;
    }
  });
}

std::shared_ptr<MemTable> ViewPublisher::DropOldest(Timestamp history_floor) {
  std::shared_ptr<MemTable> dropped;
  PublishTables([&](TableList* list) {
    EVENKEEL_CHECK(!list->entries.empty() && list->entries.front().in_lmdb);
    dropped = std::move(list->entries.front().table);
    list->entries.erase(list->entries.begin());
    list->history_floor = std::max(list->history_floor, history_floor);
  });
  return dropped;
}

}  // namespace evenkeel::storage
