// How the hash of the shard key begins a document key, and which part of the docs table a span of
// hashes is.
//
// Keys are in the order of hashes. Placed by bucket, a document key holds the hash's first 12 bits
// only, and `_id` follows: documents of one bucket lie in the order of `_id`, so that a load of
// rising `_id`s is appended at few places. Where a span begins or ends inside a bucket, the hash of
// `_id` decides; everywhere else the key does. Pure.
//
// Invariant: equal document keys have equal hashes.
//
// Format: docs/data_layout.md. Decision: docs/decisions/0005-placement-of-_id-hashed.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/view.h"
#include "base/types.h"
#include "storage/table.h"

namespace evenkeel::storage {

enum class PlacedBy : uint8_t {
  kHash,    // all 64 bits
  kBucket,  // the first 12 bits of the hash of `_id`
};

// What a hash puts in front of the placement key: 8 bytes, or 2 with the bits on the left.
std::string EncodeHash(int64_t hash, PlacedBy by);
// The hashes that a placement key, or what follows it too, may have been made from.
HashSpan DecodeHash(std::string_view placement_key, PlacedBy by);

// All documents of a collection.
TableRange DocsOf(CollectionId collection);
// Its documents with these hashes. Requires hashes.first <= hashes.last.
TableRange DocsOf(CollectionId collection, PlacedBy by, const HashSpan& hashes);
// The keys of documents with hashes in any of these spans, in key order, apart from each other.
// Documents of other spans lie there too where a bucket has both. Requires ascending spans.
std::vector<TableRange> KeysOf(CollectionId collection, PlacedBy by,
                               std::span<const HashSpan> spans);
// True when a document with a key inside of a TableRange belongs to it, by that range's `hashes`.
bool HoldsDocument(const HashSpan& hashes, std::string_view doc_key, bson::View document);

}  // namespace evenkeel::storage
