// Implements shards and routers that run step by step.
#include "tests/enumeration/nodes.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "base/bson/builder.h"
#include "base/check.h"
#include "router/transaction/commit.h"
#include "tests/lib/fake_checkpoint_store.h"
#include "wire/protocol/message.h"
#include "wire/protocol/request.h"

namespace evenkeel::tests {
namespace {

// Time is advanced by hand.
constexpr int64_t kNothingIsSlow = int64_t{1} << 40;

shard::Awaitable<void> Answer(shard::ShardService& service, wire::Message request,
                              std::function<void(bson::Document)> done) {
  bson::Document reply = co_await service.Handle(std::move(request), absl::InfiniteFuture(), {});
  done(std::move(reply));
}

router::Awaitable<void> Answer(router::Router& router, std::shared_ptr<wire::ClientState> client,
                               wire::Request request, std::function<void(bson::Document)> done) {
  wire::Reply reply = co_await router.Handle(std::move(client), std::move(request));
  done(std::move(reply.body));
}

}  // namespace

size_t Node::Poll() {
  io_.restart();
  size_t ran = 0;
  while (ran < kAtOnceMax && io_.poll_one() > 0) ++ran;
  return ran;
}

ShardNode::ShardNode(absl::Time start, Entries entries) : Node(start), log(std::move(entries)) {
  storage::StoreOptions options;
  options.checkpoint_store = std::make_shared<FakeCheckpointStore>();
  options.reserve_bytes = 0;
  store_ =
      std::make_unique<storage::ShardStoreImpl>(options, &log, &clock, options.checkpoint_store);
  const absl::Status opened = store_->StartStepped();
  EVENKEEL_CHECK(opened.ok());
  service_ = std::make_unique<shard::ShardService>(store_.get(), &clock, &wall, io().get_executor(),
                                                   io().get_executor());
  service_->SetSlowMs(kNothingIsSlow);
  bool started = false;
  boost::asio::co_spawn(
      io(),
      [this, &started]() -> shard::Awaitable<void> {
        const absl::Status status = co_await service_->Start();
        EVENKEEL_CHECK(status.ok());
        started = true;
      },
      boost::asio::detached);
  while (!started) {
    Settle();
    log.Sync();
  }
  // The bound of its clock is in the log before it serves.
  store_->WhenReadable(clock.Now(), [](const absl::Status&) {});
  Settle();
  log.Sync();
  Settle();
}

ShardNode::~ShardNode() {
  log.Sync();
  Settle();
  // Who waits for a prepared transaction goes on.
  for (const auto& transaction : service_->state()->prepared) {
    constexpr uint8_t kUuid = 4;
    bson::Builder end;
    end.Append("_applyDecision", 1).OpenDocument("lsid");
    end.AppendBinary("id", kUuid, transaction->id().lsid).Close();
    end.Append("txnNumber", transaction->id().number.value);
    Begin(wire::MakeMessage(end.Finish()), [](bson::Document) {});
    Settle();
    log.Sync();
    Settle();
  }
  store_.reset();
  while (Poll() > 0) {
  }
}

void ShardNode::Begin(wire::Message request, std::function<void(bson::Document)> done) {
  boost::asio::co_spawn(io(), Answer(*service_, std::move(request), std::move(done)),
                        boost::asio::detached);
}

void ShardNode::Settle() {
  for (size_t ran = 1; ran > 0 && ran < kAtOnceMax;) {
    ran = Poll();
    ran += store_->RunQueued();
  }
}

RouterNode::RouterNode(absl::Time start, absl::Duration ahead,
                       std::vector<router::ShardMember> shards)
    : Node(start, ahead) {
  router::RouterOptions options;
  options.test_commands = true;
  options.slow_ms = kNothingIsSlow;
  router_ =
      std::make_unique<router::Router>(std::move(options), std::move(shards), router::OpenChannel(),
                                       &clock, &wall, io().get_executor(), io().get_executor());
}

void RouterNode::Begin(bson::Document command, std::function<void(bson::Document)> done) {
  auto request = wire::ParseRequest(wire::MakeMessage(std::move(command)), wall.Now());
  EVENKEEL_CHECK(request.ok());
  boost::asio::co_spawn(io(), Answer(*router_, client_, *std::move(request), std::move(done)),
                        boost::asio::detached);
}

void RouterNode::BeginResolving() {
  boost::asio::co_spawn(io(), router::ResolveTransactions(router_->state(), absl::Seconds(10), {}),
                        boost::asio::detached);
}

}  // namespace evenkeel::tests
