// Dispatches the commands of one shard.
#include "shard/command/service.h"

#include <exception>
#include <utility>

#include "base/async/event_loop.h"
#include "base/bson/builder.h"
#include "base/fail_point.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "shard/command/command.h"
#include "shard/command/cursor_table.h"
#include "shard/command/figures.h"
#include "shard/command/keyed_locks.h"
#include "shard/command/multi_writes.h"
#include "shard/command/orphans.h"
#include "shard/command/transaction_commands.h"
#include "shard/command/transaction_statement.h"
#include "shard/command/versions_in_use.h"
#include "shard/command/write_task.h"
#include "wire/protocol/error_reply.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::shard {
namespace {

constexpr wire::ReplyContext kToPeer{.to_peer = true};

// Publishes what was loaded from the store.
class PublishTask final : public WriteTask {
 public:
  PublishTask(std::shared_ptr<const catalog::ShardCatalog> catalog, PreparedList prepared,
              Intents* intents)
      : catalog_(std::move(catalog)), prepared_(std::move(prepared)), intents_(intents) {}
  void Execute(storage::WriteContext& context) override {
    for (const auto& transaction : prepared_) intents_->TakeAgain(transaction);
    SetCatalog(context, catalog_);
    SetPrepared(context, prepared_);
  }
  size_t SizeBytes() const override { return 64; }

 private:
  const std::shared_ptr<const catalog::ShardCatalog> catalog_;
  const PreparedList prepared_;
  Intents* const intents_;
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
      open_reads_(std::make_shared<VersionsInUse>()),
      cursors_(std::make_unique<CursorTable>()),
      multi_writes_(std::make_unique<MultiWrites>()),
      upsert_locks_(std::make_unique<KeyedLocks>()),
      transactions_(std::make_unique<TransactionTable>()),
      transaction_locks_(std::make_unique<KeyedLocks>()),
      orphan_removal_(std::make_unique<OrphanRemoval>()),
      write_budget_(std::make_shared<base::ByteBudget>(kWriteBudgetBytes)) {}

ShardService::~ShardService() = default;

Awaitable<absl::Status> ShardService::Start() {
  std::shared_ptr<const catalog::ShardCatalog> catalog;
  PreparedList prepared;
  {
    const storage::ReadSlice slice = store_->Read();
    EVENKEEL_CO_ASSIGN_OR_RETURN(catalog, catalog::ShardCatalog::Load(slice));
    EVENKEEL_CO_ASSIGN_OR_RETURN(prepared, LoadPrepared(slice, *transactions_, wall_->Now()));
  }
  co_return co_await SubmitNowAndWait(
      *this, std::make_shared<PublishTask>(std::move(catalog), std::move(prepared),
                                           &transactions_->intents()));
}

namespace {

// The catalog's own collections never change.
bool IsOfUserCollection(bson::View command) {
  const bson::Value envelope = command[wire::kShardField];
  if (!envelope.Is(bson::Type::kObject)) return false;
  const bson::Value id = envelope.AsDocument()["c"];
  return id.Is(bson::Type::kInt64) && static_cast<uint64_t>(id.AsInt64()) >= catalog::kFirstUserId;
}

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
  context.begun = wall_->Now();
  const std::string_view name = request.body.Front().key;
  const CommandHandler handler = FindHandler(name);
  if (handler == nullptr) {
    co_return wire::ErrorReply(
        Error(ErrorCode::kCommandNotFound, "a shard has no command '{}'", name), {});
  }
  if (IsOfUserCollection(request.body) && EVENKEEL_FAIL_POINT(shard_stale_config)) {
    co_return wire::ErrorReply(MakeError(ErrorCode::kStaleConfig, "fail point shard_stale_config"),
                               kToPeer);
  }
  if (name.front() != '_' && IsOfUserCollection(request.body)) {
    served_.fetch_add(1, std::memory_order_relaxed);
  }
  CommandResult result;
  if (const bson::Value statement = request.body[kStatementField]; statement.missing()) {
    result = co_await Run(handler, context);
  } else {
    result = co_await RunStatement(context, statement, handler, Run);
  }
  bson::Document reply =
      result.ok() ? *std::move(result) : wire::ErrorReply(result.status(), kToPeer);
  LogIfSlow(context, reply, wall_->Now() - context.begun);
  co_return reply;
}

}  // namespace evenkeel::shard
