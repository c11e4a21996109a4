// Asks a router as an ordinary client.
#include "cli/status.h"

#include <absl/time/clock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <iostream>
#include <memory>
#include <utility>

#include "base/async/event_loop.h"
#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/status.h"
#include "cli/status_table.h"
#include "cli/status_uri.h"
#include "wire/net/peer_link.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::cli {
namespace {

constexpr int kWell = 0;
constexpr int kDegraded = 1;
constexpr int kCannotAsk = 2;

absl::StatusOr<wire::PeerAddress> AddressOf(const StatusOptions& options) {
  wire::PeerAddress address{.name = "the router", .host = options.host, .port = options.port};
  const bool given = !options.ca_file.empty() || !options.certificate_key_file.empty();
  if (!options.tls && !given) return address;
  wire::TlsOptions tls;
  tls.side = wire::TlsSide::kClient;
  tls.certificate_key_file = {"--tlsCertificateKeyFile", options.certificate_key_file};
  tls.key_password = options.key_password;
  tls.ca_file = {"--tlsCAFile", options.ca_file};
  tls.any_host_name = options.any_host_name;
  EVENKEEL_ASSIGN_OR_RETURN(address.tls, wire::TlsContext::Load(std::move(tls)));
  return address;
}

boost::asio::awaitable<absl::StatusOr<wire::Message>> Ask(const wire::PeerAddress& address,
                                                          absl::Time deadline) {
  const auto link = std::make_shared<wire::PeerLink>(co_await boost::asio::this_coro::executor);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await link->Open(address, deadline));
  bson::Builder body;
  body.Append("clusterStatus", int32_t{1}).Append("$db", "admin");
  const wire::Message request = wire::MakeMessage(body.Finish());
  co_return co_await link->Exchange(request, deadline, {});
}

absl::StatusOr<wire::Message> AskRouter(StatusOptions& options) {
  if (!options.uri.empty()) EVENKEEL_RETURN_IF_ERROR(ApplyUri(&options));
  EVENKEEL_ASSIGN_OR_RETURN(const wire::PeerAddress address, AddressOf(options));
  base::EventLoop loop("status");
  const absl::Time deadline = absl::Now() + absl::Seconds(options.timeout_seconds);
  auto reply =
      boost::asio::co_spawn(loop.executor(), Ask(address, deadline), boost::asio::use_future).get();
  if (!reply.ok()) return reply.status();
  EVENKEEL_RETURN_IF_ERROR(wire::StatusOfReply(reply->body));
  return reply;
}

// The reply without what every reply has.
bson::Document OwnFields(bson::View reply) {
  bson::Builder out;
  for (const auto& [name, value] : reply) {
    if (name != "ok" && name != "operationTime" && !name.starts_with('$')) out.Append(name, value);
  }
  return out.Finish();
}

}  // namespace

int ShowStatus(StatusOptions options) {
  const auto reply = AskRouter(options);
  if (!reply.ok()) {
    std::cerr << "evenkeel: " << MessageOf(reply.status()) << "\n";
    return kCannotAsk;
  }
  const bson::Document status = OwnFields(reply->body);
  std::cout << (options.json ? bson::ToJson(status) + "\n" : StatusTables(status));
  const bson::Value state = status["state"];
  return state.Is(bson::Type::kString) && state.AsString() == "ok" ? kWell : kDegraded;
}

}  // namespace evenkeel::cli
