// The counters of a collection's documents on one shard: always exact, changed in the batch that
// changes the documents.
//
//   owned     documents that belong to this shard: what `count` says
//   arriving  that a move brings, by the range that they come from; owned when it has ended
//   leaving   of those owned, what a move takes away; known when it ends
//   orphaned  that lie here still, or were brought in vain: in no answer, removed sooner or later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/assignment.h"
#include "catalog/collection.h"
#include "shard/command/command.h"
#include "storage/store.h"

namespace evenkeel::shard {

std::string OwnedCounterKey(CollectionId collection);
std::string OrphanedCounterKey(CollectionId collection);
std::string LeavingCounterKey(CollectionId collection);
// range_min  of the range in the assignment that the collection has
std::string ArrivingCounterKey(CollectionId collection, int64_t range_min);

// The counter of a document with this hash of the shard key.
std::string CounterKey(const Collection& collection, int64_t hash);
// All that there may be.
std::vector<std::string> CounterKeys(const Collection& collection);
// The arriving ones among them.
std::vector<std::string> ArrivingCounterKeys(const Collection& collection);
// Those of documents that do not belong to this shard: arriving and orphaned.
std::vector<std::string> ForeignCounterKeys(const Collection& collection);

// Documents that belong to this shard.
storage::Count CountOwned(const storage::ReadSlice& slice, CollectionId collection);
// All others that lie here.
storage::Count CountForeign(const storage::ReadSlice& slice, const Collection& collection);

}  // namespace evenkeel::shard
