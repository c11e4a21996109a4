// The requests of clients that are under way, and the connections that they have come over: for
// currentOp and killOp.
//
// Any thread. A request is entered when its handling begins and leaves with its reply.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/cancellation.h"
#include "base/bson/document.h"
#include "wire/net/handler.h"
#include "wire/protocol/request.h"

namespace evenkeel::router {

// Immutable; a new one is made when the client has said who it is.
struct ClientFacts {
  int64_t connection_id = 0;
  std::string remote;
  bson::Document metadata;  // hello's client document, or empty
};

// One request as it came.
struct Operation {
  Operation(const wire::Request& request, const base::CancellationToken& disconnected)
      : command(request.facts),
        body(request.message.body),
        owner(request.message.owner),
        lsid(request.generic.lsid_bytes),
        database(request.database),
        in_transaction(request.in_transaction()),
        killed(disconnected) {}

  int32_t id = 0;
  absl::Time begun;
  std::shared_ptr<const ClientFacts> client;
  const wire::CommandFacts* command;  // null: an unknown one
  bson::View body;
  std::shared_ptr<const void> owner;  // of what the views point into
  std::string_view lsid;              // 16 bytes, or empty
  std::string_view database;
  bool in_transaction;
  base::CancellationSource killed;  // fires when the client goes away too
};

class OperationTable {
 public:
  // Takes an operation out when it is over.
  class Place {
   public:
    Place(OperationTable* table, std::shared_ptr<Operation> operation)
        : table_(table), operation_(std::move(operation)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { table_->Leave(operation_->id); }
    const Operation& operation() const { return *operation_; }

   private:
    OperationTable* const table_;
    const std::shared_ptr<Operation> operation_;
  };

  // Enters a request. In the client's strand.
  Place Enter(const wire::ClientState& client, const wire::Request& request, absl::Time now);
  void Disconnected(int64_t connection_id);

  // Ends one, as if its client had gone, but the client is told (Interrupted). False: no such one.
  bool Kill(int32_t id);
  // Ends those of a session, but not `except`.
  void KillOfSession(std::string_view lsid, int32_t except);

  std::vector<std::shared_ptr<const Operation>> Running() const;
  // Connections that no request of is under way.
  std::vector<std::shared_ptr<const ClientFacts>> Idle() const;

 private:
  struct Connection {
    std::shared_ptr<const ClientFacts> facts;
    int running = 0;
  };
  void Leave(int32_t id);

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<int64_t, Connection> connections_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<int32_t, std::shared_ptr<Operation>> running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::router
