// How long the writer waits before a batch when the checkpoint falls behind. Pure.
#pragma once

#include <absl/time/time.h>

#include <cstddef>

namespace evenkeel::storage {

// `waiting_bytes`: frozen and not yet in LMDB; `table_bytes_max`: size of a full table;
// `batch_bytes`: what the batch will add; `drain_bytes_per_second`: what the checkpoint has managed
// lately, 0 when unknown. Nothing up to one full table; from there the writer's pace falls smoothly
// through the checkpoint's own, at two and a half tables, to a quarter of it, and stays there.
absl::Duration WriterDelay(size_t waiting_bytes, size_t table_bytes_max, size_t batch_bytes,
                           double drain_bytes_per_second);

}  // namespace evenkeel::storage
