// One cursor per read, advanced batch by batch, several at once.
#include "router/read/foreign.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/status.h"
#include "router/read/aggregate.h"
#include "router/router.h"

namespace evenkeel::router::read {
namespace {

// Reads of one cursor under way at the same time. Statements of a transaction come one at a time.
constexpr size_t kReadsAtOnce = 8;

class RoutedReads final : public ForeignServer {
 public:
  RoutedReads(RouterState& router, const wire::CommandTimes& times,
              std::shared_ptr<query::ForeignReads> reads, bson::Document collation, int depth)
      : router_(router),
        times_(times),
        reads_(std::move(reads)),
        collation_(collation.empty() ? Simple() : std::move(collation)),
        depth_(depth) {}

  Awaitable<absl::StatusOr<bool>> Serve(CallScope scope) override {
    for (const query::ForeignReadPtr& read : reads_->TakeDropped()) {
      if (const auto at = open_.find(read.get()); at != open_.end()) {
        co_await at->second.cursor->Close();
        open_.erase(read.get());
      }
    }
    const std::vector<query::ForeignReadPtr> wanted = reads_->TakeWanted();
    const size_t at_once = scope.transaction ? 1 : kReadsAtOnce;
    for (size_t begin = 0; begin < wanted.size(); begin += at_once) {
      const size_t end = std::min(wanted.size(), begin + at_once);
      absl::Status failure;
      std::vector<std::function<Awaitable<void>()>> tasks;
      for (size_t i = begin; i < end; ++i) {
        tasks.push_back([this, &read = wanted[i], &scope, &failure] {
          return AdvanceTo(read, scope, failure);
        });
      }
      co_await base::WhenAll(std::move(tasks));
      EVENKEEL_CO_RETURN_IF_ERROR(failure);
    }
    co_return !wanted.empty();
  }
  Awaitable<void> Close() override {
    for (auto& [read, open] : open_) co_await open.cursor->Close();
    open_.clear();
  }

 private:
  // Without it a read would take the other collection's own.
  static bson::Document Simple() {
    bson::Builder simple;
    return simple.Append("locale", "simple").Finish();
  }
  struct Open {
    query::ForeignReadPtr read;
    std::unique_ptr<ClientCursor> cursor;
  };

  Awaitable<absl::StatusOr<std::unique_ptr<ClientCursor>>> Begin(query::ForeignRead& read,
                                                                 CallScope scope) {
    // No client's command: without session and options of its own.
    wire::Request request;
    wire::ClientState client;
    const std::string database = read.ns.substr(0, read.ns.find('.'));
    request.database = database;
    request.deadline = scope.deadline;
    CommandContext context{router_, request, client, scope.cancelled, times_};
    context.transaction = scope.transaction;
    context.trace = scope.trace;
    AggregateCall call;
    call.ns = read.ns;
    call.ns_shown = read.ns;
    call.pipeline = read.pipeline;
    call.let = read.let;
    call.collation = collation_;
    call.by_id = read.by_id;
    call.depth = depth_ + 1;
    co_return co_await OpenAggregate(context, std::move(call));
  }

  // Advances a read; keeps the first failure of several.
  Awaitable<void> AdvanceTo(query::ForeignReadPtr read, CallScope scope, absl::Status& failure) {
    absl::Status status = co_await Advance(std::move(read), std::move(scope));
    if (failure.ok()) failure = std::move(status);
  }

  Awaitable<absl::Status> Advance(query::ForeignReadPtr read, CallScope scope) {
    auto at = open_.find(read.get());
    if (at == open_.end()) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(auto cursor, co_await Begin(*read, scope));
      at = open_.emplace(read.get(), Open{read, std::move(cursor)}).first;
    }
    ClientCursor& cursor = *at->second.cursor;
    const auto reply = co_await cursor.Next({}, scope);
    if (reply.ok()) {
      for (const auto& [key, row] :
           reply->view()["cursor"].AsDocument()["nextBatch"].AsDocument()) {
        read->rows.emplace_back(row.AsDocument());
      }
    }
    if (reply.ok() && !cursor.exhausted()) co_return absl::OkStatus();
    co_await cursor.Close();
    open_.erase(read.get());
    read->ended = true;
    co_return reply.status();
  }

  RouterState& router_;
  const wire::CommandTimes times_;
  std::shared_ptr<query::ForeignReads> reads_;
  const bson::Document collation_;
  const int depth_;
  std::map<const query::ForeignRead*, Open> open_;
};

}  // namespace

std::unique_ptr<ForeignServer> MakeForeignServer(RouterState& router,
                                                 const wire::CommandTimes& times,
                                                 std::shared_ptr<query::ForeignReads> reads,
                                                 bson::Document collation, int depth) {
  return std::make_unique<RoutedReads>(router, times, std::move(reads), std::move(collation),
                                       depth);
}

}  // namespace evenkeel::router::read
