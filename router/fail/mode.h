// The mode of a fail point as configureFailPoint takes it.
//
// Source: "The failCommand fail point" in MongoDB's wiki.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "base/bson/view.h"
#include "base/fail_point.h"

namespace evenkeel::router::fail {

// "off", "alwaysOn", {times: n}, {skip: n} or {activationProbability: p}.
//
// Errors   IllegalOperation (20) when it is missing, TypeMismatch for another type of the mode or
// of
//          its number, BadValue for an unknown mode and for numbers out of range.
absl::StatusOr<base::FailPointMode> ParseMode(bson::Value mode);

// The mode in the text form of base::ConfigureFailPoints: "times:3".
std::string ModeText(const base::FailPointMode& mode);

}  // namespace evenkeel::router::fail
