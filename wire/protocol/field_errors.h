// MongoDB's errors about a command's fields, with its codes and wording, for every command.
#pragma once

#include <absl/status/status.h>

#include <string_view>

#include "base/bson/view.h"

namespace evenkeel::wire {

// MongoDB's name of a type: "int", "objectId", "missing" for no value.
std::string_view TypeName(bson::Type type);

// TypeMismatch. `field` as "find.limit"; `expected` a type name or several: "object", "bool or
// number".
absl::Status WrongTypeError(std::string_view field, bson::Type actual, std::string_view expected);
// 40414.
absl::Status MissingFieldError(std::string_view field);
// 40415.
absl::Status UnknownFieldError(std::string_view field);
// 40413.
absl::Status DuplicateFieldError(std::string_view field);

}  // namespace evenkeel::wire
