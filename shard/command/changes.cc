// Notes changes, hands them out, takes them over.
#include "shard/command/changes.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/fail_point.h"
#include "base/status.h"
#include "shard/command/write_task.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"

namespace evenkeel::shard {
namespace {

using storage::Table;

constexpr size_t kNotesPerReply = 1000;
constexpr size_t kReplyBytes = 8u << 20;
// Documents of one task on the writer: it becomes one record of the log.
constexpr size_t kTaskBytes = 4u << 20;
constexpr size_t kHashBytes = sizeof(int64_t);

// The same place of a collection with another id.
std::string PlaceIn(CollectionId id, std::string_view place) {
  return storage::DocPrefix(id).append(storage::WithoutCollection(place));
}

// Notes may lie under the id that names the copy; ages lie under the one behind it, clashes under
// the next: ids of the copy's indexes, or allocated for this.
CollectionId Behind(const catalog::CollectionEntry& copy, uint64_t distance) {
  const CollectionId id = copy.moves_ranges() ? copy.copied_to->id : copy.id;
  return CollectionId{id.value + distance};
}
CollectionId AgesOf(const catalog::CollectionEntry& copy) { return Behind(copy, 1); }
CollectionId ClashesOf(const catalog::CollectionEntry& copy) { return Behind(copy, 2); }

std::string EncodeInt64(int64_t number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}
int64_t DecodeInt64(std::string_view bytes) {
  int64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

// ---- handing out ----

// One note: {k: place, t: its age, h: hash of the shard key of the copy, d: the document}; without
// d where the document is not there any more. Errors: of the place of a document in the copy.
absl::Status AppendNote(const storage::ReadSlice& slice, const catalog::CollectionEntry& entry,
                        std::string_view place, const storage::Record& note, bson::Builder* out) {
  const std::string_view doc_key = note.value.substr(kHashBytes);
  int64_t age = static_cast<int64_t>(note.commit_timestamp.bits);
  bson::View document;
  const auto stored = slice.Get(Table::kDocs, doc_key);
  if (stored) {
    const bson::View now(stored->value.data());
    EVENKEEL_ASSIGN_OR_RETURN(const catalog::Placement there, entry.PlaceInCopy(now));
    if (storage::WithoutCollection(there.key) == storage::WithoutCollection(place)) {
      document = now;
      age = static_cast<int64_t>(stored->commit_timestamp.bits);
    }
  }
  out->AppendBinary("k", 0, place).Append("n", static_cast<int64_t>(note.commit_timestamp.bits));
  out->Append("t", age).Append("h", DecodeInt64(note.value));
  if (!document.empty()) out->Append("d", document);
  return absl::OkStatus();
}

// True when there are more.
absl::StatusOr<bool> AppendNotes(CommandContext& context, const Collection& collection,
                                 std::string_view after, bson::Builder* reply) {
  const storage::ReadSlice slice = context.service.store().Read();
  const CollectionId id = collection.entry->copied_to->id;
  const auto cursor = slice.NewCursor(Table::kChanges);
  cursor->Seek(after.empty() ? storage::DocPrefix(id) : std::string(after) + '\0',
               storage::DocPrefixEnd(id));
  bson::ArrayAppender rows(*reply);
  for (size_t count = 0; cursor->Valid(); cursor->Next(), ++count) {
    if (count == kNotesPerReply || reply->SizeBytes() > kReplyBytes) return true;
    reply->OpenDocument(rows.NextKey());
    EVENKEEL_RETURN_IF_ERROR(
        AppendNote(slice, *collection.entry, cursor->key(), cursor->record(), reply));
    reply->Close();
  }
  return false;
}

// ---- forgetting ----

class ForgetTask final : public WriteTask {
 public:
  void Add(std::string_view place, int64_t age) {
    bytes_ += place.size() + 64;
    notes_.emplace_back(place, age);
  }
  void Execute(storage::WriteContext& context) override {
    for (const auto& [place, age] : notes_) {
      const auto note = context.Get(Table::kChanges, place);
      if (note && static_cast<int64_t>(note->commit_timestamp.bits) == age) {
        context.Remove(Table::kChanges, place);
      }
    }
  }
  size_t SizeBytes() const override { return bytes_; }
  bool IsEssential() const override { return true; }

 private:
  std::vector<std::pair<std::string, int64_t>> notes_;
  size_t bytes_ = 1024;
};

// ---- taking over ----

struct Note {
  std::string place;
  int64_t age = 0;
  std::optional<PreparedDocument> document;
};

class ApplyTask final : public WriteTask {
 public:
  explicit ApplyTask(const Collection& collection) : collection_(collection) {}

  void Add(Note note) {
    bytes_ += note.place.size() * 2 + 256;
    if (note.document) bytes_ += note.document->document.SizeBytes() * 2;
    notes_.push_back(std::move(note));
  }
  bool IsFull() const { return bytes_ >= kTaskBytes; }

  void Execute(storage::WriteContext& context) override {
    const size_t mark = context.Mark();
    status = CheckSameVersion(context, collection_);
    // What goes first makes room for what comes: unique values may have changed hands.
    for (const Note& note : notes_) {
      if (status.ok() && IsNews(context, note)) status = RemoveOld(context, note);
    }
    for (const Note& note : notes_) {
      if (status.ok() && IsNews(context, note)) status = TakeOver(context, note);
    }
    if (!status.ok()) context.RollBackTo(mark);
  }
  size_t SizeBytes() const override { return bytes_; }

  absl::Status status;

 private:
  bool IsNews(storage::WriteContext& context, const Note& note) const {
    const auto stored = context.Get(Table::kChanges, AgeKey(note));
    if (!stored) return true;
    const int64_t age = DecodeInt64(stored->value);
    return note.document ? note.age >= age : note.age > age;
  }

  std::string AgeKey(const Note& note) const {
    return PlaceIn(AgesOf(*collection_.entry), note.place);
  }

  absl::Status RemoveOld(storage::WriteContext& context, const Note& note) {
    const auto stored = context.Get(Table::kDocs, note.place);
    if (!stored) return absl::OkStatus();
    const bson::Document copy{bson::View(stored->value.data())};
    PreparedDocument old{copy.view(), {}};
    EVENKEEL_ASSIGN_OR_RETURN(old.records, RecordsOf(*collection_.entry, old.document));
    return InstallRemove(context, collection_, old);
  }

  absl::Status TakeOver(storage::WriteContext& context, const Note& note) {
    EVENKEEL_RETURN_IF_ERROR(RemoveOld(context, note));
    if (note.document) {
      EVENKEEL_RETURN_IF_ERROR(InstallInsert(context, collection_, *note.document));
    }
    context.Put(Table::kChanges, AgeKey(note), EncodeInt64(note.age));
    return absl::OkStatus();
  }

  const Collection& collection_;
  std::vector<Note> notes_;
  size_t bytes_ = 1024;
};

absl::StatusOr<Note> NoteFrom(const Collection& collection, bson::View row) {
  const bson::Value place = row["k"], age = row["t"], document = row["d"];
  if (!place.Is(bson::Type::kBinary) || !age.Is(bson::Type::kInt64)) {
    return MakeError(ErrorCode::kInvalidOptions, "_applyChanges has a damaged note");
  }
  Note note;
  note.place = PlaceIn(collection.entry->id, place.AsBinary().bytes);
  note.age = age.AsInt64();
  if (document.Is(bson::Type::kObject)) {
    note.document.emplace();
    note.document->document = document.AsDocument();
    EVENKEEL_ASSIGN_OR_RETURN(note.document->records,
                              RecordsOf(*collection.entry, document.AsDocument()));
  }
  return note;
}

// ---- clashes ----

// False for what the same move takes away.
bool StaysHere(const Collection& collection, std::string_view doc_key) {
  if (!collection.entry->moves_ranges()) return true;
  const auto hashes =
      storage::DecodeHash(storage::WithoutCollection(doc_key), collection.entry->placed_by());
  return collection.next->Owns(collection.shard, hashes.first);
}

absl::Status CheckNoClash(const storage::ReadSlice& slice, const Collection& collection,
                          std::string_view doc_key) {
  const auto stored = slice.Get(Table::kDocs, doc_key);
  if (!stored) return absl::OkStatus();
  const bson::View document(stored->value.data());
  EVENKEEL_ASSIGN_OR_RETURN(const DocumentRecords records, RecordsOf(*collection.entry, document));
  for (const IndexRecord& record : records.indexes) {
    if (!record.index->unique) continue;
    const std::string_view prefix = std::string_view(record.key).substr(0, record.prefix_bytes);
    const auto cursor = slice.NewCursor(Table::kIndex);
    for (cursor->SeekPrefix(prefix); cursor->Valid(); cursor->Next()) {
      const std::string holder =
          storage::DocKeyOfIndexRecord(collection.entry->id, cursor->key(), cursor->record().value);
      if (holder == doc_key || !StaysHere(collection, holder)) continue;
      return Error(ErrorCode::kDuplicateKey,
                   "E11000 several documents of '{}' with one value in the unique index '{}' would "
                   "lie on shard{}: _id {}",
                   collection.entry->ns, record.index->name, collection.shard.value,
                   bson::ToDisplay(document["_id"]));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNoClashes(CommandContext& context, const Collection& collection) {
  const storage::ReadSlice slice = context.service.store().Read();
  const storage::TableRange noted = storage::DocsOf(ClashesOf(*collection.entry));
  const auto cursor = slice.NewCursor(Table::kChanges);
  for (cursor->Seek(noted.begin, noted.end); cursor->Valid(); cursor->Next()) {
    EVENKEEL_RETURN_IF_ERROR(CheckNoClash(slice, collection, cursor->record().value));
  }
  return absl::OkStatus();
}

}  // namespace

void NoteChange(storage::WriteContext& context, const Collection& collection,
                const PreparedDocument& document) {
  const catalog::CollectionEntry& entry = *collection.entry;
  if (!entry.copied_to) return;
  // Of what belongs to another shard that one has the copy.
  if (!collection.Owns(document.records.hash)) return;
  if (entry.moves_ranges() && !collection.Leaves(document.records.hash)) return;
  // A document that has no place in the copy is noted under none: the job meets it there and fails.
  catalog::Placement place;
  if (auto there = entry.PlaceInCopy(document.document); there.ok()) place = *std::move(there);
  std::string value = EncodeInt64(place.hash);
  value.append(document.records.doc_key);
  context.Put(Table::kChanges, PlaceIn(entry.copied_to->id, place.key), value);
}

void NoteClash(storage::WriteContext& context, const catalog::CollectionEntry& copy,
               std::string_view doc_key) {
  context.Put(Table::kChanges, PlaceIn(ClashesOf(copy), doc_key), doc_key);
}

void ForgetAges(storage::WriteContext& context, const catalog::CollectionEntry& copy) {
  context.RemoveRange(Table::kChanges, storage::DocsOf(AgesOf(copy)));
  context.RemoveRange(Table::kChanges, storage::DocsOf(ClashesOf(copy)));
}

void ForgetNotes(storage::WriteContext& context, const catalog::CopyTarget& copy) {
  context.RemoveRange(Table::kChanges, storage::DocsOf(copy.id));
}

Awaitable<CommandResult> ChangesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  if (!collection.entry->copied_to) {
    co_return Error(ErrorCode::kIllegalOperation, "collection {} is not being copied",
                    collection.entry->ns);
  }
  std::string after;
  if (const bson::Value value = context.body()["after"]; value.Is(bson::Type::kBinary)) {
    after = std::string(value.AsBinary().bytes);
  }
  const auto home = context.service.executor();
  co_await base::SwitchTo(context.service.pool());
  bson::Builder reply;
  reply.OpenArray("notes");
  const absl::StatusOr<bool> more = AppendNotes(context, collection, after, &reply);
  co_await base::SwitchTo(home);
  EVENKEEL_CO_RETURN_IF_ERROR(more.status());
  reply.Close().Append("more", *more);
  co_return reply.Finish();
}

Awaitable<CommandResult> ForgetChangesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> notes, context.Documents("notes"));
  const auto task = std::make_shared<ForgetTask>();
  for (const bson::View note : notes) {
    const bson::Value place = note["k"], age = note["n"];
    if (!place.Is(bson::Type::kBinary) || !age.Is(bson::Type::kInt64)) {
      co_return MakeError(ErrorCode::kInvalidOptions, "_forgetChanges has a damaged note");
    }
    task->Add(place.AsBinary().bytes, age.AsInt64());
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(context, task));
  co_return bson::Document();
}

Awaitable<CommandResult> ApplyChangesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> notes, context.Documents("notes"));
  for (size_t next = 0; next < notes.size();) {
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
    (void)EVENKEEL_FAIL_POINT(shard_move_between_slices);
    const auto task = std::make_shared<ApplyTask>(collection);
    for (; next < notes.size() && !task->IsFull(); ++next) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(Note note, NoteFrom(collection, notes[next]));
      task->Add(std::move(note));
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(context, task));
    EVENKEEL_CO_RETURN_IF_ERROR(task->status);
  }
  co_return bson::Document();
}

Awaitable<CommandResult> CheckClashesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  const auto home = context.service.executor();
  co_await base::SwitchTo(context.service.pool());
  const absl::Status status = CheckNoClashes(context, collection);
  co_await base::SwitchTo(home);
  EVENKEEL_CO_RETURN_IF_ERROR(status);
  co_return bson::Document();
}

}  // namespace evenkeel::shard
