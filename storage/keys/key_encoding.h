// Order-preserving byte strings of BSON values, and the keys of the tables made from them.
//
// memcmp of two encodings orders as bson::Compare orders the values; equal values (1, 1.0,
// NumberLong(1), NumberDecimal("1.0")) have equal encodings. No encoding is a prefix of another, so
// encodings can be joined. The first byte tells the class of the type and is never 0x00 or 0xFF.
// Pure; any thread. Format: docs/data_layout.md.
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

// Appends the encoding of one value of any type (arrays and objects too). Missing encodes as null
// (as MongoDB's indexes do), undefined as itself. Descending: all bytes inverted. Strings are
// encoded by their sort keys where a collation is given.
void AppendEncoded(bson::Value value, Direction direction, std::string* out,
                   const bson::StringComparator* collation = nullptr);

// Bounds that sort before and after every encoding of a type class: for range scans over "all
// numbers", "all strings". Descending: before and after in that field's order. `rank` is
// bson::CanonicalRank.
std::string LowestOfRank(int rank, Direction direction = Direction::kAscending);
std::string AboveRank(int rank, Direction direction = Direction::kAscending);

// Appends what the encoding does not tell: the width of numbers, string or symbol, null or missing.
// About one byte for each such value (nested ones too), none for others; trailing zero bytes may be
// left away.
void AppendTypeBits(bson::Value value, std::string* out);
// Decodes one value from the front of `encoded`, which is advanced past it; `type_bits` likewise.
// Missing comes back as missing; the elements of arrays are named "0", "1" and so on.
// Errors: InvalidBSON for a damaged key. Requires that no collation was used and that the key was
// not shortened.
absl::StatusOr<bson::OwnedValue> DecodeValue(std::string_view* encoded, std::string_view* type_bits,
                                             Direction direction);

// The key inside the docs table: collection, placement key, encoded _id; shortened as a whole (see
// ShortenKey).
// `rules`: the collation of the collection's `_id_` index.
std::string DocKey(CollectionId collection, std::string_view placement_key, bson::Value id,
                   const bson::StringComparator* rules = nullptr);
// [begin, end) of all documents of a collection.
std::string DocPrefix(CollectionId collection);
std::string DocPrefixEnd(CollectionId collection);
// The placement key and encoded _id part of a doc key (everything behind the collection id).
std::string_view WithoutCollection(std::string_view doc_key);
// The collection that a doc key belongs to. Requires a key made by DocKey.
CollectionId CollectionOfDocKey(std::string_view doc_key);

// The key of an index record: index id, encoded fields, document key without its collection.
//
// encoded_fields  of all fields of the index, AppendEncoded one after another; long ones keep their
//                 head and end in a digest.
// doc_key         as DocKey returned it. Where it does not fit behind the fields, its head and
//                 digest are there, and the whole of it is in the value.
std::string IndexKey(IndexId index, std::string_view encoded_fields, std::string_view doc_key);
// The value of that record: type bits, and the document key where the key has only its digest.
std::string IndexValue(std::string_view type_bits, std::string_view encoded_fields,
                       std::string_view doc_key);
// Index id and encoded fields, as they begin the keys: all records with these values, and only
// they, have this prefix; uniqueness is checked by it. Takes all fields of the index, or none; for
// some of them see CutBound.
std::string IndexPrefix(IndexId index, std::string_view encoded_fields);
std::string IndexEnd(IndexId index);
// The document key (with `collection` in front again) that an index record leads to. Empty for a
// damaged record.
std::string DocKeyOfIndexRecord(CollectionId collection, std::string_view index_key,
                                std::string_view index_value);
// The encoded fields in an index record's key, for DecodeValue unless they are shortened. Empty for
// a damaged record.
std::string_view FieldsOfIndexRecord(std::string_view index_key, std::string_view index_value);
bool FieldsAreShortened(std::string_view fields_of_record);
// The type bits in an index record's value.
std::string_view TypeBitsOfIndexRecord(std::string_view index_value);

// Cuts a scan's bound (a prefix of a key with an encoded value behind it) to the part by which
// shortened keys are in order too. True when something was cut off: records that begin with what is
// left lie on both sides of the bound then. So begin the scan with it or end it at PrefixEnd of it,
// inclusive or not, and check the documents.
bool CutBound(std::string* bound);

// Keys of `bytes_max` bytes or more keep their head and end in 16 bytes of SHA-256 over the whole
// key, `bytes_max` bytes in all, so identity does not rest on luck; a shorter key never equals a
// shortened one. Keys with equal heads are not in order.
std::string ShortenKey(std::string key, size_t bytes_max);

// The smallest key above every key that starts with `prefix`; empty when there is none.
std::string PrefixEnd(std::string_view prefix);

}  // namespace evenkeel::storage
