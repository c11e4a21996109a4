// Implements the application of a projection's tree.
#include "query/project/node.h"

#include <absl/container/inlined_vector.h>

#include "base/status.h"

namespace evenkeel::query::project {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

absl::Status ApplyNested(const Node& node, std::string_view key, Value value,
                         const ApplyContext& context, bson::Builder& out);

absl::Status AppendComputed(const Field& field, const ApplyContext& context, bson::Builder& out) {
  EVENKEEL_ASSIGN_OR_RETURN(const Value value, field.expression->Evaluate(context.evaluation));
  out.Append(field.name, value);
  return absl::OkStatus();
}

// What becomes of a field of the document that the projection names.
absl::Status ApplyField(const Node& node, const Field& field, Value value,
                        const ApplyContext& context, bson::Builder& out) {
  switch (field.kind) {
    case Field::Kind::kInclude:
      out.Append(field.name, value);
      return absl::OkStatus();
    case Field::Kind::kExclude:
      return absl::OkStatus();
    case Field::Kind::kNested:
      return ApplyNested(*field.nested, field.name, value, context, out);
    case Field::Kind::kComputed:
      // $project puts it behind the included fields.
      return node.mode == Mode::kAdd ? AppendComputed(field, context, out) : absl::OkStatus();
    case Field::Kind::kOperator:
      return field.operation->Apply(field.name, value, context, out);
  }
  return absl::OkStatus();
}

absl::Status ApplyToArray(const Node& node, View array, const ApplyContext& context,
                          bson::Builder& out) {
  bson::ArrayAppender elements(out);
  for (const Element& element : array) {
    const Value value = element.value;
    // Where values are dropped, a key must not be used up.
    const bool nested = value.Is(Type::kObject) || value.Is(Type::kArray);
    if (!nested && node.mode == Mode::kInclude && !node.has_computed) continue;
    EVENKEEL_RETURN_IF_ERROR(ApplyNested(node, elements.NextKey(), value, context, out));
  }
  return absl::OkStatus();
}

absl::Status ApplyNested(const Node& node, std::string_view key, Value value,
                         const ApplyContext& context, bson::Builder& out) {
  if (value.Is(Type::kArray)) {
    out.OpenArray(key);
    EVENKEEL_RETURN_IF_ERROR(ApplyToArray(node, value.AsDocument(), context, out));
    out.Close();
    return absl::OkStatus();
  }
  if (!value.Is(Type::kObject) && !node.has_computed) {
    if (node.mode != Mode::kInclude) out.Append(key, value);
    return absl::OkStatus();
  }
  out.OpenDocument(key);
  EVENKEEL_RETURN_IF_ERROR(
      ApplyNode(node, value.Is(Type::kObject) ? value.AsDocument() : View(), context, out));
  out.Close();
  return absl::OkStatus();
}

constexpr size_t kLinearSearchMax = 8;

}  // namespace

const Field* Node::Find(std::string_view name) const {
  if (fields.size() > kLinearSearchMax) {
    const auto at = index_.find(name);
    return at == index_.end() ? nullptr : &fields[at->second];
  }
  for (const Field& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

Field& Node::FindOrAdd(std::string_view name, bool* made) {
  const auto [at, inserted] = index_.try_emplace(std::string(name), fields.size());
  *made = inserted;
  if (inserted) fields.emplace_back().name = std::string(name);
  return fields[at->second];
}

absl::Status ApplyNode(const Node& node, View document, const ApplyContext& context,
                       bson::Builder& out) {
  absl::InlinedVector<bool, 16> seen(node.fields.size());
  for (const Element& element : document) {
    const Field* field = node.Find(element.key);
    if (!field) {
      if (node.mode != Mode::kInclude) out.Append(element.key, element.value);
      continue;
    }
    seen[static_cast<size_t>(field - node.fields.data())] = true;
    EVENKEEL_RETURN_IF_ERROR(ApplyField(node, *field, element.value, context, out));
  }
  if (!node.has_computed) return absl::OkStatus();
  for (size_t i = 0; i < node.fields.size(); ++i) {
    const Field& field = node.fields[i];
    if (field.kind == Field::Kind::kComputed && !(node.mode == Mode::kAdd && seen[i])) {
      EVENKEEL_RETURN_IF_ERROR(AppendComputed(field, context, out));
    } else if (field.kind == Field::Kind::kNested && !seen[i] && field.nested->has_computed) {
      EVENKEEL_RETURN_IF_ERROR(ApplyNested(*field.nested, field.name, Value(), context, out));
    }
  }
  return absl::OkStatus();
}

}  // namespace evenkeel::query::project
