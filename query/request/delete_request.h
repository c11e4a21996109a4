// The delete command's fields, parsed and checked once; one struct per statement.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "base/bson/view.h"

namespace evenkeel::query {

// One element of `deletes`. Views point into the command's bytes or its sequence's.
struct DeleteStatement {
  bson::View q;
  bool just_one = false;  // limit: 1
  bson::Value hint;       // index name or key pattern; missing if none
  bson::View collation;
};

struct DeleteRequest {
  std::vector<DeleteStatement> deletes;
  bool ordered = true;
  bool bypass_document_validation = false;
  bson::View let;
  bson::Value stmt_id, stmt_ids;  // missing if not given
};

// Parses one statement. Errors: 40414 without q or limit, 40415, TypeMismatch, FailedToParse for a
// limit other than 0 and 1.
absl::StatusOr<DeleteStatement> ParseDeleteStatement(bson::View statement);

// Parses a delete command.
//
// sequence  the documents of the message's section "deletes", or null: the command's array field
//           is read.
// Errors    those of the statements, and 40414 without deletes, InvalidLength (16) for none or too
//           many, TypeMismatch, 40415.
absl::StatusOr<DeleteRequest> ParseDelete(bson::View command,
                                          const std::vector<bson::View>* sequence = nullptr);

}  // namespace evenkeel::query
