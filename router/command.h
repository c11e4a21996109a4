// What every router command is: a coroutine from a request to the fields of its reply.
//
// One file per command; router/table.cc lists them, indexed by the rows of
// wire/protocol/commands.inc. Runs in the network executor.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "base/async/cancellation.h"
#include "base/bson/document.h"
#include "wire/net/handler.h"
#include "wire/protocol/request.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router {

class Cluster;            // router/cluster.h: the shards and the catalog as this router sees them
class CursorTable;        // router/cursor/cursor_table.h
class SessionTable;       // router/session/session_table.h
struct RouterState;       // router/router.h: all of the above, the clock, options
class ClientTransaction;  // router/transaction/transaction.h
struct OperationTrace;    // router/operation_trace.h: for the log

namespace fail {
struct Failure;  // router/fail/command_fail_point.h
}

template <typename T>
using Awaitable = boost::asio::awaitable<T>;

// How long a command's calls may take, and what ends them before.
struct CallScope {
  absl::Time deadline = absl::InfiniteFuture();
  base::CancellationToken cancelled;
  std::shared_ptr<ClientTransaction> transaction;  // the calls are statements of it; null: of none
  std::shared_ptr<OperationTrace> trace;           // null: nobody asks for it
};

// One command under way. Lives until the reply is made.
struct CommandContext {
  RouterState& router;
  const wire::Request& request;
  wire::ClientState& client;
  base::CancellationToken cancelled;  // disconnect, killOp, shutdown
  wire::CommandTimes times = {};      // one moment for all that the command evaluates
  bool more_to_come = false;          // set by a handler that streams replies (awaitable hello)
  std::shared_ptr<ClientTransaction> transaction;  // that the command belongs to; null: none
  bool begun = false;             // its handler was called: something may have changed
  bool close_connection = false;  // instead of answering: a fail point wants it
  std::shared_ptr<const fail::Failure> failure;  // of a fail point that hit this command, else null
  std::shared_ptr<OperationTrace> trace;         // of the client's request; null within tests
  int32_t operation = 0;  // its number in the router's OperationTable; 0 within tests

  // Of calls that read or write for the client.
  CallScope scope() const { return {request.deadline, cancelled, transaction, trace}; }
  bson::View body() const { return request.message.body; }

  // The namespace of a command whose first field is a collection's name. Errors: InvalidNamespace,
  // BadValue.
  absl::StatusOr<std::string> Namespace() const;
};

// The reply's own fields; ok, $clusterTime and the rest are added by the router.
using CommandResult = absl::StatusOr<bson::Document>;
using CommandHandler = Awaitable<CommandResult> (*)(CommandContext& context);

}  // namespace evenkeel::router
