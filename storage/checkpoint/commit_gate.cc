// Implements the gate: one mutex of the process.
#include "storage/checkpoint/commit_gate.h"

#include <absl/synchronization/mutex.h>

namespace evenkeel::storage {
namespace {

absl::Mutex gate(absl::kConstInit);

}  // namespace

absl::Status CommitAlone(CheckpointWriter* writer) {
  absl::MutexLock lock(&gate);
  return writer->Commit();
}

}  // namespace evenkeel::storage
