// Implements the layout of documents in LMDB.
#include "storage/lmdb/doc_value.h"

#include <isa-l/crc.h>

#include <cstring>

namespace evenkeel::storage {

namespace {

// CRC32C of `bytes`, continued from `crc`, 0 to begin with.
uint32_t ContinueCrc(uint32_t crc, std::string_view bytes) {
  // The library takes the running value without the final inversion, and a pointer it does not
  // write through.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~crc);
}

uint32_t Checksum(std::string_view timestamp, std::string_view document) {
  return ContinueCrc(ContinueCrc(0, timestamp), document);
}

}  // namespace

std::array<char, kDocHeadBytes> DocHead(Timestamp commit_timestamp, std::string_view document) {
  std::array<char, kDocHeadBytes> head;
  std::memcpy(head.data(), &commit_timestamp.bits, 8);
  const uint32_t crc = Checksum({head.data(), 8}, document);
  std::memcpy(head.data() + 8, &crc, 4);
  return head;
}

DocValue SplitDocValue(std::string_view value) {
  DocValue doc;
  if (value.size() < kDocHeadBytes) return doc;
  std::memcpy(&doc.commit_timestamp.bits, value.data(), 8);
  doc.document = value.substr(kDocHeadBytes);
  return doc;
}

bool DocValueIntact(std::string_view value) {
  if (value.size() < kDocHeadBytes) return false;
  uint32_t crc = 0;
  std::memcpy(&crc, value.data() + 8, 4);
  return crc == Checksum(value.substr(0, 8), value.substr(kDocHeadBytes));
}

}  // namespace evenkeel::storage
