// One compiled update or delete statement, and what it does to a document: used by readers ahead of
// time and by the writer.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/part.h"
#include "query/match/filter.h"
#include "query/plan/sort_pattern.h"
#include "query/update/update.h"
#include "shard/command/command.h"
#include "shard/command/document_write.h"

namespace evenkeel::shard {

// The statement's own fields, whichever command it came from. Views point into the request.
struct StatementSpec {
  bson::View filter;
  bson::Value update;  // missing: a delete
  bson::View array_filters;
  bson::View sort;
  bson::Value hint;
  bool upsert = false;
  bson::View collation;  // the statement's own
  bson::View constants;  // variables of an update's pipeline
  bson::View only;       // array of parts: what is not in all of them is left out
};

class WriteStatement {
 public:
  static absl::StatusOr<std::unique_ptr<WriteStatement>> Compile(const CommandContext& context,
                                                                 const Collection& collection,
                                                                 const StatementSpec& spec);

  const Collection& collection() const { return collection_; }
  // Goes on with a newer version of the same collection.
  void Reopen(Collection collection) { collection_ = std::move(collection); }
  const query::Filter& filter() const { return filter_; }
  const query::SortPattern& sort() const { return sort_; }
  const bson::Value& hint() const { return hint_; }
  const bson::StringComparator* collation() const { return query_->collation; }
  bool is_delete() const { return !update_.has_value(); }
  bool is_replacement() const {
    return update_ && update_->kind() == query::UpdateKind::kReplacement;
  }
  bool upsert() const { return upsert_; }

  // True when the filter matches. Errors: of $expr.
  absl::StatusOr<bool> Matches(bson::View document) const;

  // The document key when the filter pins it to one: such a statement needs no search.
  std::optional<std::string> PinnedDocKey() const;

  // What becomes of one document: the old one with its records, and the new one.
  struct Change {
    bson::Document old_document;
    DocumentRecords old_records;
    bool changed = false;         // false: nothing to write
    bson::Document new_document;  // not for deletes
    DocumentRecords new_records;
    bool leaves = false;  // the new document belongs to another shard
    bool moved() const {
      return !new_document.empty() && old_records.doc_key != new_records.doc_key;
    }
  };
  // Errors: of the update; txn::kWouldChangeOwningShard when the new place is on another shard and
  // the statement is no part of a transaction.
  absl::StatusOr<Change> Apply(bson::View document) const;
  // The document that an upsert inserts.
  struct NewDocument {
    bson::Document document;
    DocumentRecords records;
  };
  absl::StatusOr<NewDocument> BuildUpsert() const;
  // Installs a change; a document that leaves is removed. Errors: DuplicateKey, WriteConflict.
  absl::Status Install(storage::WriteContext& context, const Change& change) const;

 private:
  WriteStatement() = default;

  Collection collection_;
  std::unique_ptr<query::QueryContext> query_;
  query::Filter filter_;
  std::vector<catalog::Part> parts_;
  std::optional<query::Update> update_;
  query::SortPattern sort_;
  bson::Value hint_;
  bool upsert_ = false;
  bool may_leave_ = false;  // documents may leave for other shards
};

}  // namespace evenkeel::shard
