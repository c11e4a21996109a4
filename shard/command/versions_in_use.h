// Which versions of collections statements use: moves leave behind what is being read, and wait for
// what is being written.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/btree_map.h>
#include <absl/synchronization/mutex.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/types.h"
#include "catalog/collection.h"

namespace evenkeel::shard {

// Any thread. Made by std::make_shared.
class VersionsInUse : public std::enable_shared_from_this<VersionsInUse> {
 public:
  // A statement that is under way; a read until its cursor has ended.
  class Use {
   public:
    Use() = default;
    Use(Use&& other) noexcept = default;
    Use& operator=(Use&& other) noexcept;
    ~Use() { End(); }

   private:
    friend class VersionsInUse;
    Use(std::shared_ptr<VersionsInUse> table, CollectionId collection, CatalogVersion version)
        : table_(std::move(table)), collection_(collection), version_(version) {}
    void End();

    std::shared_ptr<VersionsInUse> table_;  // null: ended
    CollectionId collection_;
    CatalogVersion version_;
  };

  Use Begin(const catalog::CollectionEntry& entry);
  // True when a statement uses the collection as it was before that version.
  bool HasOlder(CollectionId collection, CatalogVersion version) const;
  // True when one uses it with other ranges than those.
  bool HasOthers(CollectionId collection, std::string_view assignment) const;

 private:
  using Version = std::pair<uint64_t, uint64_t>;  // collection, version
  mutable absl::Mutex mutex_;
  struct Uses {
    std::string assignment;  // the ranges of that version
    int64_t count = 0;
  };
  absl::btree_map<Version, Uses> uses_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::shard
