// Walks specifications as BSON.
#include "query/stage/rewrite/reads.h"

#include "base/bson/number.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

// True when the expression can be told from others of its paths.
bool AddExpressionReads(bson::Value spec, const QueryContext& context, Dependencies* reads) {
  const absl::StatusOr<ExpressionPtr> expression = Expression::Parse(spec, context);
  if (!expression.ok()) return false;
  (*expression)->AddDependencies(*reads);
  return !reads->whole_document;
}

void AddField(std::string_view path, bson::Value value, const QueryContext& context,
              Dependencies* reads) {
  const bool is_operator =
      value.Is(Type::kObject) && value.AsDocument().Front().key.starts_with('$');
  if (value.Is(Type::kObject) && !is_operator) {
    reads->paths.emplace(path);
    for (const auto& [key, inner] : value.AsDocument()) AddField(path, inner, context, reads);
    return;
  }
  if (value.IsNumber() || value.Is(Type::kBool)) {
    if (bson::Truthy(value)) reads->paths.emplace(path);
    return;
  }
  if (path.find('.') != std::string_view::npos) reads->paths.emplace(path);
  if (!AddExpressionReads(value, context, reads)) reads->whole_document = true;
}

}  // namespace

bool AddFilterReads(bson::View filter, const QueryContext& context, Dependencies* reads) {
  for (const auto& [key, value] : filter) {
    if (!key.starts_with('$')) {
      reads->paths.emplace(key);
    } else if (key == "$expr") {
      if (!AddExpressionReads(value, context, reads)) return false;
    } else if (key == "$and" || key == "$or" || key == "$nor") {
      for (const bson::Element& branch : value.AsDocument()) {
        if (!AddFilterReads(branch.value.AsDocument(), context, reads)) return false;
      }
    } else if (key != "$comment") {
      return false;
    }
  }
  return true;
}

std::optional<std::vector<std::string>> FilterPaths(bson::View filter,
                                                    const QueryContext& context) {
  Dependencies reads;
  if (!AddFilterReads(filter, context, &reads) || reads.random) return std::nullopt;
  return std::vector<std::string>(reads.paths.begin(), reads.paths.end());
}

void AddProjectionReads(bson::View spec, const QueryContext& context, Dependencies* reads) {
  for (const auto& [key, value] : spec) AddField(key, value, context, reads);
}

}  // namespace evenkeel::query::stage
