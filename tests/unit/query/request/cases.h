// Table-driven tests of commands' parsers: the command and the error expected, 0 for none.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "base/bson/json.h"
#include "base/status.h"

namespace evenkeel::query {

struct CommandCase {
  std::string_view command;
  int code = 0;
};

inline bson::Document Json(std::string_view json) {
  absl::StatusOr<bson::Document> parsed = bson::FromJson(json);
  EXPECT_TRUE(parsed.ok()) << json << ": " << parsed.status();
  return parsed.ok() ? *std::move(parsed) : bson::Document();
}

// `parse` takes the command and returns a StatusOr.
template <typename Parse>
void CheckCommands(Parse parse, std::span<const CommandCase> cases) {
  for (const CommandCase& test : cases) {
    const bson::Document command = Json(test.command);
    const auto result = parse(command.view());
    EXPECT_EQ(static_cast<int>(CodeOf(result.status())), test.code)
        << test.command << result.status();
  }
}

}  // namespace evenkeel::query
