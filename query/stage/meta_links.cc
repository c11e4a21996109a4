// Rewriting of pipelines that read metadata.
#include "query/stage/meta_links.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/expr/meta.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

// Kinds of metadata, bit i for kMetaKinds[i].
using Kinds = uint32_t;

constexpr size_t kKindCount = std::size(kMetaKinds);

constexpr Kinds KindNamed(std::string_view name) {
  for (size_t i = 0; i < kKindCount; ++i) {
    if (kMetaKinds[i].name == name) return Kinds{1} << i;
  }
  return 0;
}
constexpr Kinds kScore = KindNamed("score"), kDetails = KindNamed("scoreDetails"),
                kSortKey = KindNamed("sortKey"), kRecordId = KindNamed("recordId"),
                kIndexKey = KindNamed("indexKey");

bool IsIn(Kinds kinds, bson::Value meta) {
  const std::string_view name = MetaKindOf(meta);
  return !name.empty() && (KindNamed(name) & kinds) != 0;
}

std::string_view NameOfStage(bson::Value stage) {
  return stage.Is(Type::kObject) ? stage.AsDocument().Front().key : std::string_view();
}

Kinds ReadBy(bson::Value stage) {
  const std::string_view name = NameOfStage(stage);
  if (name == "$lookup" || name == "$unionWith" || MakesScores(name)) return 0;
  Kinds kinds = 0;
  for (const MetaKind& kind : kMetaKinds) {
    if (ReadsMeta(stage, kind.name)) kinds |= KindNamed(kind.name);
  }
  return kinds;
}

Kinds MadeBy(bson::Value stage) {
  const std::string_view name = NameOfStage(stage);
  if (name == "$sort") return kSortKey;
  if (!MakesScores(name)) return 0;
  const bson::Value spec = stage.AsDocument().Front().value;
  const bool details = spec.Is(Type::kObject) && bson::Truthy(spec.AsDocument()["scoreDetails"]);
  return details ? kScore | kDetails : kScore;
}

// What of the metadata made so far each stage reads, and what is still read behind it.
struct Use {
  Kinds reads = 0, later = 0;
};

// Appends the value with every {$meta: kind} of `kinds` replaced by the path of its field.
void AppendLinked(bson::Builder& out, std::string_view key, bson::Value value, Kinds kinds) {
  if (IsIn(kinds, value)) {
    out.Append(key, std::string("$").append(MetaField(MetaKindOf(value))));
  } else if (value.Is(Type::kObject)) {
    out.OpenDocument(key);
    for (const auto& [inner, element] : value.AsDocument())
      AppendLinked(out, inner, element, kinds);
    out.Close();
  } else if (value.Is(Type::kArray)) {
    out.OpenArray(key);
    for (const auto& [inner, element] : value.AsDocument())
      AppendLinked(out, inner, element, kinds);
    out.Close();
  } else {
    out.Append(key, value);
  }
}

void AppendUnset(bson::Builder& out, std::string_view key, Kinds kinds) {
  out.OpenDocument(key).OpenArray("$unset");
  bson::ArrayAppender fields(out);
  for (const MetaKind& kind : kMetaKinds) {
    if ((KindNamed(kind.name) & kinds) != 0) fields.Add(kind.field);
  }
  out.Close().Close();
}

// Scores sort from the best one on; other metadata do not sort.
void AppendOrder(bson::Builder& out, std::string_view key, bson::View order, Kinds kinds) {
  out.OpenDocument(key);
  for (const auto& [field, direction] : order) {
    if (IsIn(kinds & (kScore | kDetails), direction)) {
      out.Append(MetaField(MetaKindOf(direction)), int32_t{-1});
    } else {
      out.Append(field, direction);
    }
  }
  out.Close();
}

// Branches see the metadata, and give none on.
void AppendFacet(bson::Builder& out, bson::View branches, Kinds kinds) {
  out.OpenDocument("$facet");
  for (const auto& [name, stages] : branches) {
    if (!stages.Is(Type::kArray)) {
      out.Append(name, stages);
      continue;
    }
    out.OpenArray(name);
    bson::ArrayAppender array(out);
    for (const bson::Element& stage : stages.AsDocument()) {
      AppendLinked(out, array.NextKey(), stage.value, kinds);
    }
    AppendUnset(out, array.NextKey(), kinds);
    out.Close();
  }
  out.Close();
}

// True for a $project that names what stays.
bool NamesWhatStays(bson::View project) {
  for (const auto& [field, value] : project) {
    if (field == "_id") continue;
    const bool flag = value.IsNumber() || value.Is(Type::kBool);
    return !flag || bson::Truthy(value);
  }
  return bson::Truthy(project["_id"]);
}

void AppendProject(bson::Builder& out, bson::View project, const Use& use) {
  out.OpenDocument("$project");
  for (const auto& [field, value] : project) {
    AppendLinked(out, field, value, use.reads | use.later);
  }
  for (const MetaKind& kind : kMetaKinds) {
    const bool carried = (KindNamed(kind.name) & use.later) != 0;
    if (carried && NamesWhatStays(project)) out.Append(kind.field, int32_t{1});
  }
  out.Close();
}

// A stage that makes scores, told to keep them.
void AppendScoring(bson::Builder& out, const bson::Element& stage) {
  out.OpenDocument(stage.key);
  out.AppendFields(stage.value.AsDocument());
  if (!stage.value.AsDocument().Contains(kKeepScoreOption)) out.Append(kKeepScoreOption, true);
  out.Close();
}

void AppendStage(bson::Builder& out, std::string_view key, bson::Value stage, const Use& use) {
  const bson::Element only = stage.Is(Type::kObject) ? stage.AsDocument().Front() : bson::Element{};
  const Kinds kinds = use.reads | use.later;
  if (kinds == 0 || !only.value.Is(Type::kObject)) {
    AppendLinked(out, key, stage, kinds);
    return;
  }
  out.OpenDocument(key);
  if (MakesScores(only.key) && (use.later & (kScore | kDetails)) != 0) {
    AppendScoring(out, only);
  } else if (only.key == "$sort") {
    AppendOrder(out, "$sort", only.value.AsDocument(), kinds);
  } else if (only.key == "$facet") {
    AppendFacet(out, only.value.AsDocument(), kinds);
  } else if (only.key == "$project") {
    AppendProject(out, only.value.AsDocument(), use);
  } else {
    AppendLinked(out, only.key, only.value, kinds);
  }
  out.Close();
}

void AppendRowMeta(bson::Builder& out, std::string_view key, Kinds kinds) {
  out.OpenDocument(key).OpenDocument(kRowMetaStage);
  out.Append("recordId", (kinds & kRecordId) != 0).Append("indexKey", (kinds & kIndexKey) != 0);
  out.Close().Close();
}

bool IsWindow(bson::Value stage) {
  const std::string_view name = NameOfStage(stage);
  return name == "$limit" || name == "$skip";
}

// What each stage reads of what is made before it, and what is read behind it. Errors: see
// LinkMeta.
absl::StatusOr<std::vector<Use>> UsesOf(const std::vector<bson::Value>& stages) {
  std::vector<Use> uses(stages.size());
  Kinds made = kRecordId | kIndexKey;
  for (size_t i = 0; i < stages.size(); ++i) {
    const Kinds reads = ReadBy(stages[i]);
    if ((reads & kDetails) != 0 && (made & kScore) != 0 && (made & kDetails) == 0) {
      return Error(Location(40218),
                   "query requires scoreDetails metadata, but it is not available");
    }
    uses[i].reads = reads & made;
    if (MakesScores(NameOfStage(stages[i]))) made &= ~(kScore | kDetails);
    made |= MadeBy(stages[i]);
  }
  for (size_t i = stages.size(); i-- > 1;) {
    uses[i - 1].later = uses[i].reads | (uses[i].later & ~MadeBy(stages[i]));
  }
  return uses;
}

// The rewritten pipeline, stage by stage.
class Linker {
 public:
  // A $sort's keys are made behind the $skip and $limit that follow, which may be joined to it.
  void Add(bson::Value stage, const Use& use) {
    if (!order_.empty() && !IsWindow(stage)) AddSortMeta();
    if (NameOfStage(stage) == "$sort" && (use.later & kSortKey) != 0) {
      bson::Builder order;
      AppendOrder(order, "", stage.AsDocument().Front().value.AsDocument(), use.reads | use.later);
      order_ = bson::Document(order.Finish()[""].AsDocument());
    }
    AppendStage(out_, array_.NextKey(), stage, use);
    if (const Kinds gone = use.reads & ~use.later; gone != 0) {
      AppendUnset(out_, array_.NextKey(), gone);
    }
  }
  void AddRowMeta(Kinds kinds) { AppendRowMeta(out_, array_.NextKey(), kinds); }
  bson::Document Finish() { return out_.Finish(); }

 private:
  void AddSortMeta() {
    out_.OpenDocument(array_.NextKey()).AppendDocument(kSortMetaStage, order_.view()).Close();
    order_ = {};
  }

  bson::Builder out_;
  bson::ArrayAppender array_{out_};
  bson::Document order_;  // of a $sort whose keys are still to be made
};

}  // namespace

bool MakesScores(std::string_view stage) {
  return stage == "$rankFusion" || stage == "$score" || stage == "$scoreFusion";
}

absl::StatusOr<std::optional<bson::Document>> LinkMeta(bson::View stages) {
  std::vector<bson::Value> list;
  for (const bson::Element& stage : stages) {
    const std::string_view name = NameOfStage(stage.value);
    if (name.starts_with("$_")) return std::nullopt;
    const bool has_spec = !name.empty() && stage.value.AsDocument().Front().value.Is(Type::kObject);
    if ((name == "$sort" || MakesScores(name)) && !has_spec)
      return std::nullopt;  // its parser says
    list.push_back(stage.value);
  }
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<Use> uses, UsesOf(list));
  const auto reads = [](const Use& use) { return use.reads != 0; };
  const auto first = std::find_if(uses.begin(), uses.end(), reads);
  if (first == uses.end()) return std::nullopt;
  const Kinds from_source =
      (uses[0].reads | (uses[0].later & ~MadeBy(list[0]))) & (kRecordId | kIndexKey);
  // Behind the filter, so that it can use an index.
  const auto is_match = [](bson::Value stage) { return NameOfStage(stage) == "$match"; };
  const auto filters = std::find_if_not(list.begin(), list.end(), is_match) - list.begin();
  const auto source_at = static_cast<size_t>(std::min(filters, first - uses.begin()));
  Linker linker;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i == source_at && from_source != 0) linker.AddRowMeta(from_source);
    linker.Add(list[i], uses[i]);
  }
  return linker.Finish();
}

}  // namespace evenkeel::query::stage
