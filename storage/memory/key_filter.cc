// Implements the filter: a Bloom filter in blocks of one cache line, eight bits per key, one in
// each word.
#include "storage/memory/key_filter.h"

#include <absl/hash/hash.h>
#include <absl/strings/string_view.h>

#include <algorithm>

namespace evenkeel::storage {
namespace {

constexpr size_t kKeysPerBlock = 42;  // about 12 bits per key

// The bit of each word, taken from the low half of the hash.
uint64_t BitOf(uint64_t hash, int word) {
  constexpr uint32_t kOdd[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
  return uint64_t{1} << (static_cast<uint32_t>(hash) * kOdd[word] >> 26);
}

}  // namespace

uint64_t FilterHash(std::string_view key) {
  return absl::Hash<absl::string_view>()(absl::string_view(key.data(), key.size())) | 1;
}

KeyFilter::KeyFilter(const SkipList& list)
    : block_count_(std::max<size_t>(1, list.count() / kKeysPerBlock + 1)),
      blocks_(std::make_unique<Block[]>(block_count_)) {
  for (SkipNode* node = list.First(); node != nullptr; node = SkipList::Next(node)) {
    const uint64_t hash = FilterHash(node->key());
    Block& block = BlockOf(hash);
    for (int word = 0; word < 8; ++word) block.words[word] |= BitOf(hash, word);
  }
}

bool KeyFilter::MayContain(uint64_t hash) const {
  const Block& block = BlockOf(hash);
  uint64_t missing = 0;
  for (int word = 0; word < 8; ++word) missing |= ~block.words[word] & BitOf(hash, word);
  return missing == 0;
}

}  // namespace evenkeel::storage
