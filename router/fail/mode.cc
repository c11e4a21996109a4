// Reads and writes modes of fail points.
#include "router/fail/mode.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/bson/number.h"
#include "base/random.h"
#include "base/status.h"

namespace evenkeel::router::fail {
namespace {

using base::FailPointMode;
using Kind = FailPointMode::Kind;

absl::StatusOr<FailPointMode> NamedMode(std::string_view name) {
  if (name == "off") return FailPointMode::Off();
  if (name == "alwaysOn") return FailPointMode::Always();
  return Error(ErrorCode::kBadValue, "unknown mode of a fail point: {}", name);
}

absl::StatusOr<uint64_t> CountOf(const bson::Element& option) {
  if (!option.value.IsNumber()) {
    return Error(ErrorCode::kTypeMismatch, "the '{}' of a fail point's mode must be a number",
                 option.key);
  }
  const std::optional<int64_t> count = bson::ToInt64Exact(option.value);
  if (!count || *count < 0 || *count > std::numeric_limits<int32_t>::max()) {
    return Error(ErrorCode::kBadValue,
                 "the '{}' of a fail point's mode must be a whole number from 0 to 2^31 - 1",
                 option.key);
  }
  return static_cast<uint64_t>(*count);
}

absl::StatusOr<FailPointMode> ProbabilityMode(const bson::Element& option) {
  if (!option.value.IsNumber()) {
    return Error(ErrorCode::kTypeMismatch, "the '{}' of a fail point's mode must be a number",
                 option.key);
  }
  const double probability = bson::ToDouble(option.value);
  if (!(probability >= 0 && probability <= 1)) {
    return Error(ErrorCode::kBadValue, "the '{}' of a fail point's mode must be from 0 to 1",
                 option.key);
  }
  return FailPointMode::Probability(probability, base::GlobalRandom64());
}

absl::StatusOr<FailPointMode> CountedMode(bson::View options) {
  const auto first = options.begin();
  if (first == options.end() || std::next(first) != options.end()) {
    return MakeError(ErrorCode::kBadValue, "a fail point's mode needs exactly one option");
  }
  if (first->key == "activationProbability") return ProbabilityMode(*first);
  if (first->key != "times" && first->key != "skip") {
    return Error(ErrorCode::kBadValue, "unknown mode of a fail point: {}", first->key);
  }
  EVENKEEL_ASSIGN_OR_RETURN(const uint64_t count, CountOf(*first));
  if (first->key == "times") return count == 0 ? FailPointMode::Off() : FailPointMode::Times(count);
  return count == 0 ? FailPointMode::Always() : FailPointMode::Skip(count);
}

}  // namespace

absl::StatusOr<FailPointMode> ParseMode(bson::Value mode) {
  if (mode.missing()) {
    return MakeError(ErrorCode::kIllegalOperation, "a fail point needs a 'mode'");
  }
  if (mode.Is(bson::Type::kString)) return NamedMode(mode.AsString());
  if (mode.Is(bson::Type::kObject)) return CountedMode(mode.AsDocument());
  return MakeError(ErrorCode::kTypeMismatch,
                   "the 'mode' of a fail point must be a string or object");
}

std::string ModeText(const FailPointMode& mode) {
  switch (mode.kind) {
    case Kind::kOff:
      return "off";
    case Kind::kAlways:
      return "always";
    case Kind::kPause:
      return "pause";
    case Kind::kNth:
      return fmt::format("nth:{}", mode.nth);
    case Kind::kTimes:
      return fmt::format("times:{}", mode.nth);
    case Kind::kSkip:
      return fmt::format("skip:{}", mode.nth);
    case Kind::kCrash:
      return fmt::format("crash:{}", mode.nth);
    case Kind::kProbability:
      return fmt::format("probability:{}:{}", mode.probability, mode.seed);
  }
  return "off";
}

}  // namespace evenkeel::router::fail
