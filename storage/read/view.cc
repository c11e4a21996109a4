// Chooses the memory tables of a read.
#include "storage/read/view.h"

#include <algorithm>

namespace evenkeel::storage {

ReadTables TablesForLatest(const TableList& list) {
  ReadTables tables;
  for (auto entry = list.entries.rbegin(); entry != list.entries.rend() && !entry->in_lmdb;
       ++entry) {
    tables.push_back(entry->table.get());
  }
  return tables;
}

ReadTables TablesForSnapshot(const TableList& list, Timestamp timestamp) {
  const auto oldest =
      std::find_if(list.entries.begin(), list.entries.end(), [&](const auto& entry) {
        return !entry.in_lmdb || entry.table->max_timestamp() > timestamp;
      });
  ReadTables tables;
  for (auto entry = list.entries.end(); entry != oldest;) tables.push_back((--entry)->table.get());
  return tables;
}

}  // namespace evenkeel::storage
