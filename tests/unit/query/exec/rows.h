// Rows for tests of operators and pipelines: from JSON to queues, and back.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/json.h"
#include "query/exec/operator.h"
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query {

inline std::vector<bson::Document> Documents(std::string_view json_array) {
  const bson::Document wrapped = expr::Wrap(json_array);
  std::vector<bson::Document> documents;
  for (const bson::Element& e : wrapped["v"].AsDocument()) {
    documents.emplace_back(e.value.AsDocument());
  }
  return documents;
}

// A finished queue that borrows `documents`, which must outlive it.
inline std::unique_ptr<InputQueue> Queue(const std::vector<bson::Document>& documents) {
  auto queue = std::make_unique<InputQueue>();
  for (const bson::Document& document : documents) queue->Push(Row::Borrow(document));
  queue->Finish();
  return queue;
}

inline std::string Json(const std::vector<bson::Document>& documents) {
  std::string json;
  for (const bson::Document& document : documents) json += bson::ToJson(document) + "\n";
  return json;
}

// Runs the chain; the documents as JSON lines, or "error <code>".
inline std::string RunJson(Operator& last) {
  const absl::StatusOr<std::vector<bson::Document>> rows = RunToEnd(last);
  if (!rows.ok()) return "error " + std::to_string(static_cast<int>(CodeOf(rows.status())));
  return Json(*rows);
}

inline std::string JsonLines(std::string_view json_array) { return Json(Documents(json_array)); }

}  // namespace evenkeel::query
