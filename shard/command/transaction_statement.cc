// Statements of transactions.
#include "shard/command/transaction_statement.h"

#include <absl/time/clock.h>

#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "shard/command/keyed_locks.h"
#include "wire/protocol/foreign_collections.h"

namespace evenkeel::shard {
namespace {

// Keys and values that one transaction may change on one shard: with what they need beside them
// they fit into one batch of the log.
constexpr size_t kTransactionBytesMax = size_t{40} << 20;

// Waits until the state at `timestamp` is complete and can be read.
Awaitable<absl::Status> WaitUntilReadable(ShardService& service, Timestamp timestamp) {
  const auto done = std::make_shared<base::Event>();
  const auto status = std::make_shared<absl::Status>();
  service.store().WhenReadable(timestamp, [done, status](absl::Status result) {
    *status = std::move(result);
    done->Set();
  });
  (void)co_await done->Wait();
  co_return *status;
}

TransactionKind KindOf(bson::View statement) {
  if (bson::Truthy(statement["onlyReads"])) return TransactionKind::kSnapshot;
  return bson::Truthy(statement["records"]) ? TransactionKind::kStatement
                                            : TransactionKind::kClients;
}

// A snapshot that is given up for another one may be in use for so long.
constexpr absl::Duration kSnapshotEndMax = absl::Milliseconds(50);

Awaitable<absl::StatusOr<std::shared_ptr<Transaction>>> Open(CommandContext& context,
                                                             txn::TransactionId id,
                                                             Timestamp read_at,
                                                             TransactionKind kind) {
  ShardService& service = context.service;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await WaitUntilReadable(service, read_at));
  EVENKEEL_CO_ASSIGN_OR_RETURN(auto snapshot, service.store().OpenSnapshot(read_at));
  std::shared_ptr<Transaction> superseded;
  const absl::Time now = service.wall().Now();
  if (kind == TransactionKind::kSnapshot) {
    auto opened = service.transactions().BeginSnapshot(std::move(id), read_at, std::move(snapshot),
                                                       now, &superseded);
    if (superseded != nullptr)
      co_await service.Abort(std::move(superseded), absl::Now() + kSnapshotEndMax);
    co_return opened;
  }
  auto transaction = service.transactions().Begin(std::move(id), read_at, std::move(snapshot), kind,
                                                  now, &superseded);
  if (superseded != nullptr) co_await service.Abort(std::move(superseded));
  co_return transaction;
}

Awaitable<absl::StatusOr<std::shared_ptr<Transaction>>> OpenOrFind(CommandContext& context,
                                                                   bson::View statement) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(txn::TransactionId id, TransactionIdOf(statement));
  if (bson::Truthy(statement["start"])) {
    const bson::Value read_at = statement["readAt"];
    if (!read_at.Is(bson::Type::kTimestamp)) {
      co_return MakeError(ErrorCode::kInvalidOptions, "a transaction's readAt is missing");
    }
    co_return co_await Open(context, std::move(id), read_at.AsTimestamp(), KindOf(statement));
  }
  auto found = context.service.transactions().Find(id);
  if (found != nullptr) co_return found;
  if (KindOf(statement) == TransactionKind::kSnapshot) {
    co_return MakeError(ErrorCode::kSnapshotTooOld,
                        "the snapshot of the cursor was given up: it was not used for long, or too "
                        "many are open");
  }
  co_return txn::TransactionAborted(id.number);
}

// The snapshot may lie before the collection became what it is: its documents, ranges and index
// records of that time are not here.
//
// created  the transaction has created it itself: it was empty before
absl::Status CheckCollectionAtSnapshot(const CommandContext& context, CollectionId collection,
                                       CatalogVersion version, bool created) {
  const auto now = context.service.catalog()->Find(collection);
  // A version that is not the shard's is for the command itself to tell.
  if (now == nullptr || now->version != version) return absl::OkStatus();
  if (collection.value < catalog::kFirstUserId) return absl::OkStatus();
  EVENKEEL_ASSIGN_OR_RETURN(const storage::ReadSlice slice, context.Read());
  const auto row = slice.Get(storage::Table::kMeta, catalog::MetaCollectionKey(collection));
  if (row) {
    const auto then = bson::ToInt64Exact(bson::View(row->value.data())["version"]);
    if (then && CatalogVersion{static_cast<uint64_t>(*then)} == version) return absl::OkStatus();
  }
  if (!row && created) return absl::OkStatus();
  return Error(ErrorCode::kSnapshotUnavailable,
               "Unable to read from a snapshot due to pending collection catalog changes; please "
               "retry the operation. Collection '{}' has changed after the snapshot.",
               now->ns);
}

// Of all collections that a statement names.
absl::Status CheckCollectionsAtSnapshot(const CommandContext& context, bool created) {
  if (context.body()[wire::kShardField].missing()) return absl::OkStatus();
  EVENKEEL_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                            wire::ParseEnvelope(context.body()));
  EVENKEEL_RETURN_IF_ERROR(
      CheckCollectionAtSnapshot(context, envelope.collection, envelope.version, created));
  EVENKEEL_ASSIGN_OR_RETURN(const auto foreign, wire::ParseForeign(context.body()));
  for (const wire::ForeignCollection& one : foreign) {
    // One that was not there is empty.
    EVENKEEL_RETURN_IF_ERROR(CheckCollectionAtSnapshot(context, one.collection, one.version, true));
  }
  return absl::OkStatus();
}

absl::Status CheckSize(ShardService& service, Transaction& transaction, size_t bytes_before) {
  const size_t all = service.transactions().CountLayer(transaction);
  if (transaction.done.effects.bytes() <= bytes_before) return absl::OkStatus();
  if (const size_t bytes = transaction.done.effects.live_bytes(); bytes > kTransactionBytesMax) {
    return Error(ErrorCode::kTransactionTooLarge,
                 "the transaction has written {} bytes to this shard, more than {}", bytes,
                 kTransactionBytesMax);
  }
  if (all <= TransactionTable::kLayerBytesMax) return absl::OkStatus();
  return Error(ErrorCode::kWriteConflict,
               "the open transactions of this shard hold {} bytes, more than fit into memory", all);
}

}  // namespace

absl::StatusOr<txn::TransactionId> TransactionIdOf(bson::View fields) {
  const bson::Value number = fields["txnNumber"], lsid = fields["lsid"];
  const bson::Value id = lsid.Is(bson::Type::kObject) ? lsid.AsDocument()["id"] : bson::Value();
  if (!number.Is(bson::Type::kInt64) || !id.Is(bson::Type::kBinary) ||
      id.AsBinary().bytes.size() != 16) {
    return MakeError(ErrorCode::kInvalidOptions, "a transaction needs lsid and txnNumber");
  }
  return txn::TransactionId{std::string(id.AsBinary().bytes), TxnNumber{number.AsInt64()}};
}

Awaitable<CommandResult> RunStatement(CommandContext& context, bson::Value statement,
                                      CommandHandler handler,
                                      Awaitable<CommandResult> (*run)(CommandHandler,
                                                                      CommandContext&)) {
  ShardService& service = context.service;
  if (!statement.Is(bson::Type::kObject)) {
    co_return Error(ErrorCode::kInvalidOptions, "the field {} is not an object", kStatementField);
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(context.transaction,
                               co_await OpenOrFind(context, statement.AsDocument()));
  Transaction& transaction = *context.transaction;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const KeyedLocks::Guard turn,
                               co_await service.transaction_locks().Lock(
                                   transaction.lock, context.deadline, context.cancelled));
  if (transaction.state != TransactionState::kActive) {
    co_return txn::TransactionAborted(transaction.id().number);
  }
  service.transactions().Use(transaction, service.wall().Now());
  context.records_statements = bson::Truthy(statement.AsDocument()["records"]);
  const bool created = bson::Truthy(statement.AsDocument()["created"]);
  EVENKEEL_CO_RETURN_IF_ERROR(CheckCollectionsAtSnapshot(context, created));
  const size_t bytes_before = transaction.done.effects.bytes();
  CommandResult result = co_await run(handler, context);
  EVENKEEL_CO_RETURN_IF_ERROR(CheckSize(service, transaction, bytes_before));
  if (!result.ok() || !transaction.wrote()) co_return result;
  bson::Builder reply(result->view());
  reply.OpenDocument(kStatementReplyField).Append("wrote", true);
  if (!transaction.leaving.empty()) {
    reply.OpenArray("leaving");
    bson::ArrayAppender leaving(reply);
    for (const auto& [ns, document] : transaction.leaving) {
      reply.OpenDocument(leaving.NextKey()).Append("ns", ns).Append("d", document).Close();
    }
    reply.Close();
    transaction.leaving.clear();
  }
  co_return reply.Close().Finish();
}

}  // namespace evenkeel::shard
