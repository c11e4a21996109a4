// Hands requests to a shard without a socket.
#include "cli/embedded_channel.h"

#include <memory>
#include <utility>

namespace evenkeel::cli {

boost::asio::awaitable<absl::StatusOr<wire::Message>> EmbeddedChannel::Call(
    wire::Message request, absl::Time deadline, base::CancellationToken cancelled) {
  auto reply = std::make_shared<const bson::Document>(
      co_await service_->Handle(std::move(request), deadline, std::move(cancelled)));
  wire::Message message;
  message.body = reply->view();
  message.owner = std::move(reply);
  co_return message;
}

}  // namespace evenkeel::cli
