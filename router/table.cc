// Every supported command and its handler.
#include "router/table.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "router/ddl/ddl.h"
#include "router/fail/fail.h"
#include "router/local/local.h"
#include "router/members/members.h"
#include "router/read/read.h"
#include "router/stats/stats.h"
#include "router/transaction/commit.h"
#include "router/write/write.h"

namespace evenkeel::router {
namespace {

struct Row {
  std::string_view name;
  CommandHandler handler;
};

// Sorted by name.
constexpr Row kRows[] = {
    {"abortMoveCollection", ddl::AbortMoveCollectionCommand},
    {"abortReshardCollection", ddl::AbortReshardCollectionCommand},
    {"abortTransaction", AbortTransactionCommand},
    {"abortUnshardCollection", ddl::AbortUnshardCollectionCommand},
    {"addShard", members::AddShardCommand},
    {"aggregate", read::AggregateCommand},
    {"balancerCollectionStatus", local::BalancerCollectionStatusCommand},
    {"balancerStart", local::BalancerStartCommand},
    {"balancerStatus", local::BalancerStatusCommand},
    {"balancerStop", local::BalancerStopCommand},
    {"buildInfo", local::BuildInfoCommand},
    {"bulkWrite", write::BulkWriteCommand},
    {"checkMetadataConsistency", local::CheckMetadataConsistencyCommand},
    {"cleanupOrphaned", ddl::CleanupOrphanedCommand},
    {"clusterMoves", local::ClusterMovesCommand},
    {"clusterStatus", local::ClusterStatusCommand},
    {"collStats", stats::CollStatsCommand},
    {"commitReshardCollection", ddl::CommitReshardCollectionCommand},
    {"commitShardRemoval", members::CommitShardRemovalCommand},
    {"commitTransaction", CommitTransactionCommand},
    {"configureFailPoint", fail::ConfigureFailPointCommand},
    {"connectionStatus", local::ConnectionStatusCommand},
    {"count", read::CountCommand},
    {"create", ddl::CreateCommand},
    {"createIndexes", ddl::CreateIndexesCommand},
    {"currentOp", local::CurrentOpCommand},
    {"dataSize", stats::DataSizeCommand},
    {"dbStats", stats::DbStatsCommand},
    {"delete", write::DeleteCommand},
    {"distinct", read::DistinctCommand},
    {"drop", ddl::DropCommand},
    {"dropDatabase", ddl::DropDatabaseCommand},
    {"dropIndexes", ddl::DropIndexesCommand},
    {"enableSharding", ddl::EnableShardingCommand},
    {"endSessions", local::EndSessionsCommand},
    {"explain", read::ExplainCommand},
    {"find", read::FindCommand},
    {"findAndModify", write::FindAndModifyCommand},
    {"flushRouterConfig", local::FlushRouterConfigCommand},
    {"getCmdLineOpts", local::GetCmdLineOptsCommand},
    {"getLog", local::GetLogCommand},
    {"getMore", read::GetMoreCommand},
    {"getParameter", local::GetParameterCommand},
    {"getShardMap", local::GetShardMapCommand},
    {"hello", local::HelloCommand},
    {"hostInfo", local::HostInfoCommand},
    {"insert", write::InsertCommand},
    {"isMaster", local::HelloCommand},
    {"killAllSessions", local::KillAllSessionsCommand},
    {"killAllSessionsByPattern", local::KillAllSessionsByPatternCommand},
    {"killCursors", read::KillCursorsCommand},
    {"killOp", local::KillOpCommand},
    {"killSessions", local::KillSessionsCommand},
    {"listCollections", stats::ListCollectionsCommand},
    {"listCommands", local::ListCommandsCommand},
    {"listDatabases", stats::ListDatabasesCommand},
    {"listIndexes", stats::ListIndexesCommand},
    {"listShards", local::ListShardsCommand},
    {"moveCollection", ddl::MoveCollectionCommand},
    {"ping", local::PingCommand},
    {"profile", local::ProfileCommand},
    {"refreshSessions", local::RefreshSessionsCommand},
    {"removeShard", members::RemoveShardCommand},
    {"renameCollection", ddl::RenameCollectionCommand},
    {"reshardCollection", ddl::ReshardCollectionCommand},
    {"rotateCertificates", local::RotateCertificatesCommand},
    {"serverStatus", local::ServerStatusCommand},
    {"setParameter", local::SetParameterCommand},
    {"shardCollection", ddl::ShardCollectionCommand},
    {"shardDrainingStatus", members::ShardDrainingStatusCommand},
    {"startSession", local::StartSessionCommand},
    {"startShardDraining", members::StartShardDrainingCommand},
    {"stopShardDraining", members::StopShardDrainingCommand},
    {"unshardCollection", ddl::UnshardCollectionCommand},
    {"update", write::UpdateCommand},
    {"validate", stats::ValidateCommand},
    {"whatsmyuri", local::WhatsMyUriCommand},
};

constexpr std::string_view kNames[] = {
#define EVENKEEL_COMMAND(name, alias, routing, flags, help) #name,
#include "wire/protocol/commands.inc"
#undef EVENKEEL_COMMAND
};

constexpr uint32_t FlagsOf(size_t index) {
  using namespace wire;  // NOLINT: the rows name the flags without their namespace
  constexpr uint32_t kAll[] = {
#define EVENKEEL_COMMAND(name, alias, routing, flags, help) static_cast<uint32_t>(flags),
#include "wire/protocol/commands.inc"
#undef EVENKEEL_COMMAND
  };
  return kAll[index];
}

constexpr CommandHandler HandlerOf(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.handler;
  }
  return nullptr;
}

// By name: -fsanitize=undefined takes no comparison of a function's address for a constant.
constexpr bool IsServed(std::string_view name) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [name](const Row& row) { return row.name == name; });
}

constexpr auto MakeTable() {
  std::array<CommandHandler, std::size(kNames)> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = HandlerOf(kNames[i]);
  return table;
}

constexpr auto kTable = MakeTable();

constexpr bool EveryRowIsServed() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    const bool wanted = (FlagsOf(i) & (wire::kUnsupported | wire::kInternal)) == 0;
    if (wanted != IsServed(kNames[i])) return false;
  }
  return true;
}

static_assert(std::is_sorted(std::begin(kRows), std::end(kRows),
                             [](const Row& a, const Row& b) { return a.name < b.name; }));
static_assert(EveryRowIsServed(), "a supported command lacks its handler, or the reverse");
static_assert(std::count_if(std::begin(kNames), std::end(kNames), IsServed) == std::ssize(kRows),
              "a handler has no row in commands.inc");

}  // namespace

CommandHandler FindHandler(const wire::CommandFacts& facts) {
  return kTable[wire::CommandIndex(facts)];
}

}  // namespace evenkeel::router
