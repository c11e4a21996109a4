// Reads values of parameters from text.
#include "cli/query_settings.h"

#include <charconv>

#include "base/bson/builder.h"
#include "base/status.h"

namespace evenkeel::cli {
namespace {

// {v: a boolean, a whole number, or else the text}.
bson::Document ValueOf(std::string_view text) {
  bson::Builder builder;
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text == "true" || text == "false") {
    builder.Append("v", text == "true");
  } else if (read.ec == std::errc() && read.ptr == end) {
    builder.Append("v", number);
  } else {
    builder.Append("v", text);
  }
  return builder.Finish();
}

}  // namespace

absl::StatusOr<std::shared_ptr<query::Settings>> OpenQuerySettings(const QueryOptions& options,
                                                                   std::string default_folder) {
  std::string folder = options.spill_path.empty() ? std::move(default_folder) : options.spill_path;
  EVENKEEL_ASSIGN_OR_RETURN(auto spill, query::SpillFolder::Open(std::move(folder)));
  auto settings = std::make_shared<query::Settings>(std::move(spill));
  for (const std::string& parameter : options.parameters) {
    const size_t split = parameter.find('=');
    const std::string name = parameter.substr(0, split);
    if (split == std::string::npos || !query::Settings::IsKnown(name)) {
      return Error(ErrorCode::kInvalidOptions, "--setParameter takes NAME=VALUE, and not '{}'",
                   parameter);
    }
    const bson::Document value = ValueOf(std::string_view(parameter).substr(split + 1));
    EVENKEEL_RETURN_IF_ERROR(settings->Set(name, value["v"]));
  }
  return settings;
}

}  // namespace evenkeel::cli
