// Searches the documents of a write statement: the first ones that match, or all of them slice by
// slice.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "base/hash_map.h"
#include "shard/command/scan.h"
#include "shard/command/write_statement.h"

namespace evenkeel::shard {

// A document that matched in some slice.
struct Candidate {
  std::string doc_key;
  Timestamp version;        // of that slice; zero: nothing is known, look it up
  bson::Document document;  // empty where only the key is known
};

// Searched ahead for a single-document statement: the writer takes the first that still matches.
inline constexpr size_t kCandidatesMax = 16;

// The first matches in the statement's sort order, at the latest durable state; only the first has
// its document. Empty: nothing matches. Errors: of $expr; MaxTimeMSExpired, Interrupted.
// Suspends: between slices.
Awaitable<absl::StatusOr<std::vector<Candidate>>> FindFirst(CommandContext& context,
                                                            const WriteStatement& statement);

// A search that has ended because the collection went away or changed its place (QueryPlanKilled)
// has done nothing yet: StaleConfig, so that the router routes the statement again.
absl::Status BeforeAnyChange(const absl::Status& status);

// All matches of a multi-document statement, some at a time, each document at most once. An index
// plan collects the keys first, so that the statement's own writes cannot bring a document back.
class AllCandidates {
 public:
  static absl::StatusOr<std::unique_ptr<AllCandidates>> Start(CommandContext& context,
                                                              const WriteStatement& statement);
  ~AllCandidates();
  // Up to a slice of them; empty at the end. Errors: as FindFirst. Suspends: between slices.
  Awaitable<absl::StatusOr<std::vector<Candidate>>> Next(CommandContext& context);
  // The statement has moved documents to these keys: they are not shown again. Errors:
  // ExceededMemoryLimit.
  absl::Status Skip(std::vector<std::string> doc_keys);

 private:
  AllCandidates() = default;
  Awaitable<absl::Status> CollectKeys(CommandContext& context);
  absl::StatusOr<bool> AddMatches(const CommandContext& context, std::vector<Candidate>* out);
  void AddKeys(const storage::ReadSlice& slice, std::vector<Candidate>* out);

  const WriteStatement* statement_ = nullptr;
  std::vector<query::IndexDescription> indexes_;
  std::unique_ptr<Scan> scan_;
  bool keys_first_ = false;
  bool ended_ = false;
  std::vector<std::string> keys_;
  size_t next_key_ = 0;
  base::StringSet moved_;
  size_t moved_bytes_ = 0;
};

}  // namespace evenkeel::shard
