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
    if (--found->second.count == 0) table_->uses_.erase(found);
  }
  table_.reset();
}

VersionsInUse::Use VersionsInUse::Begin(const catalog::CollectionEntry& entry) {
  absl::MutexLock lock(&mutex_);
  Uses& uses = uses_[{entry.id.value, entry.version.value}];
  if (++uses.count == 1) uses.assignment = entry.assignment;
  return {shared_from_this(), entry.id, entry.version};
}

bool VersionsInUse::HasOlder(CollectionId collection, CatalogVersion version) const {
  absl::MutexLock lock(&mutex_);
  const auto oldest = uses_.lower_bound({collection.value, 0});
  return oldest != uses_.end() && oldest->first.first == collection.value &&
         oldest->first.second < version.value;
}

bool VersionsInUse::HasOthers(CollectionId collection, std::string_view assignment) const {
  absl::MutexLock lock(&mutex_);
  for (auto use = uses_.lower_bound({collection.value, 0});
       use != uses_.end() && use->first.first == collection.value; ++use) {
    if (use->second.assignment != assignment) return true;
  }
  return false;
}

}  // namespace evenkeel::shard
