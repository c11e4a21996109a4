// What stages share.
#include "query/stage/stage.h"

#include <algorithm>

#include "base/bson/builder.h"

namespace evenkeel::query::stage {

void StageWriter::Add(std::string_view name, bson::Value spec) {
  bson::Builder builder;
  builder.Append(name, spec);
  stages_.push_back(builder.Finish());
}

bson::Document StageWriter::Finish() const {
  bson::Builder builder;
  bson::ArrayAppender array(builder);
  for (const bson::Document& stage : stages_) array.Add(stage);
  return builder.Finish();
}

bool AnyOverlap(const std::vector<std::string>& paths, std::string_view other) {
  const auto first_part = [](std::string_view path) { return path.substr(0, path.find('.')); };
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return first_part(path) == first_part(other);
  });
}

}  // namespace evenkeel::query::stage
