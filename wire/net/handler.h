// What a server does with requests: the border between connections and the process's role.
#pragma once

#include <absl/status/statusor.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "base/async/cancellation.h"
#include "wire/protocol/request.h"

namespace evenkeel::wire {

// What is known of a client connection; lives as long as the connection; its strand's threads only.
struct ClientState {
  int64_t connection_id = 0;
  std::string remote;       // "127.0.0.1:50312"
  bson::Document metadata;  // hello's client document
  bool said_hello = false;
  bool internal = false;                  // authenticated by the cluster key
  base::CancellationSource disconnected;  // fires when the peer is gone
};

// Handles one request and returns the whole body of the reply document (ok, $clusterTime …
// included: never fails).
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  // Suspends: anywhere; the request's message keeps its bytes alive.
  virtual boost::asio::awaitable<Reply> Handle(std::shared_ptr<ClientState> client,
                                               Request request) = 0;
  // A message that could not become a Request: the error document for it.
  virtual Reply ErrorFor(const absl::Status& status) = 0;
  // The connection has ended: cursors bound to nothing else may be dropped.
  virtual void Disconnected(const ClientState& client) = 0;
};

}  // namespace evenkeel::wire
