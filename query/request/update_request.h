// The update command's fields, parsed and checked once; one struct per statement.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "base/bson/document.h"

namespace evenkeel::query {

// One element of `updates`. Views point into the command's bytes or its sequence's.
struct UpdateStatement {
  bson::View q;
  bson::Value u;  // an object, or an array for a pipeline
  bool multi = false;
  bool upsert = false;
  bson::View array_filters;  // an array; empty if not given
  bool has_array_filters = false;
  bson::Value hint;  // index name or key pattern; missing if none
  bson::View collation, c, sort;
  bool upsert_supplied = false;
};

struct UpdateRequest {
  std::vector<UpdateStatement> updates;
  bool ordered = true;
  bool bypass_document_validation = false;
  bson::View let;
  bson::Value stmt_id, stmt_ids;  // missing if not given
};

// Parses one statement. Errors: 40414 without q or u, 40415, TypeMismatch, FailedToParse for a `u`
// that is neither object nor array, for `hint` of a wrong type and for sort with multi; 51198 for c
// without a pipeline.
absl::StatusOr<UpdateStatement> ParseUpdateStatement(bson::View statement);

// Parses an update command.
//
// sequence  the documents of the message's section "updates", or null: the command's array field
//           is read.
// Errors    those of the statements, and 40414 without updates, InvalidLength (16) for none or too
//           many, TypeMismatch, 40415.
absl::StatusOr<UpdateRequest> ParseUpdate(bson::View command,
                                          const std::vector<bson::View>* sequence = nullptr);

// The variables of a pipeline update: the statement's constants, then the command's.
bson::Document WithConstants(bson::View constants, bson::View let);

}  // namespace evenkeel::query
