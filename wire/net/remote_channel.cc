// Implements the pool of links to a shard and its watch.
#include "wire/net/remote_channel.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/log.h"
#include "base/status.h"
#include "wire/protocol/error_reply.h"
#include "wire/protocol/peer_fields.h"

namespace evenkeel::wire {

namespace asio = boost::asio;

namespace {

// How often a call looks whether its shard is back, and the watch tries again.
constexpr absl::Duration kUpPause = absl::Milliseconds(20);
constexpr absl::Duration kRetryPauseMin = absl::Milliseconds(50);
constexpr absl::Duration kRetryPauseMax = absl::Seconds(1);
// The shard itself says that the time is over; the router gives up a little later.
constexpr absl::Duration kDeadlineGrace = absl::Milliseconds(500);

// A shard may take so long to end what was cancelled; it hears of it again and again, as the
// request itself may be on its way still.
constexpr absl::Duration kCancelTimeMax = absl::Seconds(2);
constexpr absl::Duration kCancelPause = absl::Milliseconds(50);

Message CancelRequest(uint64_t operation) {
  bson::Builder body;
  body.Append("_cancel", static_cast<int64_t>(operation)).Append("$db", "admin");
  return MakeMessage(body.Finish());
}

Message PingRequest() {
  bson::Builder body;
  body.Append("_ping", int32_t{1}).Append("$db", "admin");
  return MakeMessage(body.Finish());
}

bool IsOutcomeKnown(const absl::Status& status) {
  return CodeOf(status) == ErrorCode::kHostUnreachable;
}

}  // namespace

RemoteChannel::RemoteChannel(RemoteChannelOptions options, base::HybridClock* clock,
                             asio::any_io_executor executor)
    : options_(std::move(options)),
      clock_(clock),
      executor_(executor),
      tasks_(executor),
      slots_(options_.links_max),
      last_error_(MakeError(ErrorCode::kHostUnreachable, "not connected yet")) {}

RemoteChannel::~RemoteChannel() = default;

void RemoteChannel::Start() {
  tasks_.Spawn([this](base::CancellationToken cancelled) { return Watch(std::move(cancelled)); });
}

asio::awaitable<void> RemoteChannel::Stop() {
  stopping_ = true;
  tasks_.Cancel();
  SetUp(MakeError(ErrorCode::kHostUnreachable, "the connection is being closed"));
  co_await tasks_.Stop();
}

void RemoteChannel::SetUp(const absl::Status& status) {
  const PeerAddress& at = options_.address;
  if (stopping_) {
    // Nobody needs to be told.
  } else if (status.ok() && !up_) {
    base::LogInfo("wire", "reached a shard",
                  {{"shard", at.name}, {"host", at.host}, {"port", at.port}});
  } else if (!status.ok() && (up_ || MessageOf(status) != MessageOf(last_error_))) {
    base::LogWarning("wire", "waiting for a shard", {{"shard", at.name}, {"reason", status}});
  }
  up_ = status.ok();
  last_error_ = status;
  if (up_) return;
  idle_.clear();
  const std::vector<PeerLink*> busy(busy_.begin(), busy_.end());
  for (PeerLink* link : busy) {
    link->Abort(Error(ErrorCode::kNetworkTimeout, "lost {}: {}", at.name, MessageOf(status)));
  }
}

// Asks the shard for as long as it answers.
asio::awaitable<absl::Status> RemoteChannel::WatchOnce(base::CancellationToken cancelled) {
  const auto link = std::make_shared<PeerLink>(executor_);
  EVENKEEL_CO_RETURN_IF_ERROR(
      co_await link->Open(options_.address, absl::Now() + options_.open_time_max));
  const Message ping = PingRequest();
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        const Message reply,
        co_await link->Exchange(ping, absl::Now() + options_.silence_max, cancelled));
    SetUp(StatusOfReply(reply.body));
    const absl::Time old = absl::Now() - options_.idle_max;
    std::erase_if(idle_, [&](const auto& idle) { return idle->idle_since < old; });
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(options_.watch_interval, cancelled));
  }
}

asio::awaitable<void> RemoteChannel::Watch(base::CancellationToken cancelled) {
  absl::Duration pause = kRetryPauseMin;
  while (!cancelled.IsCancelled()) {
    const absl::Status ended = co_await WatchOnce(cancelled);
    if (cancelled.IsCancelled()) co_return;
    pause = up_ ? kRetryPauseMin : std::min(pause * 2, kRetryPauseMax);
    SetUp(ended);
    (void)co_await base::Sleep(pause, cancelled);
  }
}

asio::awaitable<absl::Status> RemoteChannel::WaitUntilUp(base::CancellationToken cancelled) {
  while (!up_) {
    if (CodeOf(last_error_) == ErrorCode::kAuthenticationFailed) co_return last_error_;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kUpPause, cancelled));
  }
  co_return absl::OkStatus();
}

absl::Status RemoteChannel::Unreachable() const {
  return Error(ErrorCode::kHostUnreachable, "cannot reach {} at {}:{}: {}", options_.address.name,
               options_.address.host, options_.address.port, MessageOf(last_error_));
}

std::shared_ptr<PeerLink> RemoteChannel::TakeIdle() {
  while (!idle_.empty()) {
    std::shared_ptr<PeerLink> link = std::move(idle_.back());
    idle_.pop_back();
    if (link->IsQuiet()) return link;
  }
  return nullptr;
}

asio::awaitable<absl::StatusOr<std::shared_ptr<PeerLink>>> RemoteChannel::Take(
    absl::Time deadline) {
  if (!up_) co_return Unreachable();
  if (auto link = TakeIdle()) co_return link;
  auto link = std::make_shared<PeerLink>(executor_);
  const absl::Time open_by =
      std::min(deadline + kDeadlineGrace, absl::Now() + options_.open_time_max);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await link->Open(options_.address, open_by));
  co_return link;
}

Message RemoteChannel::WithPeerFields(Message request, absl::Time deadline) const {
  bson::Builder body(request.body);
  if (request.body["$db"].missing()) body.Append("$db", "admin");
  const PeerFields fields{
      .time = clock_->Now(), .deadline = deadline, .operation = request.operation};
  AppendPeerFields(body, fields, absl::Now());
  Message out = MakeMessage(body.Finish());
  out.sequences = request.sequences;
  out.operation = request.operation;
  out.owner = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
      out.owner, request.owner);
  return out;
}

struct RemoteChannel::Ending {
  base::CancellationSource over;     // the call has returned
  base::CancellationSource give_up;  // the exchange is aborted
};

asio::awaitable<void> RemoteChannel::EndAtShard(uint64_t operation, std::shared_ptr<Ending> ending,
                                                base::CancellationToken stopping) {
  const Message request = CancelRequest(operation);
  const absl::Time give_up = absl::Now() + kCancelTimeMax;
  while (absl::Now() < give_up && !stopping.IsCancelled()) {
    auto link = co_await Take(give_up);
    if (!link.ok()) break;
    const auto reply = co_await (*link)->Exchange(request, give_up, stopping);
    if (!reply.ok()) break;
    if (up_) idle_.push_back(*std::move(link));
    const absl::Status slept = co_await base::Sleep(kCancelPause, ending->over.token());
    if (!slept.ok()) co_return;
  }
  ending->give_up.Cancel();
}

asio::awaitable<absl::StatusOr<Message>> RemoteChannel::CallOnce(
    const Message& request, absl::Time deadline, const base::CancellationToken& cancelled) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto slot, co_await slots_.Acquire(1, deadline, cancelled));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::shared_ptr<PeerLink> link, co_await Take(deadline));
  busy_.insert(link.get());
  const auto ending = std::make_shared<Ending>();
  const uint64_t callback = cancelled.OnCancel([this, ending, operation = request.operation] {
    const bool told =
        operation != 0 && tasks_.Spawn([this, ending, operation](base::CancellationToken stopping) {
          return EndAtShard(operation, ending, std::move(stopping));
        });
    if (!told) ending->give_up.Cancel();
  });
  absl::StatusOr<Message> reply =
      co_await link->Exchange(request, deadline + kDeadlineGrace, ending->give_up.token());
  cancelled.Forget(callback);
  ending->over.Cancel();
  busy_.erase(link.get());
  if (reply.ok() && up_) {
    link->idle_since = absl::Now();
    idle_.push_back(link);
  } else if (!cancelled.IsCancelled() && absl::Now() < deadline) {
    // It broke: the shard may have gone, and the other links with it.
    idle_.clear();
  }
  co_return reply;
}

asio::awaitable<absl::StatusOr<Message>> RemoteChannel::Call(Message request, absl::Time deadline,
                                                             base::CancellationToken cancelled) {
  const Message message = WithPeerFields(std::move(request), deadline);
  const absl::Time give_up = std::min(deadline, absl::Now() + options_.wait_max);
  while (true) {
    absl::StatusOr<Message> reply = co_await CallOnce(message, deadline, cancelled);
    if (reply.ok()) co_return reply;
    if (absl::Now() >= deadline) {
      co_return MakeError(ErrorCode::kMaxTimeMSExpired, "operation exceeded time limit");
    }
    // Nothing was done: the shard may be on its way back.
    const bool again = !stopping_ && IsOutcomeKnown(reply.status()) && absl::Now() < give_up;
    if (!again) co_return reply;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kUpPause, cancelled));
  }
}

}  // namespace evenkeel::wire
