// Who carries out the reads of other collections that a cursor's operators want.
#pragma once

#include <absl/status/statusor.h>

#include "router/command.h"

namespace evenkeel::router {

class ForeignServer {
 public:
  virtual ~ForeignServer() = default;
  // Gives every wanted read its next rows. False when none was wanted. Suspends.
  virtual Awaitable<absl::StatusOr<bool>> Serve(CallScope scope) = 0;
  // Ends the cursors of reads that have not ended.
  virtual Awaitable<void> Close() = 0;
};

}  // namespace evenkeel::router
