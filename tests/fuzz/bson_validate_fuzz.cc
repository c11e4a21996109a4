// Fuzzes BSON validation: what it accepts must be readable through every view without a step
// outside the bytes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/bson/hash.h"
#include "base/bson/json.h"
#include "base/bson/validate.h"
#include "base/bson/view.h"
#include "base/check.h"
#include "base/status.h"

namespace evenkeel::bson {
namespace {

// Touches every byte, so that the address sanitizer sees each of them.
unsigned Sum(std::string_view bytes) {
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  return sum;
}

unsigned Walk(View document);

unsigned WalkValue(Value value) {
  switch (value.type()) {
    case Type::kString:
    case Type::kSymbol:
    case Type::kCode:
      return Sum(value.AsString());
    case Type::kObject:
    case Type::kArray:
      return Walk(value.AsDocument());
    case Type::kBinary:
      return Sum(value.AsBinary().bytes);
    case Type::kRegex:
      return Sum(value.AsRegex().pattern) + Sum(value.AsRegex().options);
    case Type::kDbPointer:
      return Sum(value.AsDbPointerNamespace()) + Sum(value.AsDbPointerId());
    case Type::kCodeWithScope:
      return Sum(value.AsCodeWithScopeCode()) + Walk(value.AsCodeWithScopeScope());
    default:
      return value.SizeBytes() == 0 ? 0 : Sum(value.Bytes());
  }
}

unsigned Walk(View document) {
  unsigned sum = Sum(document.Bytes());
  for (const Element& element : document) sum += Sum(element.key) + WalkValue(element.value);
  return sum;
}

void CheckOne(std::string_view bytes) {
  if (!Validate(bytes).ok()) return;
  const View document(bytes.data());
  volatile unsigned sink = Walk(document);
  (void)sink;
  EVENKEEL_CHECK(CompareDocuments(document, document) == 0);
  Builder copy;
  for (const Element& element : document) copy.Append(element.key, element.value);
  EVENKEEL_CHECK(copy.Finish().bytes() == bytes);
  const Value whole(Type::kObject, document.data());
  EVENKEEL_CHECK(ToDisplay(whole, 100).size() <= 103);
  EVENKEEL_CHECK(HashValue(whole) == HashValue(whole));
  EVENKEEL_CHECK(!ToJson(document).empty());
  // Reading back what was printed may fail (a field may look like a wrapper), but must not crash.
  (void)FromJson(ToCanonicalJson(document)).ok();
}

}  // namespace
}  // namespace evenkeel::bson

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy that ends where its allocation does.
  const auto copy = std::make_unique<char[]>(size);
  std::string_view(reinterpret_cast<const char*>(data), size).copy(copy.get(), size);
  evenkeel::bson::CheckOne({copy.get(), size});
  return 0;
}
