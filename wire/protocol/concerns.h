// Parsers of the generic arguments that are documents: read concern, write concern, read
// preference, session id, cluster time.
#pragma once

#include <absl/status/status.h>

#include "base/bson/view.h"
#include "wire/protocol/request.h"

namespace evenkeel::wire {

// {level, afterClusterTime, atClusterTime}; null counts as absent. Errors: TypeMismatch, BadValue,
// 40415, InvalidOptions.
absl::Status ParseReadConcern(bson::Value value, ReadConcern& out);

// {w, j, wtimeout}; null counts as absent. Errors: TypeMismatch, FailedToParse, 40415.
absl::Status ParseWriteConcern(bson::Value value, WriteConcern& out);

// {mode, tags, maxStalenessSeconds, hedge}. The mode's meaning is left to the router. Errors:
// TypeMismatch, BadValue, 40414, 40415.
absl::Status ParseReadPreference(bson::Value value, bson::View& out);

// {id: UUID, …}. Errors: TypeMismatch, 40414, 40415.
absl::Status ParseSessionId(bson::Value value, GenericArguments& out);

// {clusterTime: Timestamp, …}. Errors: TypeMismatch, NoSuchKey.
absl::Status ParseClusterTime(bson::Value value, std::optional<Timestamp>& out);

// maxTimeMS: an integer of any width in [0, 2^31). Errors: TypeMismatch, FailedToParse, BadValue.
absl::Status ParseMaxTime(bson::Value value, std::optional<absl::Duration>& out);

}  // namespace evenkeel::wire
