// Order-preserving byte strings of BSON values, and the keys of the tables made from them.
//
// memcmp of two encodings orders as bson::Compare orders the values; equal values (1, 1.0, NumberLong(1), NumberDecimal("1.0"))
// have equal encodings. No encoding is a prefix of another, so encodings can be joined.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/compare.h"
#include "base/bson/document.h"
#include "base/bson/view.h"
#include "base/types.h"

namespace evenkeel::storage {

// Direction of one field of a compound key.
enum class Direction : uint8_t { kAscending, kDescending };

// Makes sort keys of strings where a collation is given; byte order of the result is the collation's order.
class StringKeyMaker {
 public:
  virtual ~StringKeyMaker() = default;
  virtual std::string SortKey(std::string_view text) const = 0;
};

// Appends the encoding of one value of any type (arrays and objects too). Missing encodes as null (as MongoDB's indexes do),
// undefined as itself. Descending: all bytes inverted.
void AppendEncoded(bson::Value value, Direction direction, std::string* out, const StringKeyMaker* collation = nullptr);

// Bounds that sort before and after every encoding of a type class: for range scans over "all numbers", "all strings".
// `rank` is bson::CanonicalRank.
std::string LowestOfRank(int rank);
std::string AboveRank(int rank);

// What a number was before its width was folded away: one byte per value, enough to restore the BSON value from its encoding.
void AppendTypeBits(bson::Value value, std::string* out);
// Decodes one value from the front of `encoded`, which is advanced past it; `type_bits` likewise.
// Errors: InvalidBSON for a damaged key or one that was shortened. Requires that no collation was used.
absl::StatusOr<bson::OwnedValue> DecodeValue(std::string_view* encoded, std::string_view* type_bits, Direction direction);

// The document key inside the docs table: placement key, then encoded _id; shortened (see ShortenKey) as a whole with the collection.
std::string DocKey(CollectionId collection, std::string_view placement_key, bson::Value id);
// [begin, end) of all documents of a collection, or of its placement keys in [from, to).
std::string DocPrefix(CollectionId collection);
std::string DocPrefixEnd(CollectionId collection);
// The placement key and encoded _id part of a doc key (everything behind the collection id).
std::string_view WithoutCollection(std::string_view doc_key);

// index id, encoded fields (AppendEncoded one after another), document key without its collection. When all do not fit, the document key
// is replaced by 16 bytes of its digest and returned in the value by IndexValue.
std::string IndexKey(IndexId index, std::string_view encoded_fields, std::string_view doc_key);
// Value of an index record: type bits, and the document key where the key has only its digest.
std::string IndexValue(std::string_view type_bits, std::string_view encoded_fields, std::string_view doc_key);
// index id and encoded fields: all entries with these values have this prefix; uniqueness is checked by it.
std::string IndexPrefix(IndexId index, std::string_view encoded_fields);
std::string IndexEnd(IndexId index);
// The document key (with `collection` in front again) that an index record leads to.
std::string DocKeyOfIndexRecord(CollectionId collection, std::string_view index_key, std::string_view index_value);

// Keys past `bytes_max` keep their head and end in 16 bytes of SHA-256 over the whole key, so identity does not rest on luck.
// Entries with equal heads are not in order.
std::string ShortenKey(std::string key, size_t bytes_max);

// The smallest key above every key that starts with `prefix`; empty when there is none.
std::string PrefixEnd(std::string_view prefix);

}  // namespace evenkeel::storage
