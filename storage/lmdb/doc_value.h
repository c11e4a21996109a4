// How a document lies in LMDB: commit timestamp, CRC32C, BSON. The other tables' values are stored
// as they are.
//
// The checksum covers the timestamp and the document: LMDB has none of its own, so silent damage is
// found here. Pure. Format: docs/data_layout.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/types.h"

namespace evenkeel::storage {

inline constexpr size_t kDocHeadBytes = 12;

struct DocValue {
  Timestamp commit_timestamp;
  std::string_view document;
};

// The head of a document's value; the document follows it.
std::array<char, kDocHeadBytes> DocHead(Timestamp commit_timestamp, std::string_view document);

// Splits a value without checking it: for reads. A value too short to have a head reads as an empty
// document.
DocValue SplitDocValue(std::string_view value);

// True when the checksum fits.
bool DocValueIntact(std::string_view value);

}  // namespace evenkeel::storage
