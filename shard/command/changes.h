// What has changed in a collection while a job copies it: noted with every change, read and taken
// over by the job, forgotten when the copy has it. docs/moving_data.md
//
// A note lies in Table::kChanges under the place that the document has in the copy, so that many
// changes of one document are one note; its own commit timestamp says which change was the last.
// Where copies arrive, the same table holds the age of what arrived last at a place.
#pragma once

#include "shard/command/document_write.h"

namespace evenkeel::shard {

// Notes that this document was put, replaced or removed. Nothing where no job copies the
// collection, nor of a document that a move within it does not concern.
void NoteChange(storage::WriteContext& context, const Collection& collection,
                const PreparedDocument& document);

// Notes that a document which a job brings has the values of another one in a unique index.
void NoteClash(storage::WriteContext& context, const catalog::CollectionEntry& copy,
               std::string_view doc_key);

// Removes the ages of a copy that is complete, or given up.
void ForgetAges(storage::WriteContext& context, const catalog::CollectionEntry& copy);
// Removes the notes of a copy that is complete, or given up.
void ForgetNotes(storage::WriteContext& context, const catalog::CopyTarget& copy);

// _changes: the notes behind a place, each with the document as it is now.
Awaitable<CommandResult> ChangesCommand(CommandContext& context);
// _forgetChanges: notes that the copy has taken over, unless they were renewed.
Awaitable<CommandResult> ForgetChangesCommand(CommandContext& context);
// _applyChanges: takes notes over into the copy. Repeatable, in any order: of two changes at one
// place the later one stays, and a document is not removed by a note of its own age.
Awaitable<CommandResult> ApplyChangesCommand(CommandContext& context);

// _checkClashes: whether documents that the job has brought still have values of others in unique
// indexes. Errors: DuplicateKey.
Awaitable<CommandResult> CheckClashesCommand(CommandContext& context);

}  // namespace evenkeel::shard
