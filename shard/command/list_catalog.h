// _listCatalog: what this shard knows of the catalog, for the comparison with config.*.
// docs/internal_protocol.md
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

// {assignments: [ranges], collections: [{entry, documents, orphans}], more: bool}, in the order of
// the collections' ids, behind the id `after` if there is one; assignments come with the first page
// only. `orphans` counts documents in ranges of the collection that this shard does not own.
Awaitable<CommandResult> ListCatalogCommand(CommandContext& context);

}  // namespace evenkeel::shard
