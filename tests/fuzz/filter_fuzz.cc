// Fuzz target: a filter and a document.
//
// Input: the filter, then the document, both BSON; anything else is ignored. A filter is refused or
// compiled; matching a document gives the same answer twice, and for {$nor: [filter]} the other
// one.
#include <cstdint>
#include <string_view>

#include "base/bson/builder.h"
#include "base/check.h"
#include "query/match/filter.h"
#include "query/plan/bounds.h"
#include "tests/fuzz/documents.h"

namespace evenkeel::query {
namespace {

bool IsDeterministic(std::string_view bytes) {
  return bytes.find("$rand") == bytes.npos && bytes.find("$sampleRate") == bytes.npos &&
         bytes.find("$createObjectId") == bytes.npos;
}

void Run(std::string_view bytes) {
  const auto documents = fuzz::Documents<2>(bytes);
  if (!documents || !IsDeterministic(bytes)) return;
  const auto& [spec, document] = *documents;
  const QueryContext context;
  const auto filter = Filter::Parse(spec, context);
  if (!filter.ok()) return;
  const auto first = filter->Evaluate(document), second = filter->Evaluate(document);
  EVENKEEL_CHECK(first.ok() == second.ok() && (!first.ok() || *first == *second));
  for (const bson::Element& field : document) (void)BoundsOf(*filter, field.key, true);

  bson::Builder negated;
  negated.OpenArray("$nor").Append("0", spec).Close();
  const bson::Document opposite = negated.Finish();
  const auto other = Filter::Parse(opposite, context);
  if (!other.ok() || !first.ok()) return;  // it nests deeper
  const auto answer = other->Evaluate(document);
  EVENKEEL_CHECK(answer.ok() && *answer != *first);
}

}  // namespace
}  // namespace evenkeel::query

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  evenkeel::query::Run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
