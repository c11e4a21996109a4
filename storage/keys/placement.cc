// Implements the hash part of document keys.
#include "storage/keys/placement.h"

#include <cstddef>
#include <utility>

#include "base/bson/hash.h"
#include "storage/keys/key_encoding.h"

namespace evenkeel::storage {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

// Bits of the hash in a placement key; the bytes they take are filled up with zeros.
constexpr size_t BitsOf(PlacedBy by) { return by == PlacedBy::kBucket ? 12 : 64; }
constexpr size_t BytesOf(PlacedBy by) { return (BitsOf(by) + 7) / 8; }
// The bits of a hash that are not in it.
constexpr uint64_t RestOf(PlacedBy by) { return BitsOf(by) == 64 ? 0 : ~uint64_t{0} >> BitsOf(by); }

}  // namespace

std::string EncodeHash(int64_t hash, PlacedBy by) {
  const uint64_t bits = (static_cast<uint64_t>(hash) ^ kSignBit) & ~RestOf(by);
  const uint64_t big_endian = __builtin_bswap64(bits);
  return std::string(reinterpret_cast<const char*>(&big_endian), BytesOf(by));
}

HashSpan DecodeHash(std::string_view placement_key, PlacedBy by) {
  uint64_t big_endian = 0;
  placement_key.substr(0, BytesOf(by)).copy(reinterpret_cast<char*>(&big_endian), BytesOf(by));
  const uint64_t bits = __builtin_bswap64(big_endian) ^ kSignBit;
  return {static_cast<int64_t>(bits & ~RestOf(by)), static_cast<int64_t>(bits | RestOf(by))};
}

TableRange DocsOf(CollectionId collection) {
  return {DocPrefix(collection), DocPrefixEnd(collection)};
}

TableRange DocsOf(CollectionId collection, PlacedBy by, const HashSpan& hashes) {
  const std::string first = EncodeHash(hashes.first, by), last = EncodeHash(hashes.last, by);
  TableRange range{DocPrefix(collection) + first, PrefixEnd(DocPrefix(collection) + last)};
  const HashSpan whole{DecodeHash(first, by).first, DecodeHash(last, by).last};
  if (!hashes.Covers(whole)) range.hashes = hashes;
  return range;
}

std::vector<TableRange> KeysOf(CollectionId collection, PlacedBy by,
                               std::span<const HashSpan> spans) {
  std::vector<TableRange> ranges;
  for (const HashSpan& span : spans) {
    TableRange range = DocsOf(collection, by, span);
    range.hashes = {};
    if (!ranges.empty() && range.begin <= ranges.back().end) {
      ranges.back().end = std::move(range.end);
    } else {
      ranges.push_back(std::move(range));
    }
  }
  return ranges;
}

bool HoldsDocument(const HashSpan& hashes, std::string_view doc_key, bson::View document) {
  // A range of documents placed by their whole hash has no hashes to check: it holds all there are.
  return hashes.Covers(DecodeHash(WithoutCollection(doc_key), PlacedBy::kBucket)) ||
         hashes.Contains(bson::HashValue(document["_id"]));
}

}  // namespace evenkeel::storage
