// Errors as values: absl::Status carrying one of MongoDB's public error codes.
//
// Every function that may fail returns absl::Status or absl::StatusOr. The code is a row of
// base/error_codes.inc; categories, not lists of numbers, say how a caller may react.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace evenkeel {

// MongoDB's error numbers, e.g. ErrorCode::kBadValue == 2. A number that has no name is allowed too
// (MongoDB's "Location" codes): cast it with Location(31234).
enum class ErrorCode : int32_t {
#define EVENKEEL_ERROR(number, name, categories) k##name = number,
#include "base/error_codes.inc"
#undef EVENKEEL_ERROR
};

// A MongoDB "LocationNNNNN" code without a name of its own.
constexpr ErrorCode Location(int32_t number) { return static_cast<ErrorCode>(number); }

// How a caller may react to an error; a code may have several.
enum ErrorCategory : uint32_t {
  kNoCategory = 0,
  kRetryableWrite = 1u << 0,        // the driver may send the write again
  kRetryableRead = 1u << 1,         // the driver may send the read again
  kTransientTransaction = 1u << 2,  // restart the whole transaction
  kMaybeApplied = 1u << 3,          // outcome unknown: ask, do not assume
  kStaleRouting = 1u << 4,          // refresh the routing table, target again, bounded times
  kVoteAbort = 1u << 5,             // a participant's no in phase one
  kDecisionKnown = 1u << 6,         // phase two was already applied here; counts as success
  kNetwork = 1u << 7,
  kShutdown = 1u << 8,
  kInterrupted = 1u << 9,
  kCloseConnection = 1u << 10,  // the byte stream can no longer be trusted
  kInternalOnly = 1u << 11,     // must never reach a client
};

// An error with `code`; `message` names the operator or field and the offending value, no final
// stop.
absl::Status MakeError(ErrorCode code, std::string_view message);

// The same with fmt's formatting: Error(ErrorCode::kBadValue, "unknown operator: {}", name).
template <typename... Args>
absl::Status Error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(code, fmt::format(format, std::forward<Args>(args)...));
}

// The code of a failed status; kInternalError for a status that was not made by MakeError.
// kOK for absl::OkStatus().
ErrorCode CodeOf(const absl::Status& status);

// MongoDB's name of a code: "BadValue", or "Location31234" for a number without a row.
std::string CodeName(ErrorCode code);

// The message of a failed status as std::string_view (Debian's abseil has a string_view of its
// own).
std::string_view MessageOf(const absl::Status& status);

// True when the code of `status` has all of `category`'s bits.
bool Is(const absl::Status& status, ErrorCategory category);
bool Is(ErrorCode code, ErrorCategory category);

// The same error with "where: " in front of its message.
absl::Status Annotate(const absl::Status& status, std::string_view where);

}  // namespace evenkeel

#define EVENKEEL_CONCAT_INNER(a, b) a##b
#define EVENKEEL_CONCAT(a, b) EVENKEEL_CONCAT_INNER(a, b)

// Returns from the function when `expression` (a Status) failed.
#define EVENKEEL_RETURN_IF_ERROR(expression)                                  \
  do {                                                                        \
    if (::absl::Status evenkeel_status = (expression); !evenkeel_status.ok()) \
      return evenkeel_status;                                                 \
  } while (false)

// Declares or assigns `target` from a StatusOr, or returns its error.
#define EVENKEEL_ASSIGN_OR_RETURN(target, expression) \
  EVENKEEL_ASSIGN_OR_RETURN_IMPL(EVENKEEL_CONCAT(evenkeel_result_, __LINE__), target, expression)
#define EVENKEEL_ASSIGN_OR_RETURN_IMPL(result, target, expression) \
  auto result = (expression);                                      \
  if (!result.ok()) return result.status();                        \
  target = *std::move(result)

// The coroutine forms.
#define EVENKEEL_CO_RETURN_IF_ERROR(expression)                               \
  do {                                                                        \
    if (::absl::Status evenkeel_status = (expression); !evenkeel_status.ok()) \
      co_return evenkeel_status;                                              \
  } while (false)
#define EVENKEEL_CO_ASSIGN_OR_RETURN(target, expression) \
  EVENKEEL_CO_ASSIGN_OR_RETURN_IMPL(EVENKEEL_CONCAT(evenkeel_result_, __LINE__), target, expression)
#define EVENKEEL_CO_ASSIGN_OR_RETURN_IMPL(result, target, expression) \
  auto result = (expression);                                         \
  if (!result.ok()) co_return result.status();                        \
  target = *std::move(result)
