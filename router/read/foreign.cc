// One cursor per read, advanced batch by batch.
#include "router/read/foreign.h"

#include <map>
#include <utility>

#include "base/status.h"
#include "router/read/aggregate.h"
#include "router/router.h"

namespace evenkeel::router::read {
namespace {

class RoutedReads final : public ForeignServer {
 public:
  RoutedReads(RouterState& router, std::shared_ptr<query::ForeignReads> reads,
              bson::Document collation, int depth)
      : router_(router),
        reads_(std::move(reads)),
        collation_(std::move(collation)),
        depth_(depth) {}

  Awaitable<absl::StatusOr<bool>> Serve(CallScope scope) override {
    const std::vector<query::ForeignReadPtr> wanted = reads_->TakeWanted();
    for (const query::ForeignReadPtr& read : wanted) {
      EVENKEEL_CO_RETURN_IF_ERROR(co_await Advance(read, scope));
    }
    co_return !wanted.empty();
  }
  Awaitable<void> Close() override {
    for (auto& [read, open] : open_) co_await open.cursor->Close();
    open_.clear();
  }

 private:
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
    CommandContext context{router_, request, client, scope.cancelled};
    context.transaction = scope.transaction;
    AggregateCall call;
    call.ns = read.ns;
    call.ns_shown = read.ns;
    call.pipeline = read.pipeline;
    call.let = read.let;
    call.collation = collation_;
    call.depth = depth_ + 1;
    co_return co_await OpenAggregate(context, std::move(call));
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
  std::shared_ptr<query::ForeignReads> reads_;
  const bson::Document collation_;
  const int depth_;
  std::map<const query::ForeignRead*, Open> open_;
};

}  // namespace

std::unique_ptr<ForeignServer> MakeForeignServer(RouterState& router,
                                                 std::shared_ptr<query::ForeignReads> reads,
                                                 bson::Document collation, int depth) {
  return std::make_unique<RoutedReads>(router, std::move(reads), std::move(collation), depth);
}

}  // namespace evenkeel::router::read
