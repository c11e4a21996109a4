// Metadata of rows, which {$meta: …} reads.
//
// A row carries it in fields behind all others, with names that no client uses, from whoever makes
// it to the last reader: query/stage/meta_links.h, query/exec/find_exec.h.
#pragma once

#include <string_view>

#include "base/bson/view.h"

namespace evenkeel::query {

inline constexpr std::string_view kScoreField = "\x01score";
inline constexpr std::string_view kScoreDetailsField = "\x01scoreDetails";
inline constexpr std::string_view kSortMetaField = "\x01sortKey";
inline constexpr std::string_view kRecordIdMetaField = "\x01recordId";
inline constexpr std::string_view kIndexKeyMetaField = "\x01indexKey";

struct MetaKind {
  std::string_view name, field;
};
inline constexpr MetaKind kMetaKinds[] = {{"score", kScoreField},
                                          {"scoreDetails", kScoreDetailsField},
                                          {"sortKey", kSortMetaField},
                                          {"recordId", kRecordIdMetaField},
                                          {"indexKey", kIndexKeyMetaField}};

// The field of a kind; empty for one that no row has.
std::string_view MetaField(std::string_view kind);
// The kind when the value is {$meta: kind} of one that rows have, else empty.
std::string_view MetaKindOf(bson::Value value);
// True when there is a {$meta: kind} anywhere in the value.
bool ReadsMeta(bson::Value value, std::string_view kind);

}  // namespace evenkeel::query
