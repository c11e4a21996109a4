// The shards whose data are in one folder: their common log, a store and a service for each.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/wait.h"
#include "cli/process.h"
#include "query/settings.h"
#include "shard/command/service.h"
#include "storage/log/shared_log.h"
#include "storage/store.h"

namespace evenkeel::cli {

struct ShardSetOptions {
  std::string data;
  std::vector<ShardId> shards;
  int64_t slow_ms = 100;        // commands that take longer are logged
  uint64_t map_size_gb = 1024;  // address space of each shard's file
  std::shared_ptr<query::Settings> query_settings;
};

// Makes the folder if it is missing. Errors: OperationFailed naming it.
absl::Status MakeDataFolder(const std::string& data);
// The shards that have data in the folder.
std::vector<ShardId> ShardsInData(const std::string& data);

class ShardSet {
 public:
  // Opens the data and recovers. `process` outlives the set. Errors: what keeps it from starting,
  // naming the path.
  static absl::StatusOr<std::unique_ptr<ShardSet>> Open(const ShardSetOptions& options,
                                                        Process* process);
  ~ShardSet();

  // `id` is one of the options' shards.
  shard::ShardService* service(ShardId id) { return services_.at(id).get(); }
  // Writes checkpoints and closes; nothing may run any more.
  absl::Status Close();

 private:
  explicit ShardSet(Process* process) : process_(process), upkeep_(process->network()) {}
  absl::Status OpenStores(const ShardSetOptions& options);
  absl::Status StartServices(const ShardSetOptions& options);
  // Ends idle cursors and removes expired rows now and then.
  boost::asio::awaitable<void> KeepHouse(base::CancellationToken cancelled);
  boost::asio::awaitable<void> EndOldTransactions(base::CancellationToken cancelled);

  Process* const process_;
  std::unique_ptr<storage::SharedLog> log_;
  std::map<ShardId, std::unique_ptr<storage::ShardStore>> stores_;
  std::map<ShardId, std::unique_ptr<shard::ShardService>> services_;
  base::TaskGroup upkeep_;
};

}  // namespace evenkeel::cli
