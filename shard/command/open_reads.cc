// Counts reads by what they read.
#include "shard/command/open_reads.h"

namespace evenkeel::shard {

OpenReads::Read& OpenReads::Read::operator=(Read&& other) noexcept {
  End();
  reads_ = std::move(other.reads_);
  collection_ = other.collection_;
  version_ = other.version_;
  return *this;
}

void OpenReads::Read::End() {
  if (reads_ == nullptr) return;
  {
    absl::MutexLock lock(&reads_->mutex_);
    const auto found = reads_->reads_.find({collection_.value, version_.value});
    if (--found->second == 0) reads_->reads_.erase(found);
  }
  reads_.reset();
}

OpenReads::Read OpenReads::Begin(CollectionId collection, CatalogVersion version) {
  absl::MutexLock lock(&mutex_);
  ++reads_[{collection.value, version.value}];
  return {shared_from_this(), collection, version};
}

bool OpenReads::HasOlder(CollectionId collection, CatalogVersion version) const {
  absl::MutexLock lock(&mutex_);
  const auto oldest = reads_.lower_bound({collection.value, 0});
  return oldest != reads_.end() && oldest->first.first == collection.value &&
         oldest->first.second < version.value;
}

}  // namespace evenkeel::shard
