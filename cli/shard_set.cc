// Opens and closes shards.
#include "cli/shard_set.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "txn/retry_record.h"

namespace evenkeel::cli {
namespace {

constexpr std::string_view kShardFolder = "shard";
constexpr absl::Duration kUpkeepPeriod = absl::Minutes(1);
constexpr absl::Duration kTransactionPeriod = absl::Seconds(1);

// Rows of retryable writes that nobody can ask for any more.
bool IsDeadRow(storage::Table table, std::string_view value) {
  if (table != storage::Table::kSessions) return false;
  const auto record = txn::DecodeRetryRecord(value);
  return record.ok() && txn::IsExpired(*record, base::WallClock::System()->Now());
}

}  // namespace

absl::Status MakeDataFolder(const std::string& data) {
  std::error_code error;
  std::filesystem::create_directories(data, error);
  if (!error) return absl::OkStatus();
  return Error(ErrorCode::kOperationFailed, "cannot make the folder {}: {}", data, error.message());
}

std::vector<ShardId> ShardsInData(const std::string& data) {
  std::vector<ShardId> shards;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(data, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kShardFolder)) continue;
    uint32_t number = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + kShardFolder.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end) shards.push_back(ShardId{number});
  }
  std::sort(shards.begin(), shards.end());
  return shards;
}

ShardSet::~ShardSet() = default;

absl::Status ShardSet::OpenStores(const ShardSetOptions& options) {
  storage::SharedLogOptions log_options;
  log_options.folder = options.data + "/log";
  EVENKEEL_ASSIGN_OR_RETURN(log_, storage::SharedLog::Open(std::move(log_options), options.shards));
  for (const ShardId id : options.shards) {
    storage::StoreOptions store_options;
    store_options.folder =
        options.data + "/" + std::string(kShardFolder) + std::to_string(id.value);
    store_options.map_bytes = options.map_size_gb << 30;
    store_options.is_dead = [](storage::Table table, std::string_view, std::string_view value) {
      return IsDeadRow(table, value);
    };
    auto store = storage::ShardStore::Open(store_options, log_->shard(id), &process_->clock());
    if (!store.ok()) return Annotate(store.status(), "shard" + std::to_string(id.value));
    stores_.emplace(id, *std::move(store));
  }
  return absl::OkStatus();
}

absl::Status ShardSet::StartServices(const ShardSetOptions& options) {
  for (const auto& [id, store] : stores_) {
    auto service = std::make_unique<shard::ShardService>(
        store.get(), &process_->clock(), process_->wall(), process_->network(), process_->pool());
    service->SetQuerySettings(options.query_settings);
    service->SetSlowMs(options.slow_ms);
    shard::ShardService& started = *services_.emplace(id, std::move(service)).first->second;
    EVENKEEL_RETURN_IF_ERROR(process_->Run(started.Start()));
  }
  upkeep_.Spawn(
      [this](base::CancellationToken cancelled) { return KeepHouse(std::move(cancelled)); });
  upkeep_.Spawn([this](base::CancellationToken cancelled) {
    return EndOldTransactions(std::move(cancelled));
  });
  return absl::OkStatus();
}

boost::asio::awaitable<void> ShardSet::EndOldTransactions(base::CancellationToken cancelled) {
  while ((co_await base::Sleep(kTransactionPeriod, cancelled)).ok()) {
    for (const auto& [id, service] : services_) {
      co_await service->EndOldTransactions();
    }
  }
}

boost::asio::awaitable<void> ShardSet::KeepHouse(base::CancellationToken cancelled) {
  while ((co_await base::Sleep(kUpkeepPeriod, cancelled)).ok()) {
    for (const auto& [id, service] : services_) {
      const absl::Status status = co_await service->RunUpkeep(cancelled);
      if (!status.ok() && !cancelled.IsCancelled()) {
        base::LogWarning("shard", "upkeep failed", {{"error", status}});
      }
    }
  }
}

absl::StatusOr<std::unique_ptr<ShardSet>> ShardSet::Open(const ShardSetOptions& options,
                                                         Process* process) {
  auto set = std::unique_ptr<ShardSet>(new ShardSet(process));
  absl::Status status = set->OpenStores(options);
  if (status.ok()) status = set->StartServices(options);
  if (status.ok()) return set;
  (void)set->Close();  // what has started ends in order
  return status;
}

absl::Status ShardSet::Close() {
  process_->Run(upkeep_.Stop());
  absl::Status status;
  for (const auto& [id, store] : stores_) status.Update(store->Close());
  if (log_) status.Update(log_->Close());
  return status;
}

}  // namespace evenkeel::cli
