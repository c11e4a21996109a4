// Compiles statements and computes their changes.
#include "shard/command/write_statement.h"

#include <utility>

#include "base/bson/sort_keys.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "query/request/update_request.h"
#include "txn/transaction_record.h"

namespace evenkeel::shard {

absl::StatusOr<std::unique_ptr<WriteStatement>> WriteStatement::Compile(
    const CommandContext& context, const Collection& collection, const StatementSpec& spec) {
  auto out = std::unique_ptr<WriteStatement>(new WriteStatement());
  out->collection_ = collection;
  EVENKEEL_ASSIGN_OR_RETURN(out->query_, MakeQueryContext(context, collection));
  if (!spec.collation.empty()) {
    EVENKEEL_ASSIGN_OR_RETURN(out->query_->collation, query::Collation::Get(spec.collation));
  }
  if (!spec.constants.empty()) {
    out->query_->let = query::WithConstants(spec.constants, out->query_->let);
  }
  EVENKEEL_ASSIGN_OR_RETURN(out->filter_, query::Filter::Parse(spec.filter, *out->query_));
  if (!spec.update.missing()) {
    EVENKEEL_ASSIGN_OR_RETURN(out->update_,
                              query::Update::Parse(spec.update, spec.array_filters, *out->query_));
  }
  for (const auto& [index, part] : spec.only) {
    EVENKEEL_ASSIGN_OR_RETURN(
        catalog::Part parsed,
        catalog::Part::FromBson(part.Is(bson::Type::kObject) ? part.AsDocument() : bson::View()));
    out->parts_.push_back(std::move(parsed));
  }
  if (!spec.sort.empty()) {
    EVENKEEL_ASSIGN_OR_RETURN(out->sort_, query::SortPattern::Parse(spec.sort));
  }
  out->may_leave_ = context.transaction != nullptr;
  out->hint_ = spec.hint;
  out->upsert_ = spec.upsert;
  return out;
}

std::optional<std::string> WriteStatement::PinnedDocKey() const {
  const catalog::CollectionEntry& entry = *collection_.entry;
  if (!hint_.missing() || !entry.IsKeyedById()) return std::nullopt;
  const auto ids = filter_.PinnedValues("_id");
  if (!ids || ids->size() != 1) return std::nullopt;
  if (entry.id_collation() != nullptr && bson::HasCollatedOrder(ids->front())) return std::nullopt;
  return entry.DocKeyOfId(ids->front());
}

absl::StatusOr<bool> WriteStatement::Matches(bson::View document) const {
  for (const catalog::Part& part : parts_) {
    if (!part.Contains(document)) return false;
  }
  return filter_.Evaluate(document);
}

absl::StatusOr<WriteStatement::Change> WriteStatement::Apply(bson::View document) const {
  Change change;
  change.old_document = bson::Document(document);
  const bson::View old = change.old_document.view();
  if (is_delete()) {
    change.changed = true;
    EVENKEEL_ASSIGN_OR_RETURN(change.old_records, RecordsOf(*collection_.entry, old));
    return change;
  }
  EVENKEEL_ASSIGN_OR_RETURN(query::UpdateOutcome outcome, update_->Apply(old, &filter_));
  change.changed = outcome.changed;
  if (!outcome.changed) return change;
  change.new_document = std::move(outcome.document);
  EVENKEEL_ASSIGN_OR_RETURN(change.old_records, RecordsOf(*collection_.entry, old));
  EVENKEEL_ASSIGN_OR_RETURN(change.new_records,
                            RecordsOf(*collection_.entry, change.new_document.view()));
  change.leaves = !collection_.Owns(change.new_records.hash);
  if (!change.leaves || may_leave_) return change;
  return Error(txn::kWouldChangeOwningShard, "the update moves a document of '{}' to another shard",
               collection_.entry->ns);
}

absl::StatusOr<WriteStatement::NewDocument> WriteStatement::BuildUpsert() const {
  NewDocument out;
  EVENKEEL_ASSIGN_OR_RETURN(out.document, update_->BuildUpsert(filter_));
  EVENKEEL_ASSIGN_OR_RETURN(out.records, RecordsOf(*collection_.entry, out.document.view()));
  if (collection_.Owns(out.records.hash)) return out;
  return Error(txn::kWouldChangeOwningShard,
               "the upsert inserts a document of '{}' on another shard", collection_.entry->ns);
}

absl::Status WriteStatement::Install(storage::WriteContext& context, const Change& change) const {
  if (!change.changed) return absl::OkStatus();
  const PreparedDocument old{change.old_document.view(), change.old_records};
  if (is_delete() || change.leaves) return InstallRemove(context, collection_, old);
  return InstallReplace(context, collection_, old,
                        {change.new_document.view(), change.new_records});
}

}  // namespace evenkeel::shard
