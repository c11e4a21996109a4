// Counts statements by what they use.
#include "shard/command/versions_in_use.h"

namespace evenkeel::shard {

VersionsInUse::Use& VersionsInUse::Use::operator=(Use&& other) noexcept {
  End();
  table_ = std::move(other.table_);
  collection_ = other.collection_;
  version_ = other.version_;
  return *this;
}

void VersionsInUse::Use::End() {
  if (table_ == nullptr) return;
  {
    absl::MutexLock lock(&table_->mutex_);
    const auto found = table_->uses_.find({collection_.value, version_.value});
    if (--found->second == 0) table_->uses_.erase(found);
  }
  table_.reset();
}

VersionsInUse::Use VersionsInUse::Begin(CollectionId collection, CatalogVersion version) {
  absl::MutexLock lock(&mutex_);
  ++uses_[{collection.value, version.value}];
  return {shared_from_this(), collection, version};
}

bool VersionsInUse::HasOlder(CollectionId collection, CatalogVersion version) const {
  absl::MutexLock lock(&mutex_);
  const auto oldest = uses_.lower_bound({collection.value, 0});
  return oldest != uses_.end() && oldest->first.first == collection.value &&
         oldest->first.second < version.value;
}

}  // namespace evenkeel::shard
