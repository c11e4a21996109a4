// What the command line says about the resources of queries.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "query/settings.h"

namespace evenkeel::cli {

struct QueryOptions {
  std::string spill_path;               // empty: the role's own choice
  std::vector<std::string> parameters;  // "name=value", names as for setParameter
};

// The settings of a process; opens and clears its folder for spilling, `default_folder` unless the
// options name one. Errors: InvalidOptions naming the parameter, OperationFailed naming the folder.
absl::StatusOr<std::shared_ptr<query::Settings>> OpenQuerySettings(const QueryOptions& options,
                                                                   std::string default_folder);

}  // namespace evenkeel::cli
