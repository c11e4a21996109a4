// Implements parsing of the createIndexes command and of single index specifications.
#include "query/request/create_indexes_request.h"

#include <limits>
#include <set>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/match/type_names.h"
#include "query/request/fields.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

constexpr size_t kIndexFieldsMax = 32;
constexpr std::string_view kWhere = "createIndexes.indexes";
constexpr ErrorCode kInvalidSpecificationOption = Location(197);

template <typename... Args>
absl::Status CannotCreate(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ErrorCode::kCannotCreateIndex, format, std::forward<Args>(args)...);
}

absl::Status CheckPath(std::string_view path) {
  if (path.empty()) return CannotCreate("Index keys cannot be an empty field.");
  if (path.front() == '.' || path.back() == '.' || path.find("..") != path.npos) {
    return CannotCreate("Index keys cannot contain an empty field: '{}'", path);
  }
  for (size_t at = 0; at != path.npos;) {
    const size_t dot = path.find('.', at);
    const std::string_view part = path.substr(at, dot == path.npos ? dot : dot - at);
    const bool reference = part == "$ref" || part == "$id" || part == "$db";
    if (part.front() == '$' && part != "$**" && !(reference && at > 0)) {
      return CannotCreate(
          "Index key contains an illegal field name: field name starts with '$': '{}'", path);
    }
    if (part == "$**" && dot != path.npos) {
      return CannotCreate("'$**' must be the last part of an index key: '{}'", path);
    }
    at = dot == path.npos ? dot : dot + 1;
  }
  return absl::OkStatus();
}

absl::StatusOr<IndexFieldKind> KindOf(const Element& field) {
  const bool wildcard = field.key == "$**" || field.key.ends_with(".$**");
  if (field.value.IsNumber()) {
    const double direction = bson::ToDouble(field.value);
    if (direction == 0 || direction != direction) {
      return CannotCreate("Values in the index key pattern cannot be 0 or NaN: '{}'", field.key);
    }
    if (wildcard) return IndexFieldKind::kWildcard;
    return direction > 0 ? IndexFieldKind::kAscending : IndexFieldKind::kDescending;
  }
  if (!field.value.Is(Type::kString)) {
    return CannotCreate(
        "Values in v:2 index key pattern cannot be of type {}. Only numbers > 0, "
        "numbers < 0, and strings are allowed.",
        TypeAlias(field.value.type()));
  }
  const std::string_view plugin = field.value.AsString();
  if (plugin == "wildcard") {
    if (wildcard) return CannotCreate("a wildcard index's key must be a number");
    return Error(Location(7246202), "The index plugin name 'wildcard' is not allowed");
  }
  if (wildcard && plugin != "text") {
    return CannotCreate("A wildcard index cannot be of the type '{}'", plugin);
  }
  if (plugin == "hashed") return IndexFieldKind::kHashed;
  if (plugin == "text") return IndexFieldKind::kText;
  if (plugin == "2d") return IndexFieldKind::k2d;
  if (plugin == "2dsphere") return IndexFieldKind::k2dsphere;
  return CannotCreate("Unknown index plugin '{}'", plugin);
}

absl::Status ReadKey(std::string_view where, const Element& element, void* out) {
  auto& spec = *static_cast<IndexSpec*>(out);
  EVENKEEL_RETURN_IF_ERROR(fields::ReadObject(where, element, &spec.key));
  size_t hashed = 0;
  std::set<std::string_view> seen;
  for (const Element& field : spec.key) {
    EVENKEEL_RETURN_IF_ERROR(CheckPath(field.key));
    EVENKEEL_ASSIGN_OR_RETURN(const IndexFieldKind kind, KindOf(field));
    if (!seen.insert(field.key).second) {
      return Error(ErrorCode::kBadValue, "The index key pattern names the field '{}' twice",
                   field.key);
    }
    hashed += kind == IndexFieldKind::kHashed;
    spec.fields.push_back({field.key, kind});
  }
  if (spec.fields.empty()) return CannotCreate("Index keys cannot be empty.");
  if (spec.fields.size() > kIndexFieldsMax) {
    return Error(Location(13103), "too many compound keys: at most {}", kIndexFieldsMax);
  }
  if (hashed > 1) {
    return Error(Location(31303),
                 "A maximum of one index field is allowed to be hashed but found {}", hashed);
  }
  return absl::OkStatus();
}

absl::Status ReadName(std::string_view where, const Element& field, void* out) {
  auto& spec = *static_cast<IndexSpec*>(out);
  EVENKEEL_RETURN_IF_ERROR(fields::ReadString(where, field, &spec.name));
  if (spec.name.empty() || spec.name == "*") {
    return CannotCreate("The index name '{}' is not valid", spec.name);
  }
  return absl::OkStatus();
}

absl::Status ReadExpiry(std::string_view, const Element& field, void* out) {
  if (!field.value.IsNumber()) {
    return CannotCreate("TTL index 'expireAfterSeconds' option must be numeric, but received: {}",
                        TypeAlias(field.value.type()));
  }
  const double seconds = bson::ToDouble(field.value);
  if (!(seconds >= 0) || seconds > std::numeric_limits<int32_t>::max()) {
    return CannotCreate(
        "TTL index 'expireAfterSeconds' option must be within an acceptable range, "
        "got {}",
        bson::ToDisplay(field.value));
  }
  static_cast<IndexSpec*>(out)->expire_after_seconds = bson::ToInt64Truncated(field.value);
  return absl::OkStatus();
}

absl::Status ReadPartialFilter(std::string_view where, const Element& field, void* out) {
  auto& spec = *static_cast<IndexSpec*>(out);
  spec.has_partial_filter = true;
  return fields::ReadObject(where, field, &spec.partial_filter);
}

absl::Status ReadWildcardProjection(std::string_view where, const Element& field, void* out) {
  auto& spec = *static_cast<IndexSpec*>(out);
  spec.has_wildcard_projection = true;
  EVENKEEL_RETURN_IF_ERROR(fields::ReadObject(where, field, &spec.wildcard_projection));
  if (spec.wildcard_projection.empty()) {
    return Error(ErrorCode::kFailedToParse,
                 "The 'wildcardProjection' field can't be an empty object");
  }
  return absl::OkStatus();
}

absl::Status ReadVersion(std::string_view where, const Element& field, void*) {
  if (!field.value.IsNumber()) return WrongType(where, field.key, field.value, "int");
  if (bson::ToInt64Exact(field.value) != 2) {
    return CannotCreate("Invalid index specification: cannot create an index with v={}",
                        bson::ToDisplay(field.value));
  }
  return absl::OkStatus();
}

// Index options refuse null, unlike command fields.
template <auto kMember, auto kRead>
absl::Status Strict(std::string_view where, const Element& field, void* out) {
  return kRead(where, field, &fields::Target<kMember>(out));
}

constexpr FieldRule kSpecRules[] = {
    {"key", ReadKey},
    {"name", ReadName},
    {"unique", Strict<&IndexSpec::unique, fields::ReadSafeBool>},
    {"sparse", Strict<&IndexSpec::sparse, fields::ReadSafeBool>},
    {"hidden", Strict<&IndexSpec::hidden, fields::ReadBool>},
    {"prepareUnique", Strict<&IndexSpec::prepare_unique, fields::ReadSafeBool>},
    {"expireAfterSeconds", ReadExpiry},
    {"partialFilterExpression", ReadPartialFilter},
    {"collation", Strict<&IndexSpec::collation, fields::ReadObject>},
    {"wildcardProjection", ReadWildcardProjection},
    {"v", ReadVersion},
    {"ns"},
    {"background"},
    {"clustered"},
    {"storageEngine"},
    {"weights"},
    {"default_language"},
    {"language_override"},
    {"textIndexVersion"},
    {"2dsphereIndexVersion"},
    {"bits"},
    {"min"},
    {"max"},
    {"dropDups"},
    // Of the service that we follow, which drivers' helpers put here; without effect.
    {"enableLargeIndexKeys"},
    {"blocking"},
};

// The _id index takes no options of its own.
absl::Status CheckIdIndex(const IndexSpec& spec) {
  const bool is_id = spec.fields.size() == 1 && spec.fields[0].path == "_id" &&
                     spec.fields[0].kind == IndexFieldKind::kAscending;
  if (!is_id) {
    if (spec.name == "_id_") {
      return Error(
          ErrorCode::kBadValue,
          "The index name '_id_' is reserved for the _id index, which must have key pattern "
          "{{_id: 1}}, found {}",
          bson::ToJson(spec.key));
    }
    if (spec.fields.size() == 1 && spec.fields[0].path == "_id" &&
        spec.fields[0].kind == IndexFieldKind::kDescending) {
      return Error(ErrorCode::kBadValue,
                   "The field 'key' for an _id index must be {{_id: 1}}, but got {}",
                   bson::ToJson(spec.key));
    }
    return absl::OkStatus();
  }
  for (const Element& field : spec.source) {
    if (field.key != "key" && field.key != "name" && field.key != "v" && field.key != "ns" &&
        field.key != "collation" && field.key != "unique" && field.key != "background") {
      return Error(kInvalidSpecificationOption,
                   "The field '{}' is not valid for an _id index specification", field.key);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTogether(const IndexSpec& spec) {
  const auto has = [&](IndexFieldKind kind) {
    for (const IndexField& field : spec.fields) {
      if (field.kind == kind) return true;
    }
    return false;
  };
  if (spec.unique && has(IndexFieldKind::kHashed)) {
    return Error(Location(16764),
                 "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.");
  }
  if (spec.sparse && spec.has_partial_filter) {
    return CannotCreate("cannot mix \"partialFilterExpression\" and \"sparse\" options");
  }
  if (spec.expire_after_seconds && spec.fields.size() > 1) {
    return CannotCreate(
        "TTL indexes are single-field indexes, compound indexes do not support TTL");
  }
  const bool wildcard = has(IndexFieldKind::kWildcard);
  if (wildcard && (spec.unique || spec.sparse || spec.expire_after_seconds)) {
    return CannotCreate(
        "A wildcard index does not take 'unique', 'sparse' and 'expireAfterSeconds'");
  }
  if (spec.has_wildcard_projection && !wildcard) {
    return Error(ErrorCode::kBadValue,
                 "The field 'wildcardProjection' is only allowed in a wildcard index");
  }
  if (!spec.source["weights"].missing() && !has(IndexFieldKind::kText)) {
    return CannotCreate("the field 'weights' can only be specified with text indexes");
  }
  return CheckIdIndex(spec);
}

constexpr FieldRule kRules[] = {
    {"indexes"},
    {"ignoreUnknownIndexOptions",
     fields::SafeBool<&CreateIndexesRequest::ignore_unknown_index_options>},
    {"enableLargeIndexKeys", fields::SafeBool<&CreateIndexesRequest::enable_large_index_keys>},
    {"blocking", fields::SafeBool<&CreateIndexesRequest::blocking>},
    {"commitQuorum"},
    {"v"},
    {"returnOnStart"},
};

}  // namespace

absl::StatusOr<IndexSpec> ParseIndexSpec(View source, bool ignore_unknown_options) {
  IndexSpec spec;
  spec.source = source;
  for (const char* required : {"key", "name"}) {
    if (!source.Contains(required)) {
      return Error(ErrorCode::kFailedToParse,
                   "The '{}' field is a required property of an index specification", required);
    }
  }
  for (const Element& field : source) {
    const FieldRule* known = nullptr;
    for (const FieldRule& rule : kSpecRules) {
      if (rule.name == field.key) known = &rule;
    }
    if (known) {
      if (known->read) EVENKEEL_RETURN_IF_ERROR(known->read(kWhere, field, &spec));
    } else if (!ignore_unknown_options) {
      return Error(kInvalidSpecificationOption,
                   "The field '{}' is not valid for an index specification. Specification: {}",
                   field.key, bson::ToJson(source));
    }
  }
  EVENKEEL_RETURN_IF_ERROR(CheckTogether(spec));
  return spec;
}

std::string DefaultIndexName(View key) {
  std::string name;
  for (const Element& field : key) {
    if (!name.empty()) name += '_';
    name += field.key;
    name += '_';
    if (field.value.Is(Type::kString)) {
      name += field.value.AsString();
    } else if (field.value.IsNumber()) {
      name += std::to_string(bson::ToInt64Truncated(field.value));
    }
  }
  return name;
}

absl::StatusOr<CreateIndexesRequest> ParseCreateIndexes(View command) {
  CreateIndexesRequest request;
  EVENKEEL_RETURN_IF_ERROR(CollectionName(command.Front().value).status());
  EVENKEEL_RETURN_IF_ERROR(
      ReadFields(command, "createIndexes", FieldScope::kCommand, kRules, &request));
  const Value indexes = command["indexes"];
  if (indexes.IsNullish()) return MissingField("createIndexes", "indexes");
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<View> specs,
                            ReadDocuments("createIndexes", "indexes", indexes));
  if (specs.empty()) {
    return Error(ErrorCode::kBadValue, "Must specify at least one index to create");
  }
  for (const View source : specs) {
    EVENKEEL_ASSIGN_OR_RETURN(IndexSpec spec,
                              ParseIndexSpec(source, request.ignore_unknown_index_options));
    request.indexes.push_back(std::move(spec));
  }
  return request;
}

}  // namespace evenkeel::query
