// What insert, update and delete have in common: a batch of documents and the options around it.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string_view>
#include <vector>

#include "base/bson/view.h"

namespace evenkeel::query {

// The batch called `name`: the message's section when there is one, the command's array field
// otherwise. Errors: 40414 when it is absent, TypeMismatch, InvalidLength (16) for an empty or too
// long one.
absl::StatusOr<std::vector<bson::View>> ReadBatch(bson::View command, std::string_view where,
                                                  std::string_view name,
                                                  const std::vector<bson::View>* sequence);

}  // namespace evenkeel::query
