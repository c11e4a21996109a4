// Counters of the router, shown by serverStatus. Any thread; relaxed, they only count.
#pragma once

#include <atomic>
#include <cstdint>

namespace evenkeel::router {

struct Metrics {
  // Documents inserted, statements and requests by kind, as MongoDB's opcounters.
  std::atomic<uint64_t> inserts{0}, queries{0}, updates{0}, deletes{0}, get_mores{0}, commands{0};
  std::atomic<uint64_t> requests{0}, errors{0};
  std::atomic<int64_t> running{0};  // commands under way
  std::atomic<int64_t> balancer_rounds{0};
  std::atomic<bool> in_balancer_round{false};
  // Of clients. The open ones are those that have neither committed nor aborted.
  std::atomic<uint64_t> transactions_started{0}, transactions_committed{0}, transactions_aborted{0};
};

}  // namespace evenkeel::router
