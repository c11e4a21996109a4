// Asks a router as an ordinary client.
#include "cli/ask_router.h"

#include <absl/time/clock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <memory>
#include <utility>

#include "base/async/event_loop.h"
#include "base/bson/builder.h"
#include "base/status.h"
#include "cli/router_uri.h"
#include "wire/net/peer_link.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::cli {
namespace {

absl::StatusOr<wire::PeerAddress> AddressOf(const RouterChoice& router) {
  wire::PeerAddress address{.name = "the router", .host = router.host, .port = router.port};
  const bool given = !router.ca_file.empty() || !router.certificate_key_file.empty();
  if (!router.tls && !given) return address;
  wire::TlsOptions tls;
  tls.side = wire::TlsSide::kClient;
  tls.certificate_key_file = {"--tlsCertificateKeyFile", router.certificate_key_file};
  tls.key_password = router.key_password;
  tls.ca_file = {"--tlsCAFile", router.ca_file};
  tls.any_host_name = router.any_host_name;
  EVENKEEL_ASSIGN_OR_RETURN(address.tls, wire::TlsContext::Load(std::move(tls)));
  return address;
}

boost::asio::awaitable<absl::StatusOr<wire::Message>> Ask(const wire::PeerAddress& address,
                                                          std::string_view command,
                                                          absl::Time deadline) {
  const auto link = std::make_shared<wire::PeerLink>(co_await boost::asio::this_coro::executor);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await link->Open(address, deadline));
  bson::Builder body;
  body.Append(command, int32_t{1}).Append("$db", "admin");
  const wire::Message request = wire::MakeMessage(body.Finish());
  co_return co_await link->Exchange(request, deadline, {});
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

absl::StatusOr<bson::Document> AskRouter(RouterChoice router, std::string_view command) {
  if (!router.uri.empty()) EVENKEEL_RETURN_IF_ERROR(ApplyUri(&router));
  EVENKEEL_ASSIGN_OR_RETURN(const wire::PeerAddress address, AddressOf(router));
  base::EventLoop loop("client");
  const absl::Time deadline = absl::Now() + absl::Seconds(router.timeout_seconds);
  auto reply = boost::asio::co_spawn(loop.executor(), Ask(address, command, deadline),
                                     boost::asio::use_future)
                   .get();
  if (!reply.ok()) return reply.status();
  EVENKEEL_RETURN_IF_ERROR(wire::StatusOfReply(reply->body));
  return OwnFields(reply->body);
}

}  // namespace evenkeel::cli
