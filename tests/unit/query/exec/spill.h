// A context whose operators must spill early, into a folder of the test.
#pragma once

#include <memory>

#include "base/check.h"
#include "query/context.h"
#include "query/spill/spill_folder.h"
#include "tests/lib/temp_folder.h"

namespace evenkeel::query {

struct Spilling {
  explicit Spilling(size_t memory_bytes = 16 << 10) {
    auto opened = SpillFolder::Open(temp.path());
    EVENKEEL_CHECK(opened.ok());
    folder = *opened;
    folder->SetFreeBytesMin(0);
    context.spill = folder;
    context.memory = MemoryLimits::All(memory_bytes);
  }

  tests::TempFolder temp;
  std::shared_ptr<SpillFolder> folder;
  QueryContext context;
};

}  // namespace evenkeel::query
