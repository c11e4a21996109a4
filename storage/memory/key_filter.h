// A filter over the keys of a frozen list: says quickly that a key is not there.
//
// Built once, by the checkpoint thread, when the list takes no more keys; read by any thread. About
// 1 in 100 of the absent keys passes. One cache line per question.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "storage/memory/skip_list.h"

namespace evenkeel::storage {

// The hash that filters use; computed once for all tables of a read. Never 0.
uint64_t FilterHash(std::string_view key);

class KeyFilter {
 public:
  explicit KeyFilter(const SkipList& list);

  // False: the key is not in the list.
  bool MayContain(uint64_t hash) const;
  size_t bytes() const { return block_count_ * sizeof(Block); }

 private:
  struct alignas(64) Block {
    uint64_t words[8];
  };

  Block& BlockOf(uint64_t hash) const { return blocks_[(hash >> 32) * block_count_ >> 32]; }

  size_t block_count_;
  std::unique_ptr<Block[]> blocks_;
};

}  // namespace evenkeel::storage
