// The columns of routers and shards.
#include "cli/status_table.h"

#include <fmt/format.h>

#include "base/bson/number.h"
#include "cli/text_table.h"

namespace evenkeel::cli {
namespace {

std::string Share(bson::View row) {
  const bson::Value value = row["share"];
  return value.Is(bson::Type::kDouble) ? fmt::format("{:.1f} %", value.AsDouble() * 100) : "";
}

// Of a shard: "up", "up, draining".
std::string State(bson::View row) {
  return Text(row, "state") + (bson::Truthy(row["draining"]) ? ", draining" : "");
}

}  // namespace

std::string StatusTables(bson::View status) {
  TextTable routers({"ROUTER", "STATE", "VERSION", "UPTIME"});
  for (const bson::View row : Rows(status, "routers")) {
    routers.Add(
        {Text(row, "host"), Text(row, "state"), Text(row, "version"), Duration(row, "uptimeSecs")});
  }
  TextTable shards({"SHARD", "ADDRESS", "STATE", "VERSION", "UPTIME", "RANGES", "SHARE",
                    "DOCUMENTS", "DATA", "INDEXES", "FILE", "LAG"});
  for (const bson::View row : Rows(status, "shards")) {
    shards.Add({Text(row, "_id"), Text(row, "host"), State(row), Text(row, "version"),
                Duration(row, "uptimeSecs"), Number(row, "ranges"), Share(row),
                Number(row, "documents"), Bytes(row, "dataBytes"), Bytes(row, "indexBytes"),
                Bytes(row, "fileBytes"), Bytes(row, "lagBytes")});
  }
  return routers.Text(3) + "\n" + shards.Text(4) + "\n" + Text(status, "state") + "\n" +
         ProblemLines(status);
}

}  // namespace evenkeel::cli
