// The timer that looks after the connections of one loop.
#include "wire/net/watch.h"

#include <poll.h>

#include <algorithm>
#include <limits>

namespace evenkeel::wire {

Watch::Watch(boost::asio::any_io_executor executor, absl::Duration interval)
    : timer_(std::move(executor)), interval_(interval) {}

void Watch::SetPressure(const base::ByteBudget* budget, absl::Duration time_max) {
  budget_ = budget;
  pressure_ticks_max_ = TicksOf(time_max);
}

uint32_t Watch::TicksOf(absl::Duration time) const {
  return static_cast<uint32_t>(std::min(absl::FDivDuration(time, interval_) + 1, 1e9));
}

bool Watch::IsLate(const Watched& connection) const {
  if (connection.ticks_ > connection.ticks_max_) return true;
  return connection.phase_ == Phase::kWriting && connection.ticks_ > pressure_ticks_max_ &&
         budget_ != nullptr && budget_->IsOverdrawn();
}

void Watch::Add(Watched* connection) { all_.insert(connection); }

void Watch::Remove(Watched* connection) {
  all_.erase(connection);
  if (connection->busy_) busy_.erase(std::find(busy_.begin(), busy_.end(), connection));
}

void Watch::Enter(Watched* connection, Phase phase, absl::Duration time_max) {
  connection->phase_ = phase;
  connection->ticks_ = 0;
  if (phase == Phase::kReading || phase == Phase::kWriting) {
    connection->ticks_max_ = TicksOf(time_max);
  }
  if (connection->busy_ || phase == Phase::kIdle) return;
  connection->busy_ = true;
  busy_.push_back(connection);
  if (!armed_) Arm();
}

void Watch::Arm() {
  armed_ = true;
  timer_.expires_after(absl::ToChronoNanoseconds(interval_));
  timer_.async_wait([self = self_](boost::system::error_code error) {
    if (*self == nullptr) return;
    (*self)->armed_ = false;
    if (!error) (*self)->Tick();
  });
}

void Watch::Tick() {
  std::vector<Watched*> running;
  std::vector<Watched*> late;
  std::erase_if(busy_, [&](Watched* connection) {
    ++connection->ticks_;
    switch (connection->phase_) {
      case Phase::kIdle:
        connection->busy_ = false;
        return true;
      case Phase::kReading:
      case Phase::kWriting:
        if (IsLate(*connection)) late.push_back(connection);
        break;
      case Phase::kWaiting:
      case Phase::kHandling:
        running.push_back(connection);
        break;
      case Phase::kUnwatched:
        break;
    }
    return false;
  });
  if (!busy_.empty()) Arm();
  // Their coroutines go on by posted completions, so nobody leaves the lists below while they are
  // used.
  for (Watched* connection : late) connection->TookTooLong();
  if (!running.empty()) PollPeers(running);
}

void Watch::PollPeers(const std::vector<Watched*>& running) {
  std::vector<pollfd> polled;
  polled.reserve(running.size());
  for (Watched* connection : running) polled.push_back({connection->NativeHandle(), POLLRDHUP, 0});
  if (poll(polled.data(), polled.size(), 0) <= 0) return;
  for (size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents & (POLLRDHUP | POLLHUP | POLLERR)) running[i]->PeerGone();
  }
}

void Watch::Close() {
  *self_ = nullptr;
  timer_.cancel();
}

void Watch::StopAll() {
  const std::vector<Watched*> connections(all_.begin(), all_.end());
  for (Watched* connection : connections) connection->Stop();
}

void Watch::AbortAll() {
  const std::vector<Watched*> connections(all_.begin(), all_.end());
  for (Watched* connection : connections) connection->Abort();
}

}  // namespace evenkeel::wire
