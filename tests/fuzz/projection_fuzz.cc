// Fuzz target: a projection and a document.
//
// Input: the projection, then the document, both BSON; anything else is ignored. Each kind of
// projection is refused, or gives a valid document or an error.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "query/project/projection.h"
#include "tests/fuzz/documents.h"

namespace evenkeel::query {
namespace {

void Run(std::string_view bytes) {
  const auto documents = fuzz::Documents<2>(bytes);
  if (!documents) return;
  const auto& [spec, document] = *documents;
  const QueryContext context;
  for (const ProjectionKind kind :
       {ProjectionKind::kFind, ProjectionKind::kProjectStage, ProjectionKind::kAddFields}) {
    const auto projection = Projection::Parse(spec, kind, context);
    if (!projection.ok()) continue;
    const auto shown = projection->Apply(document);
    if (shown.ok()) EVENKEEL_CHECK(bson::Validate(shown->view().Bytes()).ok());
  }
}

}  // namespace
}  // namespace evenkeel::query

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  evenkeel::query::Run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
