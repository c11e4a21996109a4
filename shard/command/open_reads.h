// Which versions of collections are being read: what a move has left behind stays for them.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/btree_map.h>
#include <absl/synchronization/mutex.h>

#include <memory>
#include <utility>

#include "base/types.h"

namespace evenkeel::shard {

// Any thread. Made by std::make_shared.
class OpenReads : public std::enable_shared_from_this<OpenReads> {
 public:
  // A read that is under way, from its begin until its cursor has ended.
  class Read {
   public:
    Read() = default;
    Read(Read&& other) noexcept = default;
    Read& operator=(Read&& other) noexcept;
    ~Read() { End(); }

   private:
    friend class OpenReads;
    Read(std::shared_ptr<OpenReads> reads, CollectionId collection, CatalogVersion version)
        : reads_(std::move(reads)), collection_(collection), version_(version) {}
    void End();

    std::shared_ptr<OpenReads> reads_;  // null: ended
    CollectionId collection_;
    CatalogVersion version_;
  };

  Read Begin(CollectionId collection, CatalogVersion version);
  // True when somebody reads the collection as it was before that version.
  bool HasOlder(CollectionId collection, CatalogVersion version) const;

 private:
  using Source = std::pair<uint64_t, uint64_t>;  // collection, version
  mutable absl::Mutex mutex_;
  absl::btree_map<Source, int64_t> reads_ ABSL_GUARDED_BY(mutex_);  // how many
};

}  // namespace evenkeel::shard
