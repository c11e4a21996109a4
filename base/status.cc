// Implements errors as values: the MongoDB code travels as a four-byte payload of absl::Status.
#include "base/status.h"

#include <absl/strings/cord.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/check.h"

namespace evenkeel {
namespace {

constexpr char kPayloadUrl[] = "evenkeel/code";

struct Row {
  int32_t number;
  std::string_view name;
  uint32_t categories;
};

constexpr Row kRows[] = {
#define EVENKEEL_ERROR(number, name, categories) {number, #name, categories},
#include "base/error_codes.inc"
#undef EVENKEEL_ERROR
};

constexpr bool SortedAndUnique() {
  for (size_t i = 1; i < std::size(kRows); ++i) {
    if (kRows[i - 1].number >= kRows[i].number) return false;
  }
  return true;
}
static_assert(SortedAndUnique(), "base/error_codes.inc is ordered by number, each once");

const Row* FindRow(ErrorCode code) {
  const auto number = static_cast<int32_t>(code);
  const Row* row = std::lower_bound(std::begin(kRows), std::end(kRows), number,
                                    [](const Row& r, int32_t n) { return r.number < n; });
  return row != std::end(kRows) && row->number == number ? row : nullptr;
}

}  // namespace

absl::Status MakeError(ErrorCode code, std::string_view message) {
  EVENKEEL_CHECK(code != ErrorCode::kOK);
  absl::Status status(absl::StatusCode::kUnknown,
                      absl::string_view(message.data(), message.size()));
  char bytes[sizeof(int32_t)];
  std::memcpy(bytes, &code, sizeof(bytes));
  status.SetPayload(kPayloadUrl, absl::Cord(absl::string_view(bytes, sizeof(bytes))));
  return status;
}

ErrorCode CodeOf(const absl::Status& status) {
  if (status.ok()) return ErrorCode::kOK;
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value() || payload->size() != sizeof(int32_t)) return ErrorCode::kInternalError;
  const std::string bytes(*payload);
  int32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return static_cast<ErrorCode>(number);
}

std::string CodeName(ErrorCode code) {
  if (const Row* row = FindRow(code)) return std::string(row->name);
  return fmt::format("Location{}", static_cast<int32_t>(code));
}

std::string_view MessageOf(const absl::Status& status) {
  const absl::string_view message = status.message();
  return {message.data(), message.size()};
}

bool Is(ErrorCode code, ErrorCategory category) {
  const Row* row = FindRow(code);
  return row != nullptr && (row->categories & category) == category;
}

bool Is(const absl::Status& status, ErrorCategory category) {
  return !status.ok() && Is(CodeOf(status), category);
}

absl::Status Annotate(const absl::Status& status, std::string_view where) {
  if (status.ok()) return status;
  return MakeError(CodeOf(status), fmt::format("{}: {}", where, MessageOf(status)));
}

}  // namespace evenkeel
