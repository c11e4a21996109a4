// Implements the keys of the docs and index tables, and their shortening.
//
// Lengths are chosen so that a shortened part never equals an unshortened one, whatever a client
// stores:
//   - a shortened key has exactly `bytes_max` bytes, an unshortened one fewer;
//   - fields of an index key are shortened when they are longer than the head that is kept of them.
//     All encodings of one index's fields are prefix-free, so none that fits into the head is the
//     beginning of a longer one.
#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "storage/keys/key_encoding.h"

namespace evenkeel::storage {
namespace {

constexpr size_t kIdBytes = sizeof(uint64_t);
constexpr size_t kDigestBytes = 16;
constexpr size_t kKeyBytesMax = limits::kLmdbKeyBytesMax;
// What is kept of long fields: leaves room for their digest and that of a document key.
constexpr size_t kFieldsHeadBytes = 464;
static_assert(kIdBytes + kFieldsHeadBytes + 2 * kDigestBytes <= kKeyBytesMax);
// A doc key's placement key is always whole.
static_assert(kIdBytes + limits::kPlacementKeyBytesMax + kDigestBytes < kKeyBytesMax);

void AppendId(uint64_t id, std::string* out) {
  const uint64_t swapped = __builtin_bswap64(id);
  out->append(reinterpret_cast<const char*>(&swapped), sizeof(swapped));
}

std::string IdPrefix(uint64_t id) {
  std::string prefix;
  AppendId(id, &prefix);
  return prefix;
}

void AppendDigest(std::string_view bytes, std::string* out) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  EVENKEEL_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, nullptr, EVP_sha256(), nullptr) ==
                 1);
  out->append(reinterpret_cast<const char*>(digest), kDigestBytes);
}

void AppendFields(std::string_view encoded_fields, std::string* out) {
  if (encoded_fields.size() <= kFieldsHeadBytes) {
    out->append(encoded_fields);
    return;
  }
  out->append(encoded_fields.substr(0, kFieldsHeadBytes));
  AppendDigest(encoded_fields, out);
}

// Bytes of the fields in a key.
size_t FieldsBytes(std::string_view encoded_fields) {
  const size_t bytes = encoded_fields.size();
  return bytes <= kFieldsHeadBytes ? bytes : kFieldsHeadBytes + kDigestBytes;
}

// The end of an index key: the document key, or all the room there is with its head and digest.
struct DocPart {
  size_t bytes = 0;
  bool shortened = false;
};

DocPart DocPartOf(std::string_view encoded_fields, std::string_view doc_part) {
  const size_t room = kKeyBytesMax - kIdBytes - FieldsBytes(encoded_fields);
  if (doc_part.size() < room) return {.bytes = doc_part.size()};
  return {.bytes = room, .shortened = true};
}

void AppendVarint(size_t number, std::string* out) {
  for (; number >= 0x80; number >>= 7) out->push_back(static_cast<char>(number | 0x80));
  out->push_back(static_cast<char>(number));
}

std::optional<size_t> ReadVarint(std::string_view* bytes) {
  size_t number = 0;
  for (int shift = 0; shift < 28 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    number |= static_cast<size_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

// An index record's value, taken apart.
struct IndexValueParts {
  size_t doc_bytes_in_key = 0;
  std::string_view doc_part;  // where the key has only its digest
  std::string_view type_bits;
};

std::optional<IndexValueParts> ParseIndexValue(std::string_view value) {
  IndexValueParts parts;
  const std::optional<size_t> head = ReadVarint(&value);
  if (!head.has_value()) return std::nullopt;
  parts.doc_bytes_in_key = *head >> 1;
  if ((*head & 1) != 0) {
    const std::optional<size_t> length = ReadVarint(&value);
    if (!length.has_value() || *length > value.size()) return std::nullopt;
    parts.doc_part = value.substr(0, *length);
    value.remove_prefix(*length);
  }
  parts.type_bits = value;
  return parts;
}

}  // namespace

std::string ShortenKey(std::string key, size_t bytes_max) {
  EVENKEEL_CHECK(bytes_max > kDigestBytes);
  if (key.size() < bytes_max) return key;
  std::string shortened = key.substr(0, bytes_max - kDigestBytes);
  AppendDigest(key, &shortened);
  return shortened;
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<uint8_t>(end.back()) == 0xFF) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

bool CutBound(std::string* bound) {
  if (bound->size() <= kIdBytes + kFieldsHeadBytes) return false;
  bound->resize(kIdBytes + kFieldsHeadBytes);
  return true;
}

std::string DocKey(CollectionId collection, std::string_view placement_key, bson::Value id,
                   const bson::StringComparator* rules) {
  std::string key;
  AppendId(collection.value, &key);
  key.append(placement_key);
  AppendEncoded(id, Direction::kAscending, &key, rules);
  return ShortenKey(std::move(key), kKeyBytesMax);
}

std::string DocPrefix(CollectionId collection) { return IdPrefix(collection.value); }

std::string DocPrefixEnd(CollectionId collection) { return PrefixEnd(DocPrefix(collection)); }

std::string_view WithoutCollection(std::string_view doc_key) {
  return doc_key.substr(std::min(kIdBytes, doc_key.size()));
}

CollectionId CollectionOfDocKey(std::string_view doc_key) {
  uint64_t bits = 0;
  doc_key.substr(0, kIdBytes).copy(reinterpret_cast<char*>(&bits), kIdBytes);
  return {__builtin_bswap64(bits)};
}

std::string IndexPrefix(IndexId index, std::string_view encoded_fields) {
  std::string prefix = IdPrefix(index.value);
  AppendFields(encoded_fields, &prefix);
  return prefix;
}

std::string IndexEnd(IndexId index) { return PrefixEnd(IdPrefix(index.value)); }

std::string IndexKey(IndexId index, std::string_view encoded_fields, std::string_view doc_key) {
  std::string key = IndexPrefix(index, encoded_fields);
  const std::string_view doc_part = WithoutCollection(doc_key);
  const DocPart part = DocPartOf(encoded_fields, doc_part);
  if (!part.shortened) {
    key.append(doc_part);
    return key;
  }
  key.append(doc_part.substr(0, part.bytes - kDigestBytes));
  AppendDigest(doc_part, &key);
  return key;
}

std::string IndexValue(std::string_view type_bits, std::string_view encoded_fields,
                       std::string_view doc_key) {
  const std::string_view doc_part = WithoutCollection(doc_key);
  const DocPart part = DocPartOf(encoded_fields, doc_part);
  std::string value;
  AppendVarint(part.bytes << 1 | (part.shortened ? 1 : 0), &value);
  if (part.shortened) {
    AppendVarint(doc_part.size(), &value);
    value.append(doc_part);
  }
  while (!type_bits.empty() && type_bits.back() == '\0') type_bits.remove_suffix(1);
  value.append(type_bits);
  return value;
}

std::string DocKeyOfIndexRecord(CollectionId collection, std::string_view index_key,
                                std::string_view index_value) {
  const std::optional<IndexValueParts> parts = ParseIndexValue(index_value);
  if (!parts.has_value() || parts->doc_bytes_in_key > index_key.size()) return {};
  std::string doc_key = IdPrefix(collection.value);
  doc_key.append(parts->doc_part.empty()
                     ? index_key.substr(index_key.size() - parts->doc_bytes_in_key)
                     : parts->doc_part);
  return doc_key;
}

std::string_view FieldsOfIndexRecord(std::string_view index_key, std::string_view index_value) {
  const std::optional<IndexValueParts> parts = ParseIndexValue(index_value);
  if (!parts.has_value() || parts->doc_bytes_in_key + kIdBytes > index_key.size()) return {};
  return index_key.substr(kIdBytes, index_key.size() - kIdBytes - parts->doc_bytes_in_key);
}

bool FieldsAreShortened(std::string_view fields_of_record) {
  return fields_of_record.size() > kFieldsHeadBytes;
}

std::string_view TypeBitsOfIndexRecord(std::string_view index_value) {
  const std::optional<IndexValueParts> parts = ParseIndexValue(index_value);
  return parts.has_value() ? parts->type_bits : std::string_view();
}

}  // namespace evenkeel::storage
