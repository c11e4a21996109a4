// Pipelines that stages run over other collections.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/status.h"
#include "query/context.h"

namespace evenkeel::query::stage {

// Checks a pipeline that will be parsed again where it runs.
//
// variables  names that `let` will define; their values are not known yet.
// writes     the error for a stage that writes: 51047 within $lookup, 31441 within $unionWith.
// Errors     those of Pipeline::Parse, 73 for a stage that belongs to a whole database, 232 past 20
//            levels.
absl::Status CheckSubPipeline(bson::View stages, const std::vector<std::string_view>& variables,
                              ErrorCode writes, const QueryContext& context);

// True when a checked pipeline can run wherever the documents of its collection are: it reads no
// others and makes none.
bool ReadsOnlyItsInput(bson::View stages);

// "db.collection" for a collection of the context's database.
std::string SiblingNamespace(const QueryContext& context, std::string_view collection);

}  // namespace evenkeel::query::stage
