// Tables of text, and the fields of replies as their cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bson/view.h"

namespace evenkeel::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heads) : rows_{std::move(heads)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  // Columns after the first `left` ones are set to the right.
  std::string Text(size_t left) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Empty for a field that is absent or of another type.
std::string Text(bson::View row, std::string_view field);
std::string Number(bson::View row, std::string_view field);
std::string Bytes(bson::View row, std::string_view field);     // "1.5 GB"
std::string Duration(bson::View row, std::string_view field);  // of seconds: "3d 4h"
// The documents of an array.
std::vector<bson::View> Rows(bson::View reply, std::string_view field);
// What is wrong, a line each, indented.
std::string ProblemLines(bson::View reply);

}  // namespace evenkeel::cli
