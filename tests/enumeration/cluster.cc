// Moves messages between routers and shards step by step.
#include "tests/enumeration/cluster.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/check.h"
#include "base/fail_point.h"
#include "base/status.h"

namespace evenkeel::tests {
namespace {

using State = Flight::State;

// Far ahead, so that no deadline comes while the test runs.
absl::Time Start() { return absl::Now() + absl::Hours(24 * 365); }
// A router's clock beside the other's.
constexpr absl::Duration kAhead = absl::Seconds(1);

absl::Status Broken() { return MakeError(ErrorCode::kNetworkTimeout, "the connection broke"); }

void EndWith(Flight& flight, absl::StatusOr<wire::Message> result) {
  flight.orphan = true;
  flight.result = std::move(result);
  flight.ended.Set();
}

}  // namespace

class EnumeratedCluster::Channel final : public wire::ShardChannel {
 public:
  Channel(EnumeratedCluster* cluster, size_t router, size_t shard)
      : cluster_(cluster), router_(router), shard_(shard) {}

  boost::asio::awaitable<absl::StatusOr<wire::Message>> Call(wire::Message request, absl::Time,
                                                             base::CancellationToken) override {
    if (!cluster_->alive_[router_]) co_return Broken();
    auto flight = std::make_shared<Flight>();
    flight->name = request.body.Front().key;
    flight->router = router_;
    flight->shard = shard_;
    flight->request = std::move(request);
    flight->sent_at = cluster_->routers_[router_]->clock.Now();
    cluster_->flights_.push_back(flight);
    const absl::Status waited = co_await flight->ended.Wait();
    EVENKEEL_CHECK(waited.ok());
    co_return std::move(flight->result);
  }

 private:
  EnumeratedCluster* const cluster_;
  const size_t router_, shard_;
};

EnumeratedCluster::EnumeratedCluster(const Image& image)
    : start_(image.now), alive_(kRouters, true) {
  for (const ShardNode::Entries& entries : image.logs)
    shards_.push_back(std::make_unique<ShardNode>(start_, entries));
  for (size_t router = 0; router < kRouters; ++router) {
    std::vector<router::ShardMember> shards;
    for (uint32_t shard = 0; shard < kShards; ++shard) {
      shards.push_back(
          {{ShardId{shard}, "127.0.0.1:27017"}, std::make_shared<Channel>(this, router, shard)});
    }
    routers_.push_back(std::make_unique<RouterNode>(start_, kAhead * router, std::move(shards)));
    // Nothing waits for time to pass: what a router tells in the background it tries once.
    routers_.back()->router().state().background->Cancel();
  }
}

EnumeratedCluster::~EnumeratedCluster() {
  alive_.assign(kRouters, false);
  for (const auto& flight : flights_) {
    if (!flight->orphan) EndWith(*flight, Broken());
  }
  for (const auto& router : routers_) {
    while (router->Poll() > 0) {
    }
  }
}

EnumeratedCluster::Image EnumeratedCluster::Prepare(const std::vector<std::string>& commands) {
  Image image{Start(), std::vector<ShardNode::Entries>(kShards)};
  EnumeratedCluster cluster(image);
  RouterNode& first = *cluster.routers_.front();
  boost::asio::co_spawn(
      first.io(),
      [&first]() -> router::Awaitable<void> {
        const absl::Status started = co_await first.router().Start();
        EVENKEEL_CHECK(started.ok());
      },
      boost::asio::detached);
  cluster.Settle();
  for (const std::string& command : commands) {
    const bson::Document reply = cluster.Run(0, command);
    EVENKEEL_CHECK(!reply.view().Contains("code") && !reply.view().Contains("writeErrors"));
  }
  boost::asio::co_spawn(first.io(), first.router().Stop(absl::InfinitePast()),
                        boost::asio::detached);
  cluster.Settle();
  for (size_t shard = 0; shard < kShards; ++shard) {
    cluster.shards_[shard]->log.Sync();
    image.logs[shard] = cluster.shards_[shard]->log.DurableEntries();
  }
  // The history that a started shard knows begins above its old clock.
  image.now += absl::Minutes(1);
  return image;
}

EnumeratedCluster::Answer EnumeratedCluster::Ask(size_t router, const std::string& json) {
  auto command = bson::FromJson(json);
  EVENKEEL_CHECK(command.ok());
  auto answer = std::make_shared<std::optional<bson::Document>>();
  routers_[router]->Begin(*std::move(command),
                          [answer](bson::Document reply) { *answer = std::move(reply); });
  return answer;
}

bson::Document EnumeratedCluster::Run(size_t router, const std::string& json) {
  const Answer answer = Ask(router, json);
  Settle();
  if (answer->has_value()) return **std::move(answer);
  bson::Builder none;
  return none.Append("code", -1).Append("errmsg", "no answer to " + json).Finish();
}

void EnumeratedCluster::EndOldTransactions() {
  Advance(absl::Minutes(2));
  for (const auto& shard : shards_)
    boost::asio::co_spawn(shard->io(), shard->service().EndOldTransactions(),
                          boost::asio::detached);
  Settle();
}

// Moves what needs no step. False: there is nothing.
bool EnumeratedCluster::PassOn() {
  bool moved = false;
  for (size_t i = 0; i < flights_.size(); ++i) {
    const std::shared_ptr<Flight> flight = flights_[i];
    if (flight->orphan || (stepped_ != nullptr && stepped_(flight->name))) continue;
    if (flight->state == State::kSent) {
      Deliver(flight);
      moved = true;
    } else if (flight->state == State::kAnswered) {
      Reply(flight);
      moved = true;
    } else if (stepped_ == nullptr && !shards_[flight->shard]->log.IsDurable()) {
      Sync(flight->shard);
      moved = true;
    }
  }
  return moved;
}

void EnumeratedCluster::Settle() {
  do {
    bool ran = true;
    while (ran) {
      for (const auto& shard : shards_) shard->Settle();
      ran = false;
      for (size_t i = 0; i < kRouters; ++i) {
        if (alive_[i] && routers_[i]->Poll() > 0) ran = true;
      }
    }
  } while (PassOn());
  std::erase_if(flights_, [](const auto& flight) { return flight->state == State::kOver; });
}

void EnumeratedCluster::Deliver(const std::shared_ptr<Flight>& flight) {
  ShardNode& shard = *shards_[flight->shard];
  shard.clock.Observe(flight->sent_at);
  flight->state = State::kAtShard;
  shard.Begin(flight->request, [flight, &shard](bson::Document reply) {
    flight->reply = std::move(reply);
    flight->answered_at = shard.clock.Now();
    flight->state = flight->orphan ? State::kOver : State::kAnswered;
  });
}

void EnumeratedCluster::Reply(const std::shared_ptr<Flight>& flight) {
  bson::Builder body(flight->reply.view());
  if (!flight->reply.view().Contains("ok")) body.Append("ok", 1.0);
  body.Append("operationTime", flight->answered_at);
  flight->state = State::kOver;
  EndWith(*flight, wire::MakeMessage(body.Finish()));
}

void EnumeratedCluster::Lose(const std::shared_ptr<Flight>& flight) {
  flight->state = State::kOver;
  EndWith(*flight, Broken());
}

void EnumeratedCluster::Delay(const std::shared_ptr<Flight>& flight) { EndWith(*flight, Broken()); }

void EnumeratedCluster::Repeat(const std::shared_ptr<Flight>& flight) {
  auto second = std::make_shared<Flight>();
  second->name = flight->name;
  second->router = flight->router;
  second->shard = flight->shard;
  second->request = flight->request;
  second->sent_at = flight->sent_at;
  second->orphan = true;
  flights_.push_back(std::move(second));
}

void EnumeratedCluster::Refuse(const std::shared_ptr<Flight>& flight) {
  base::fail_points::txn_participant_vote_abort.Set(base::FailPointMode::Times(1));
  Deliver(flight);
}

void EnumeratedCluster::Sync(size_t shard) { shards_[shard]->log.Sync(); }

void EnumeratedCluster::Crash(size_t number) {
  for (const auto& flight : flights_) {
    if (flight->shard != number || flight->state != State::kAtShard) continue;
    flight->state = State::kOver;
    if (!flight->orphan) EndWith(*flight, Broken());
  }
  // The old one is left alone with what it has; nobody hears of it any more.
  auto next = std::make_unique<ShardNode>(start_, shards_[number]->log.DurableEntries());
  crashed_.push_back(std::exchange(shards_[number], std::move(next)));
}

void EnumeratedCluster::Kill(size_t router, bool lose_requests) {
  alive_[router] = false;
  for (const auto& flight : flights_) {
    if (flight->router != router || flight->orphan) continue;
    if (flight->state == State::kAnswered || (lose_requests && flight->state == State::kSent))
      flight->state = State::kOver;
    EndWith(*flight, Broken());
  }
}

void EnumeratedCluster::Advance(absl::Duration time) {
  for (const auto& shard : shards_) shard->wall.Advance(time);
  for (const auto& router : routers_) router->wall.Advance(time);
}

}  // namespace evenkeel::tests
