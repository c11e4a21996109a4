// Dispatches the commands of one shard.
#include "shard/command/service.h"

#include <exception>
#include <utility>

#include "base/async/event_loop.h"
#include "base/bson/builder.h"
#include "base/status.h"
#include "shard/command/command.h"
#include "shard/command/cursor_table.h"
#include "shard/command/keyed_locks.h"
#include "shard/command/write_task.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::shard {
namespace {

constexpr wire::ReplyContext kToPeer{.to_peer = true};

// Publishes the catalog that was loaded from the store.
class PublishTask final : public WriteTask {
 public:
  explicit PublishTask(std::shared_ptr<const catalog::ShardCatalog> catalog)
      : catalog_(std::move(catalog)) {}
  void Execute(storage::WriteContext& context) override { context.SetState(catalog_); }
  size_t SizeBytes() const override { return 64; }

 private:
  const std::shared_ptr<const catalog::ShardCatalog> catalog_;
};

}  // namespace

ShardService::ShardService(storage::ShardStore* store, base::HybridClock* clock,
                           const base::WallClock* wall, boost::asio::any_io_executor executor,
                           boost::asio::any_io_executor pool)
    : store_(store),
      clock_(clock),
      wall_(wall),
      executor_(std::move(executor)),
      pool_(std::move(pool)),
      cursors_(std::make_unique<CursorTable>()),
      upsert_locks_(std::make_unique<KeyedLocks>()),
      write_budget_(std::make_shared<base::ByteBudget>(kWriteBudgetBytes)) {}

ShardService::~ShardService() = default;

Awaitable<absl::Status> ShardService::Start() {
  std::shared_ptr<const catalog::ShardCatalog> catalog;
  {
    const storage::ReadSlice slice = store_->Read();
    EVENKEEL_CO_ASSIGN_OR_RETURN(catalog, catalog::ShardCatalog::Load(slice));
  }
  co_return co_await SubmitNowAndWait(*this, std::make_shared<PublishTask>(std::move(catalog)));
}

namespace {

// An exception of a library or of allocation becomes an error here, where the command ends.
Awaitable<CommandResult> Run(CommandHandler handler, CommandContext& context) {
  std::exception_ptr thrown;
  try {
    co_return co_await handler(context);
  } catch (...) {
    thrown = std::current_exception();
  }
  co_return Error(ErrorCode::kInternalError, "the command has failed: {}", base::What(thrown));
}

}  // namespace

Awaitable<bson::Document> ShardService::Handle(wire::Message request, absl::Time deadline,
                                               base::CancellationToken cancelled) {
  CommandContext context{*this, request, deadline, std::move(cancelled)};
  const std::string_view name = request.body.Front().key;
  const CommandHandler handler = FindHandler(name);
  if (handler == nullptr) {
    co_return wire::ErrorReply(
        Error(ErrorCode::kCommandNotFound, "a shard has no command '{}'", name), {});
  }
  CommandResult result = co_await Run(handler, context);
  if (!result.ok()) co_return wire::ErrorReply(result.status(), kToPeer);
  co_return *std::move(result);
}

}  // namespace evenkeel::shard
