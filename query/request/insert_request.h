// The insert command's fields, parsed and checked once.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "base/bson/view.h"

namespace evenkeel::query {

// Views point into the command's bytes and into those of its sequences.
struct InsertRequest {
  std::vector<bson::View> documents;
  bool ordered = true;
  bool bypass_document_validation = false;
  bson::Value stmt_id, stmt_ids;  // int and array of ints; missing if not given
};

// Parses an insert command.
//
// sequence  the documents of the message's section "documents", or null: the command's array field
//           is read.
// Errors    MissingField (40414) without documents; InvalidLength (16) for none or too many;
//           TypeMismatch; 40415 for unknown fields. What is wrong with one document is not
//           checked here.
absl::StatusOr<InsertRequest> ParseInsert(bson::View command,
                                          const std::vector<bson::View>* sequence = nullptr);

}  // namespace evenkeel::query
