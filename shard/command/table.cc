// The commands of a shard by name, sorted.
#include <algorithm>
#include <array>
#include <string_view>

#include "shard/command/apply_catalog.h"
#include "shard/command/build_index.h"
#include "shard/command/catalog_commands.h"
#include "shard/command/changes.h"
#include "shard/command/collection_stats.h"
#include "shard/command/command.h"
#include "shard/command/copy.h"
#include "shard/command/count.h"
#include "shard/command/cursor_commands.h"
#include "shard/command/explain.h"
#include "shard/command/fail_points.h"
#include "shard/command/find_and_modify.h"
#include "shard/command/insert.h"
#include "shard/command/keyless.h"
#include "shard/command/list_catalog.h"
#include "shard/command/multi_writes.h"
#include "shard/command/orphans.h"
#include "shard/command/transaction_commands.h"
#include "shard/command/update.h"

namespace evenkeel::shard {
namespace {

struct Row {
  std::string_view name;
  CommandHandler handler;
};

constexpr std::array kRows = {
    Row{"_abortTransaction", AbortTransactionCommand},
    Row{"_applyCatalog", ApplyCatalogCommand},
    Row{"_applyChanges", ApplyChangesCommand},
    Row{"_applyDecision", ApplyDecisionCommand},
    Row{"_arrivals", ArrivalsCommand},
    Row{"_buildIndex", BuildIndexCommand},
    Row{"_changes", ChangesCommand},
    Row{"_checkClashes", CheckClashesCommand},
    Row{"_choose", ChooseCommand},
    Row{"_collStats", CollStatsCommand},
    Row{"_commitCatalog", CommitCatalogCommand},
    Row{"_commitTransaction", CommitTransactionCommand},
    Row{"_commitUnderWay", CommitUnderWayCommand},
    Row{"_copyIn", CopyInCommand},
    Row{"_copyOut", CopyOutCommand},
    Row{"_copySessions", CopySessionsCommand},
    Row{"_decisionOf", DecisionOfCommand},
    Row{"_findRecord", FindRecordCommand},
    Row{"_forgetChanges", ForgetChangesCommand},
    Row{"_forgetDecision", ForgetDecisionCommand},
    Row{"_holdMultiWrites", HoldMultiWritesCommand},
    Row{"_initShard", InitShardCommand},
    Row{"_listCatalog", ListCatalogCommand},
    Row{"_listPrepared", ListPreparedCommand},
    Row{"_noteLeaving", NoteLeavingCommand},
    Row{"_prepareTransaction", PrepareTransactionCommand},
    Row{"_removeOrphans", RemoveOrphansCommand},
    Row{"_setFailPoint", SetFailPointCommand},
    Row{"_shardStats", ShardStatsCommand},
    Row{"_touch", TouchCommand},
    Row{"_waitDurable", WaitDurableCommand},
    Row{"aggregate", AggregateCommand},
    Row{"count", CountCommand},
    Row{"delete", DeleteCommand},
    Row{"distinct", DistinctCommand},
    Row{"explain", ExplainCommand},
    Row{"find", FindCommand},
    Row{"findAndModify", FindAndModifyCommand},
    Row{"findandmodify", FindAndModifyCommand},
    Row{"getMore", GetMoreCommand},
    Row{"insert", InsertCommand},
    Row{"killCursors", KillCursorsCommand},
    Row{"update", UpdateCommand},
    Row{"validate", ValidateCommand},
};

constexpr auto kByName = [](const Row& a, const Row& b) { return a.name < b.name; };
static_assert(std::is_sorted(kRows.begin(), kRows.end(), kByName));

}  // namespace

CommandHandler FindHandler(std::string_view name) {
  const auto row = std::lower_bound(kRows.begin(), kRows.end(), Row{name, nullptr}, kByName);
  return row != kRows.end() && row->name == name ? row->handler : nullptr;
}

}  // namespace evenkeel::shard
