// The columns of moves, and their bars.
#include "cli/moves_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bson/number.h"
#include "cli/text_table.h"

namespace evenkeel::cli {
namespace {

constexpr int64_t kBarWidth = 20;

int64_t Amount(bson::View row, std::string_view field) {
  const bson::Value value = row[field];
  return value.IsNumber() ? bson::ToInt64Truncated(value) : 0;
}

// "[#########-----------]  45 %", of the bytes that are to be copied; empty while nobody knows
// them.
std::string Bar(bson::View row) {
  const int64_t total = Amount(row, "bytesTotal");
  if (total <= 0) return "";
  const double part =
      std::min(static_cast<double>(Amount(row, "bytes")) / static_cast<double>(total), 1.0);
  const auto full = static_cast<size_t>(part * kBarWidth);
  return fmt::format("[{}{}] {:3.0f} %", std::string(full, '#'), std::string(kBarWidth - full, '-'),
                     part * 100);
}

std::string Rate(bson::View row) {
  return Amount(row, "bytesPerSecond") > 0 ? Bytes(row, "bytesPerSecond") + "/s" : "";
}

}  // namespace

std::string MovesTable(bson::View moves) {
  const std::vector<bson::View> rows = Rows(moves, "moves");
  if (rows.empty()) return "no moves\n";
  TextTable table(
      {"COLLECTION", "MOVE", "FROM", "TO", "PHASE", "DONE", "BYTES", "OF", "RATE", "LAG", "LEFT"});
  for (const bson::View row : rows) {
    table.Add({Text(row, "ns"), Text(row, "kind"), Text(row, "from"), Text(row, "to"),
               Text(row, "phase"), Bar(row), Bytes(row, "bytes"), Bytes(row, "bytesTotal"),
               Rate(row), Number(row, "lag"), Duration(row, "secondsLeft")});
  }
  return table.Text(6) + ProblemLines(moves);
}

}  // namespace evenkeel::cli
