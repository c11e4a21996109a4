// Implements parsing of arrayFilters.
#include "query/update/array_filters.h"

#include <algorithm>

#include "base/bson/json.h"
#include "base/status.h"
#include "query/match/node.h"

namespace evenkeel::query::update {
namespace {

constexpr ErrorCode kQueryFeatureNotAllowed = Location(224);

bool IsIdentifier(std::string_view name) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_rest = [&](char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && is_lower(name[0]) && std::all_of(name.begin(), name.end(), is_rest);
}

// The first part of every path in the filter.
void CollectIdentifiers(const MatchNode& node, std::vector<std::string_view>* out) {
  if (node.kind() == MatchKind::kPath) {
    const std::string_view name = static_cast<const PathNode&>(node).path().part(0);
    if (std::find(out->begin(), out->end(), name) == out->end()) out->push_back(name);
    return;
  }
  const LogicalNode* logical = AsLogical(node);
  if (!logical) return;
  for (const MatchNodePtr& child : logical->children()) CollectIdentifiers(*child, out);
}

absl::StatusOr<ArrayFilter> ParseOne(bson::View spec, const QueryContext& context) {
  absl::StatusOr<Filter> parsed = Filter::Parse(spec, context);
  if (CodeOf(parsed.status()) == ErrorCode::kNoQueryExecutionPlans) {
    return Error(Location(5626500),
                 "$geoNear, $near, and $nearSphere are not allowed in this context");
  }
  EVENKEEL_ASSIGN_OR_RETURN(Filter filter, std::move(parsed));
  if (filter.HasExpression()) {
    return Error(kQueryFeatureNotAllowed,
                 "$expr is not allowed in the query predicate for an array filter");
  }
  std::vector<std::string_view> identifiers;
  CollectIdentifiers(filter.root(), &identifiers);
  if (identifiers.empty()) {
    return Error(ErrorCode::kFailedToParse,
                 "Cannot use an expression without a top-level field name in arrayFilters");
  }
  if (identifiers.size() > 1) {
    return Error(
        ErrorCode::kFailedToParse,
        "Error parsing array filter: Expected a single top-level field name, found '{}' and '{}'",
        identifiers[0], identifiers[1]);
  }
  if (!IsIdentifier(identifiers[0])) {
    return Error(
        ErrorCode::kBadValue,
        "Error parsing array filter: The top-level field name must be an alphanumeric string "
        "beginning with a lowercase letter, found '{}'",
        identifiers[0]);
  }
  std::string identifier(identifiers[0]);
  return ArrayFilter{std::move(identifier), std::move(filter)};
}

}  // namespace

absl::StatusOr<std::vector<ArrayFilter>> ParseArrayFilters(bson::View array,
                                                           const QueryContext& context) {
  std::vector<ArrayFilter> filters;
  for (const bson::Element& element : array) {
    if (!element.value.Is(bson::Type::kObject)) {
      return Error(ErrorCode::kTypeMismatch, "arrayFilters must hold objects, found {}",
                   bson::ToDisplay(element.value));
    }
    EVENKEEL_ASSIGN_OR_RETURN(ArrayFilter filter, ParseOne(element.value.AsDocument(), context));
    for (const ArrayFilter& other : filters) {
      if (other.identifier == filter.identifier) {
        return Error(ErrorCode::kFailedToParse,
                     "Found multiple array filters with the same top-level field name {}",
                     filter.identifier);
      }
    }
    filters.push_back(std::move(filter));
  }
  return filters;
}

}  // namespace evenkeel::query::update
