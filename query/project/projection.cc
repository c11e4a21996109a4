// Implements Projection over the tree of nodes.
#include "query/project/projection.h"

#include <set>

#include "base/status.h"
#include "query/project/node.h"
#include "query/project/parse.h"

namespace evenkeel::query {

using bson::View;

class Projection::Impl {
 public:
  Impl(project::Parsed parsed, const QueryContext& context)
      : parsed_(std::move(parsed)), evaluation_(context) {}

  absl::StatusOr<bson::Document> Apply(View document, const Filter* filter) const {
    project::ApplyContext apply{evaluation_};
    if (parsed_.root->has_computed) evaluation_.Begin(document);
    if (parsed_.needs_filter && filter) {
      apply.position = filter->MatchedPosition(document).value_or(-1);
    }
    bson::Builder builder;
    EVENKEEL_RETURN_IF_ERROR(project::ApplyNode(*parsed_.root, document, apply, builder));
    return builder.Finish();
  }

  std::optional<std::vector<std::string>> NeededFields() const {
    if (parsed_.root->mode != project::Mode::kInclude || parsed_.needs_filter) return std::nullopt;
    std::set<std::string> fields;
    Dependencies dependencies;
    for (const project::Field& field : parsed_.root->fields) {
      if (field.kind == project::Field::Kind::kComputed) {
        field.expression->AddDependencies(dependencies);
      } else if (field.kind != project::Field::Kind::kExclude) {
        fields.insert(field.name);
        if (field.nested) AddNested(*field.nested, &dependencies);
      }
    }
    const std::optional<std::vector<std::string>> read = dependencies.TopLevelFields();
    if (!read) return std::nullopt;
    fields.insert(read->begin(), read->end());
    return std::vector<std::string>(fields.begin(), fields.end());
  }

  bool NeedsFilter() const { return parsed_.needs_filter; }

 private:
  static void AddNested(const project::Node& node, Dependencies* dependencies) {
    for (const project::Field& field : node.fields) {
      if (field.expression) field.expression->AddDependencies(*dependencies);
      if (field.nested) AddNested(*field.nested, dependencies);
    }
  }

  project::Parsed parsed_;
  mutable Evaluation evaluation_;  // scratch memory
};

absl::StatusOr<Projection> Projection::Parse(View spec, ProjectionKind kind,
                                             const QueryContext& context) {
  EVENKEEL_ASSIGN_OR_RETURN(project::Parsed parsed, project::ParseProjection(spec, kind, context));
  return Projection(std::make_unique<Impl>(std::move(parsed), context));
}

Projection::Projection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Projection::Projection(Projection&&) noexcept = default;
Projection& Projection::operator=(Projection&&) noexcept = default;
Projection::~Projection() = default;

absl::StatusOr<bson::Document> Projection::Apply(View document, const Filter* filter) const {
  return impl_->Apply(document, filter);
}

std::optional<std::vector<std::string>> Projection::NeededFields() const {
  return impl_->NeededFields();
}
bool Projection::NeedsFilter() const { return impl_->NeedsFilter(); }

}  // namespace evenkeel::query
