// Implements parsing of projections: paths, kinds of values, and which kinds go together.
#include "query/project/parse.h"

#include <optional>
#include <string>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/bson/path.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/expr/table.h"
#include "query/project/table.h"

namespace evenkeel::query::project {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

absl::Status CheckPath(std::string_view path) {
  if (path.empty())
    return Error(Location(40352), "FieldPath cannot be constructed with empty string");
  if (path.back() == '.') return Error(Location(40353), "FieldPath must not end with a '.'.");
  const bson::Path parts(path);
  if (parts.size() > static_cast<size_t>(limits::kCommandDepthMax)) {
    return Error(ErrorCode::kOverflow, "FieldPath is too long");
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts.part(i).empty()) {
      return Error(Location(15998), "FieldPath field names may not be empty strings.");
    }
    if (parts.part(i)[0] == '$') {
      return Error(
          Location(16410),
          "FieldPath field names may not start with '$'. Consider using $getField or $setField.");
    }
  }
  return absl::OkStatus();
}

// Goes with inclusion and with exclusion.
constexpr std::string_view kMeta = "$meta";

bool IsFlag(Value value) { return value.IsNumber() || value.Is(Type::kBool); }

class ProjectionParser {
 public:
  ProjectionParser(ProjectionKind kind, const QueryContext& context)
      : kind_(kind), context_(context), scope_(context), root_(std::make_unique<Node>()) {}

  absl::StatusOr<Parsed> Parse(View spec) {
    for (const Element& element : spec) {
      EVENKEEL_RETURN_IF_ERROR(ParseElement("", element));
    }
    Mode mode = Mode::kAdd;
    if (kind_ != ProjectionKind::kAddFields) {
      // What names no kind keeps the other fields; $elemMatch and {_id: 1} do not, nor does $meta
      // in $project.
      const bool includes = id_included_ || has_elem_match_ || (has_meta_ && !is_find());
      mode = type_.value_or(includes ? Mode::kInclude : Mode::kExclude);
      AddId(mode);
    }
    Finish(*root_, mode);
    return Parsed{std::move(root_), needs_filter_};
  }

 private:
  bool is_add() const { return kind_ == ProjectionKind::kAddFields; }
  bool is_find() const { return kind_ == ProjectionKind::kFind; }

  absl::Status ParseElement(const std::string& prefix, const Element& element) {
    if (is_add() && !prefix.empty() && element.key.find('.') != element.key.npos) {
      return Error(Location(40183),
                   "FieldPath field names may not contain '.' in a nested object: '{}'",
                   element.key);
    }
    const std::string path =
        prefix.empty() ? std::string(element.key) : prefix + "." + std::string(element.key);
    if (is_find() && (path.ends_with(".$") || path.find(".$.") != path.npos)) {
      return ParsePositional(path, element.value);
    }
    EVENKEEL_RETURN_IF_ERROR(CheckPath(path));
    if (element.value.Is(Type::kObject)) return ParseObject(path, element.value);
    if (IsFlag(element.value) && !is_add()) return ParseFlag(path, element.value);
    return AddComputed(path, element.value);
  }

  absl::Status ParseFlag(const std::string& path, Value value) {
    const bool include = bson::Truthy(value);
    if (path == "_id") {
      id_included_ = include;
    } else {
      EVENKEEL_RETURN_IF_ERROR(include ? SetInclude(path) : SetExclude(path));
    }
    EVENKEEL_ASSIGN_OR_RETURN(Field * field, AddField(path));
    field->kind = include ? Field::Kind::kInclude : Field::Kind::kExclude;
    return absl::OkStatus();
  }

  absl::Status SetInclude(std::string_view path) {
    if (type_ == Mode::kExclude) {
      return Error(Location(31253), "Cannot do inclusion on field {} in exclusion projection",
                   path);
    }
    type_ = Mode::kInclude;
    return absl::OkStatus();
  }

  absl::Status SetExclude(std::string_view path) {
    if (type_ == Mode::kInclude) {
      return Error(Location(31254), "Cannot do exclusion on field {} in inclusion projection",
                   path);
    }
    type_ = Mode::kExclude;
    return absl::OkStatus();
  }

  absl::Status ParseObject(const std::string& path, Value value) {
    const View object = value.AsDocument();
    if (object.empty()) {
      if (is_add()) return AddComputed(path, value);
      return Error(Location(51270),
                   "An empty sub-projection is not a valid value. Found empty object at path");
    }
    const std::string_view first = object.Front().key;
    const size_t count = object.CountFields();
    if (first.starts_with('$')) {
      if (count == 1) return ParseOperator(path, value);
      if (is_add()) {
        return Error(Location(40181),
                     "an expression specification must contain exactly one field, the name "
                     "of the expression. Found {} fields in {}",
                     count, bson::ToDisplay(value));
      }
    }
    for (const Element& element : object) {
      EVENKEEL_RETURN_IF_ERROR(ParseElement(path, element));
    }
    return absl::OkStatus();
  }

  absl::Status ParseOperator(const std::string& path, Value value) {
    const Element only = value.AsDocument().Front();
    const ProjectOp* op = FindOperator(only.key);
    if (is_find() && op) {
      if (!op->parse) {
        return Error(ErrorCode::kCommandNotSupported, "the projection operator {} is not supported",
                     only.key);
      }
      EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<FieldOperator> operation,
                                op->parse(path, only.value, context_));
      if (operation) return AddOperator(path, std::move(operation), op->includes);
    }
    if (!is_add() && !op && !expr::FindOperator(only.key)) {
      return Error(Location(31325), "Unknown expression {}", only.key);
    }
    if (only.key == kMeta && !is_add()) {
      has_meta_ = true;
      return AddExpression(path, value);
    }
    return AddComputed(path, value);
  }

  absl::Status AddOperator(const std::string& path, std::unique_ptr<FieldOperator> operation,
                           bool includes) {
    if (includes && needs_filter_) {
      return Error(Location(31255), "Cannot specify positional operator and $elemMatch");
    }
    has_elem_match_ |= includes;
    EVENKEEL_ASSIGN_OR_RETURN(Field * field, AddField(path));
    field->kind = Field::Kind::kOperator;
    field->operation = std::move(operation);
    return absl::OkStatus();
  }

  absl::Status ParsePositional(const std::string& path, Value value) {
    if (!path.ends_with(".$") || path.find(".$") != path.size() - 2 || value.Is(Type::kObject)) {
      return Error(Location(31271),
                   "positional projection may only be used at the end of a path, for "
                   "example: a.b.$: {}",
                   path);
    }
    if (!IsFlag(value)) {
      return Error(Location(31308), "positional projection cannot be used with a literal: {}",
                   path);
    }
    if (!bson::Truthy(value)) {
      return Error(Location(31395), "positional projection cannot be used with exclusion");
    }
    if (needs_filter_) {
      return Error(Location(31276),
                   "Cannot specify more than one positional projection per query.");
    }
    if (has_elem_match_) {
      return Error(Location(31256), "Cannot specify positional operator and $elemMatch");
    }
    const std::string array = path.substr(0, path.size() - 2);
    EVENKEEL_RETURN_IF_ERROR(CheckPath(array));
    EVENKEEL_RETURN_IF_ERROR(SetInclude(array));
    needs_filter_ = true;
    EVENKEEL_ASSIGN_OR_RETURN(Field * field, AddField(array));
    field->kind = Field::Kind::kOperator;
    field->operation = MakePositional();
    return absl::OkStatus();
  }

  absl::Status AddComputed(const std::string& path, Value value) {
    if (type_ == Mode::kExclude && !is_add()) {
      if (value.Is(Type::kObject)) {
        return Error(Location(31252),
                     "Cannot use expression other than $meta in exclusion projection");
      }
      return Error(Location(31310), "Cannot use an expression {} in an exclusion projection",
                   bson::ToDisplay(value));
    }
    type_ = Mode::kInclude;
    return AddExpression(path, value);
  }

  absl::Status AddExpression(const std::string& path, Value value) {
    EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr expression, Expression::Parse(value, scope_));
    EVENKEEL_ASSIGN_OR_RETURN(Field * field, AddField(path));
    field->kind = Field::Kind::kComputed;
    field->expression = std::move(expression);
    return absl::OkStatus();
  }

  absl::Status Collision(int location, std::string_view path, std::string_view at) const {
    if (is_add()) {
      return Error(Location(40176),
                   "specification contains two conflicting paths. Cannot specify both '{}' "
                   "and '{}'",
                   path, at);
    }
    return Error(Location(location), "Path collision at {} remaining portion {}", path, at);
  }

  // The field at `path`, new.
  absl::StatusOr<Field*> AddField(std::string_view path) {
    const bson::Path parts(path);
    Node* node = root_.get();
    for (size_t i = 0;; ++i) {
      bool made = false;
      Field& field = node->FindOrAdd(parts.part(i), &made);
      if (i + 1 == parts.size()) {
        if (!made) return Collision(31250, path, field.name);
        return &field;
      }
      if (made) {
        field.kind = Field::Kind::kNested;
        field.nested = std::make_unique<Node>();
      } else if (field.kind != Field::Kind::kNested) {
        return Collision(31249, path, field.name);
      }
      node = field.nested.get();
    }
  }

  // _id is included unless it is excluded by name.
  void AddId(Mode mode) {
    if (mode != Mode::kInclude) return;
    bool made = false;
    Field& field = root_->FindOrAdd("_id", &made);
    if (made) field.kind = Field::Kind::kInclude;
  }

  static void Finish(Node& node, Mode mode) {
    node.mode = mode;
    for (Field& field : node.fields) {
      if (field.kind == Field::Kind::kComputed) node.has_computed = true;
      if (field.kind != Field::Kind::kNested) continue;
      Finish(*field.nested, mode);
      node.has_computed |= field.nested->has_computed;
    }
  }

  ProjectionKind kind_;
  const QueryContext& context_;
  ParseScope scope_;
  std::unique_ptr<Node> root_;
  std::optional<Mode> type_;
  bool id_included_ = false;
  bool has_elem_match_ = false;
  bool has_meta_ = false;
  bool needs_filter_ = false;
};

}  // namespace

absl::StatusOr<Parsed> ParseProjection(View spec, ProjectionKind kind,
                                       const QueryContext& context) {
  return ProjectionParser(kind, context).Parse(spec);
}

}  // namespace evenkeel::query::project
