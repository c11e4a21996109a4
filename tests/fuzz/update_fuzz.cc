// Fuzz target: an update and a document.
//
// Input: {u: update, f: [array filters]}, then the document, both BSON; anything else is ignored.
// The update is refused or gives a valid document.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "query/update/update.h"
#include "tests/fuzz/documents.h"

namespace evenkeel::query {
namespace {

void Run(std::string_view bytes) {
  const auto documents = fuzz::Documents<2>(bytes);
  if (!documents) return;
  const auto& [statement, document] = *documents;
  const bson::Value filters = statement["f"];
  const QueryContext context;
  const auto update =
      Update::Parse(statement["u"],
                    filters.Is(bson::Type::kArray) ? filters.AsDocument() : bson::View(), context);
  if (!update.ok()) return;
  const auto result = update->Apply(document, nullptr);
  if (!result.ok() || !result->changed) return;
  EVENKEEL_CHECK(bson::Validate(result->document.view().Bytes()).ok());
}

}  // namespace
}  // namespace evenkeel::query

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  evenkeel::query::Run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
