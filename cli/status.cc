// Shows the reply to clusterStatus.
#include "cli/status.h"

#include <iostream>
#include <string>

#include "base/bson/json.h"
#include "base/status.h"
#include "cli/status_table.h"

namespace evenkeel::cli {

int ShowStatus(const StatusOptions& options) {
  const auto status = AskRouter(options.router, "clusterStatus");
  if (!status.ok()) {
    std::cerr << "evenkeel: " << MessageOf(status.status()) << "\n";
    return kCannotAsk;
  }
  std::cout << (options.json ? bson::ToJson(*status) + "\n" : StatusTables(*status));
  const bson::Value state = (*status)["state"];
  return state.Is(bson::Type::kString) && state.AsString() == "ok" ? kWell : kDegraded;
}

}  // namespace evenkeel::cli
