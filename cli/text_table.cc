// Lays out tables.
#include "cli/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bson/number.h"

namespace evenkeel::cli {

std::string TextTable::Text(size_t left) const {
  std::vector<size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += i < left ? fmt::format("{:<{}}", row[i], widths[i])
                       : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string Text(bson::View row, std::string_view field) {
  const bson::Value value = row[field];
  return value.Is(bson::Type::kString) ? std::string(value.AsString()) : "";
}

std::string Number(bson::View row, std::string_view field) {
  const bson::Value value = row[field];
  return value.IsNumber() ? fmt::format("{}", bson::ToInt64Truncated(value)) : "";
}

std::string Bytes(bson::View row, std::string_view field) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  const bson::Value value = row[field];
  if (!value.IsNumber()) return "";
  auto amount = static_cast<double>(bson::ToInt64Truncated(value));
  size_t unit = 0;
  for (; amount >= 1000 && unit + 1 < kUnits.size(); ++unit) amount /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", amount)
                   : fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::string Duration(bson::View row, std::string_view field) {
  const bson::Value value = row[field];
  if (!value.IsNumber()) return "";
  const int64_t seconds = bson::ToInt64Truncated(value);
  if (seconds >= 86'400) return fmt::format("{}d {}h", seconds / 86'400, seconds % 86'400 / 3'600);
  if (seconds >= 3'600) return fmt::format("{}h {}m", seconds / 3'600, seconds % 3'600 / 60);
  return seconds >= 60 ? fmt::format("{}m {}s", seconds / 60, seconds % 60)
                       : fmt::format("{}s", seconds);
}

std::vector<bson::View> Rows(bson::View reply, std::string_view field) {
  std::vector<bson::View> rows;
  const bson::Value list = reply[field];
  if (!list.Is(bson::Type::kArray)) return rows;
  for (const auto& [key, row] : list.AsDocument()) {
    if (row.Is(bson::Type::kObject)) rows.push_back(row.AsDocument());
  }
  return rows;
}

std::string ProblemLines(bson::View reply) {
  std::string out;
  const bson::Value problems = reply["problems"];
  if (!problems.Is(bson::Type::kArray)) return out;
  for (const auto& [key, problem] : problems.AsDocument()) {
    if (problem.Is(bson::Type::kString)) out += "  " + std::string(problem.AsString()) + "\n";
  }
  return out;
}

}  // namespace evenkeel::cli
