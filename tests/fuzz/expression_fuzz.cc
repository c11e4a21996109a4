// Fuzz target: an expression and a document.
//
// Input: {v: expression}, then the document, both BSON; anything else is ignored. The expression is
// refused, or gives a valid value or an error.
#include <cstdint>
#include <string_view>

#include "base/bson/builder.h"
#include "base/check.h"
#include "query/expr/expression.h"
#include "tests/fuzz/documents.h"

namespace evenkeel::query {
namespace {

void Run(std::string_view bytes) {
  const auto documents = fuzz::Documents<2>(bytes);
  if (!documents) return;
  const auto& [spec, document] = *documents;
  QueryContext context;
  context.now_ms = 1'600'000'000'000;
  const auto expression = Expression::Parse(spec["v"], context);
  if (!expression.ok()) return;
  Dependencies dependencies;
  (*expression)->AddDependencies(dependencies);
  Evaluation evaluation(context);
  evaluation.Begin(document);
  const auto value = (*expression)->Evaluate(evaluation);
  if (!value.ok()) return;
  bson::Builder builder;
  builder.Append("v", *value);
  // Values may nest a level deeper than documents that are stored.
  const bson::Document result = builder.Finish();
  for (const bson::Element& element : result.view()) EVENKEEL_CHECK(element.key == "v");
}

}  // namespace
}  // namespace evenkeel::query

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  evenkeel::query::Run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
