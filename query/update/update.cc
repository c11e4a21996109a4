// Implements Update: choosing the kind, applying it, and building upserts.
#include "query/update/update.h"

#include <optional>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/bson/json.h"
#include "base/bson/validate.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/match/type_names.h"
#include "query/update/array_filters.h"
#include "query/update/pipeline_update.h"
#include "query/update/table.h"
#include "query/update/upsert.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

absl::Status ImmutableId(Value before) {
  return Error(ErrorCode::kImmutableField,
               "Performing an update on the path '_id' would modify the immutable field '_id': {}",
               bson::ToDisplay(before));
}

// Errors: BSONObjectTooLarge, Overflow for nesting past limits::kBsonDepthMax: dotted paths nest as
// deep as they are long.
absl::Status CheckLimits(const bson::Document& document) {
  if (document.SizeBytes() <= static_cast<size_t>(limits::kDocumentBytesMax))
    return bson::Validate(document.view().Bytes(), limits::kBsonDepthMax);
  return Error(ErrorCode::kBSONObjectTooLarge, "Resulting document after update is larger than {}",
               limits::kDocumentBytesMax);
}

}  // namespace

class Update::Impl {
 public:
  Impl(Value update, const QueryContext& context) : source_(update), context_(context) {}

  absl::Status Parse(View array_filters, bool has_array_filters) {
    if (source_.value().Is(Type::kArray)) return ParsePipeline(has_array_filters);
    const View update = source_.value().AsDocument();
    if (update.Front().key.starts_with('$')) return ParseOperators(update, array_filters);
    if (has_array_filters) {
      return Error(ErrorCode::kFailedToParse,
                   "arrayFilters may not be specified for replacement-style updates");
    }
    kind_ = UpdateKind::kReplacement;
    for (const Element& field : update) {
      if (field.key.starts_with('$')) {
        return Error(
            ErrorCode::kDollarPrefixedFieldName,
            "The dollar ($) prefixed field '{}' in '{}' is not allowed in the context of an "
            "update's replacement document. Consider using an aggregation pipeline with "
            "$replaceWith.",
            field.key, field.key);
      }
    }
    return absl::OkStatus();
  }

  UpdateKind kind() const { return kind_; }

  absl::StatusOr<UpdateOutcome> Apply(View document, const Filter* filter) const {
    UpdateOutcome outcome;
    if (kind_ == UpdateKind::kOperators) {
      EVENKEEL_ASSIGN_OR_RETURN(const Value value, ApplyOperators(document, filter, false));
      if (value.data() == document.data()) return outcome;
      outcome.document = bson::Document(value.AsDocument());
    } else {
      EVENKEEL_ASSIGN_OR_RETURN(outcome.document, ApplyWhole(document));
      if (outcome.document.view().Bytes() == document.Bytes()) return outcome;
    }
    outcome.changed = true;
    const Value before = document["_id"];
    if (!before.missing() && bson::Compare(before, outcome.document["_id"]) != 0) {
      return ImmutableId(before);
    }
    EVENKEEL_RETURN_IF_ERROR(CheckLimits(outcome.document));
    return outcome;
  }

  absl::StatusOr<bson::Document> BuildUpsert(const Filter& filter) const {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Document base, update::DocumentFromFilter(filter));
    const Value id = base["_id"];
    bson::Document made;
    if (kind_ == UpdateKind::kOperators) {
      EVENKEEL_ASSIGN_OR_RETURN(const Value value, ApplyOperators(base, nullptr, true));
      made = bson::Document(value.AsDocument());
    } else {
      EVENKEEL_ASSIGN_OR_RETURN(made, ApplyWhole(base));
    }
    if (!id.missing() && bson::Compare(id, made["_id"]) != 0) return ImmutableId(id);
    EVENKEEL_ASSIGN_OR_RETURN(bson::Document out, update::WithIdFirst(made));
    EVENKEEL_RETURN_IF_ERROR(CheckLimits(out));
    return out;
  }

 private:
  absl::Status ParsePipeline(bool has_array_filters) {
    if (has_array_filters) {
      return Error(ErrorCode::kFailedToParse,
                   "arrayFilters may not be specified for pipeline-syle updates");
    }
    kind_ = UpdateKind::kPipeline;
    EVENKEEL_ASSIGN_OR_RETURN(
        pipeline_, update::PipelineUpdate::Parse(source_.value().AsDocument(), context_));
    return absl::OkStatus();
  }

  absl::Status ParseOperators(View update, View array_filters) {
    EVENKEEL_ASSIGN_OR_RETURN(std::vector<update::ArrayFilter> filters,
                              update::ParseArrayFilters(array_filters, context_));
    tree_.emplace(std::move(filters));
    update::Parse parse{context_, *tree_, renames_};
    for (const Element& modifier : update) {
      const update::UpdateOp* op = update::FindOperator(modifier.key);
      if (!op) {
        return Error(
            ErrorCode::kFailedToParse,
            "Unknown modifier: {}. Expected a valid update modifier or pipeline-style update "
            "specified as an array",
            modifier.key);
      }
      if (!modifier.value.Is(Type::kObject)) {
        return Error(
            ErrorCode::kFailedToParse,
            "Modifiers operate on fields but we found type {} instead. For example: {{$mod: "
            "{{<field>: ...}}}} not {{{}: {}}}",
            TypeAlias(modifier.value.type()), modifier.key, bson::ToDisplay(modifier.value));
      }
      for (const Element& field : modifier.value.AsDocument()) {
        EVENKEEL_RETURN_IF_ERROR(op->parse(parse, field));
      }
    }
    return tree_->CheckArrayFiltersUsed();
  }

  absl::StatusOr<Value> ApplyOperators(View document, const Filter* filter, bool inserting) const {
    arena_.Reset();
    update::ApplyContext apply{
        .query = context_, .arena = arena_, .document = document, .inserting = inserting};
    if (tree_->NeedsPosition() && filter) {
      apply.position = filter->MatchedPosition(document).value_or(-1);
    }
    EVENKEEL_RETURN_IF_ERROR(FindMoved(document, &apply.moved));
    return tree_->Apply(apply);
  }

  // Replacements and pipelines.
  absl::StatusOr<bson::Document> ApplyWhole(View document) const {
    if (kind_ == UpdateKind::kReplacement) return Replace(document, source_.value().AsDocument());
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Document made, pipeline_->Apply(document));
    return Replace(document, made);
  }

  // The values that $rename moves. Errors: BadValue for an end inside an array, PathNotViable for a
  // source behind a value.
  absl::Status FindMoved(View document, std::vector<Value>* moved) const {
    for (const update::Rename& rename : renames_) {
      Value value(Type::kObject, document.data());
      for (size_t i = 0; i < rename.from.size() && !value.missing(); ++i) {
        if (value.Is(Type::kArray)) return RenameInArray("source", rename.from, document);
        if (!value.Is(Type::kObject)) {
          return Error(ErrorCode::kPathNotViable,
                       "cannot use the part ({}) of ({}) to traverse the element {}",
                       rename.from.part(i), rename.from.dotted(), bson::ToDisplay(value));
        }
        value = value.AsDocument()[rename.from.part(i)];
      }
      moved->push_back(value);
      Value to(Type::kObject, document.data());
      for (size_t i = 0; i < rename.to.size() && !value.missing(); ++i) {
        if (to.Is(Type::kArray)) return RenameInArray("destination", rename.to, document);
        if (!to.Is(Type::kObject)) break;
        to = to.AsDocument()[rename.to.part(i)];
      }
    }
    return absl::OkStatus();
  }

  static absl::Status RenameInArray(std::string_view end, const bson::Path& path, View document) {
    return Error(ErrorCode::kBadValue,
                 "The {} field cannot be an array element, '{}' in doc with _id: {}", end,
                 path.dotted(), bson::ToDisplay(document["_id"]));
  }

  // The replacement, with the old _id in front.
  bson::Document Replace(View document, View replacement) const {
    const Value given = replacement["_id"];
    bson::Builder builder;
    builder.Append("_id", given.missing() ? document["_id"] : given);
    for (const Element& field : replacement) {
      if (field.key == "_id") continue;
      const bool now = field.value.Is(Type::kTimestamp) && field.value.AsTimestamp().bits == 0;
      if (now) {
        builder.Append(field.key, context_.cluster_time);
      } else {
        builder.Append(field.key, field.value);
      }
    }
    return builder.Finish();
  }

  bson::OwnedValue source_;
  const QueryContext& context_;
  UpdateKind kind_ = UpdateKind::kOperators;
  std::optional<update::Tree> tree_;
  std::vector<update::Rename> renames_;
  std::unique_ptr<update::PipelineUpdate> pipeline_;
  mutable EvalArena arena_;
};

absl::StatusOr<Update> Update::Parse(Value update, View array_filters,
                                     const QueryContext& context) {
  if (!update.Is(Type::kObject) && !update.Is(Type::kArray)) {
    return Error(ErrorCode::kFailedToParse, "Update argument must be either an object or an array");
  }
  auto impl = std::make_unique<Impl>(update, context);
  EVENKEEL_RETURN_IF_ERROR(impl->Parse(array_filters, !array_filters.empty()));
  return Update(std::move(impl));
}

Update::Update(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Update::Update(Update&&) noexcept = default;
Update& Update::operator=(Update&&) noexcept = default;
Update::~Update() = default;

UpdateKind Update::kind() const { return impl_->kind(); }

absl::StatusOr<UpdateOutcome> Update::Apply(View document, const Filter* filter) const {
  return impl_->Apply(document, filter);
}

absl::StatusOr<bson::Document> Update::BuildUpsert(const Filter& filter) const {
  return impl_->BuildUpsert(filter);
}

}  // namespace evenkeel::query
