// The bulkWrite command's fields, parsed and checked once.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bson/document.h"
#include "router/write/batch_writer.h"
#include "wire/protocol/request.h"

namespace evenkeel::router::write {

// One element of `ops` in the form that insert, update and delete take.
struct BulkOperation {
  WriteKind kind = WriteKind::kInsert;
  size_t target = 0;         // into BulkRequest::namespaces
  bson::Document statement;  // a document to insert, or an element of `updates` or `deletes`
  bool multi = false;
};

struct BulkRequest {
  std::vector<std::string> namespaces;  // of nsInfo
  std::vector<BulkOperation> operations;
  std::vector<int32_t> ids;  // statement ids; empty: 0, 1, 2 …
  bool ordered = true, errors_only = false, bypass_document_validation = false;
  bson::View let;
  std::optional<int64_t> batch_size;
};

// Parses a bulkWrite command, its sections included.
//
// Errors  40414 without ops or nsInfo, InvalidLength (16) for none or too many of them, BadValue
//         for an operation whose namespace is not in nsInfo, InvalidNamespace, InvalidOptions for a
//         retryable command with an operation on several documents, FailedToParse and others of
//         update and delete statements, TypeMismatch, 40415.
absl::StatusOr<BulkRequest> ParseBulkWrite(const wire::Request& request);

}  // namespace evenkeel::router::write
