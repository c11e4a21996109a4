// Fail points that make a router's commands fail: failCommand, failGetMoreAfterCursorCheckout.
//
// The drivers' tests are written for them. Only with --enable-test-commands. Any thread.
// Source: "The failCommand fail point" in MongoDB's wiki; drivers' unified test format,
// "failPoint".
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/fail_point.h"
#include "base/status.h"
#include "wire/net/handler.h"
#include "wire/protocol/request.h"

namespace evenkeel::router::fail {

// What happens to a command that a fail point hits.
struct Failure {
  absl::Duration block;  // waits so long, before anything else
  bool close_connection = false;
  std::optional<ErrorCode> code;                      // instead of being carried out
  std::optional<std::vector<std::string>> labels;     // in place of those that follow from the code
  std::optional<bson::Document> write_concern_error;  // added to the reply of what is carried out

  std::vector<std::string_view> LabelViews() const;
};

// Which commands are hit and what happens to them: the `data` of configureFailPoint.
struct CommandRule {
  std::vector<std::string> commands;  // by any of their names
  bool all_commands = false;
  std::string app_name;  // of the client; empty: any
  std::string ns;        // "db.collection"; empty: any
  std::shared_ptr<const Failure> failure;

  // Fields that are not known are ignored, as in MongoDB.
  //
  // Errors   TypeMismatch naming the field, BadValue for errorCode 0, InvalidOptions for a block
  //          without time or with a negative one.
  static absl::StatusOr<CommandRule> Parse(bson::View data);
  // configureFailPoint itself is never concerned: else nobody could end it.
  bool Concerns(const wire::Request& request, const wire::ClientState& client) const;
};

class CommandFailPoint {
 public:
  void Set(base::FailPointMode mode, CommandRule rule);
  // What happens to this command, or null. Only commands that the rule concerns count as passes.
  std::shared_ptr<const Failure> Draw(const wire::Request& request,
                                      const wire::ClientState& client);
  // In all modes so far.
  uint64_t hits() const;

 private:
  mutable absl::Mutex mutex_;
  base::FailPointMode mode_ ABSL_GUARDED_BY(mutex_);
  CommandRule rule_ ABSL_GUARDED_BY(mutex_);
  uint64_t passes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t hits_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Those of one router.
struct CommandFailPoints {
  CommandFailPoint fail_command;
  CommandFailPoint fail_get_more;

  // The one with MongoDB's name, or null.
  CommandFailPoint* Find(std::string_view name);
};

}  // namespace evenkeel::router::fail
