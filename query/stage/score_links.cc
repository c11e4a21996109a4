// Rewriting of pipelines that read scores.
#include "query/stage/score_links.h"

#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/exec/scores.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

// "score" or "scoreDetails" when the value is {$meta: that}, else empty.
std::string_view MetaKind(bson::Value value) {
  if (!value.Is(Type::kObject)) return {};
  const bson::Element only = value.AsDocument().Front();
  if (only.key != "$meta" || !only.value.Is(Type::kString)) return {};
  const std::string_view kind = only.value.AsString();
  return kind == "score" || kind == "scoreDetails" ? kind : std::string_view();
}

bool ReadsMeta(bson::Value value, std::string_view kind) {
  if (MetaKind(value) == kind) return true;
  if (!value.Is(Type::kObject) && !value.Is(Type::kArray)) return false;
  for (const bson::Element& element : value.AsDocument()) {
    if (ReadsMeta(element.value, kind)) return true;
  }
  return false;
}

bool ReadsScores(bson::Value stage) {
  return ReadsMeta(stage, "score") || ReadsMeta(stage, "scoreDetails");
}

std::string_view NameOfStage(bson::Value stage) {
  return stage.Is(Type::kObject) ? stage.AsDocument().Front().key : std::string_view();
}

// Appends the value with every {$meta: kind} replaced: by the path of its field, or in a $sort by
// its falling order.
void AppendLinked(bson::Builder& out, std::string_view key, bson::Value value) {
  if (const std::string_view kind = MetaKind(value); !kind.empty()) {
    out.Append(key, std::string("$").append(kind == "score" ? kScoreField : kScoreDetailsField));
  } else if (value.Is(Type::kObject)) {
    out.OpenDocument(key);
    for (const auto& [inner, element] : value.AsDocument()) AppendLinked(out, inner, element);
    out.Close();
  } else if (value.Is(Type::kArray)) {
    out.OpenArray(key);
    for (const auto& [inner, element] : value.AsDocument()) AppendLinked(out, inner, element);
    out.Close();
  } else {
    out.Append(key, value);
  }
}

void AppendUnset(bson::Builder& out, std::string_view key) {
  out.OpenDocument(key).OpenArray("$unset");
  out.Append("0", kScoreField).Append("1", kScoreDetailsField).Close().Close();
}

void AppendSort(bson::Builder& out, std::string_view key, bson::View order) {
  out.OpenDocument(key).OpenDocument("$sort");
  for (const auto& [field, direction] : order) {
    const std::string_view kind = MetaKind(direction);
    if (kind.empty()) {
      out.Append(field, direction);
    } else {
      out.Append(kind == "score" ? kScoreField : kScoreDetailsField, int32_t{-1});
    }
  }
  out.Close().Close();
}

// Branches see the scores, and give none on.
void AppendFacet(bson::Builder& out, std::string_view key, bson::View branches) {
  out.OpenDocument(key).OpenDocument("$facet");
  for (const auto& [name, stages] : branches) {
    if (!stages.Is(Type::kArray)) {
      out.Append(name, stages);
      continue;
    }
    out.OpenArray(name);
    bson::ArrayAppender array(out);
    for (const bson::Element& stage : stages.AsDocument()) {
      AppendLinked(out, array.NextKey(), stage.value);
    }
    AppendUnset(out, array.NextKey());
    out.Close();
  }
  out.Close().Close();
}

// True for a $project that names what stays.
bool NamesWhatStays(bson::View project) {
  for (const auto& [field, value] : project) {
    if (field == "_id") continue;
    const bool flag = value.IsNumber() || value.Is(Type::kBool);
    return !flag || bson::Truthy(value);
  }
  return false;
}

void AppendProject(bson::Builder& out, std::string_view key, bson::View project, bool carry) {
  out.OpenDocument(key).OpenDocument("$project");
  for (const auto& [field, value] : project) AppendLinked(out, field, value);
  if (carry && NamesWhatStays(project)) {
    out.Append(kScoreField, int32_t{1}).Append(kScoreDetailsField, int32_t{1});
  }
  out.Close().Close();
}

// `carry`: a later stage reads the scores, too.
void AppendReader(bson::Builder& out, std::string_view key, bson::Value stage, bool carry) {
  const bson::Element only = stage.AsDocument().Front();
  if (!only.value.Is(Type::kObject)) {
    AppendLinked(out, key, stage);
  } else if (only.key == "$sort") {
    AppendSort(out, key, only.value.AsDocument());
  } else if (only.key == "$facet") {
    AppendFacet(out, key, only.value.AsDocument());
  } else if (only.key == "$project") {
    AppendProject(out, key, only.value.AsDocument(), carry);
  } else {
    AppendLinked(out, key, stage);
  }
}

// A stage that makes scores, told to keep them.
void AppendScoring(bson::Builder& out, std::string_view key, bson::Value stage) {
  const bson::Element only = stage.AsDocument().Front();
  out.OpenDocument(key).OpenDocument(only.key);
  out.AppendFields(only.value.AsDocument());
  if (!only.value.AsDocument().Contains(kKeepScoreOption)) out.Append(kKeepScoreOption, true);
  out.Close().Close();
}

}  // namespace

bool MakesScores(std::string_view stage) {
  return stage == "$rankFusion" || stage == "$score" || stage == "$scoreFusion";
}

absl::StatusOr<std::optional<bson::Document>> LinkScores(bson::View stages) {
  std::vector<bson::Value> list;
  for (const bson::Element& stage : stages) list.push_back(stage.value);
  size_t first = list.size(), last = 0;
  bool details = false;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string_view name = NameOfStage(list[i]);
    if (MakesScores(name)) {
      const bson::Value spec = list[i].AsDocument().Front().value;
      if (!spec.Is(Type::kObject)) return std::nullopt;  // said by its parser
      first = std::min(first, i);
      details = bson::Truthy(spec.AsDocument()["scoreDetails"]);
    } else if (first < i && name != "$lookup" && name != "$unionWith" && ReadsScores(list[i])) {
      last = i;
      if (!details && ReadsMeta(list[i], "scoreDetails")) {
        return Error(Location(40218),
                     "query requires scoreDetails metadata, but it is not available");
      }
    }
  }
  if (last == 0) return std::nullopt;
  bson::Builder out;
  bson::ArrayAppender array(out);
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > last || i < first) {
      array.Add(list[i]);
    } else if (MakesScores(NameOfStage(list[i]))) {
      AppendScoring(out, array.NextKey(), list[i]);
    } else {
      AppendReader(out, array.NextKey(), list[i], i < last);
    }
    if (i == last) AppendUnset(out, array.NextKey());
  }
  return out.Finish();
}

}  // namespace evenkeel::query::stage
