// Implements dotted paths.
#include "base/bson/path.h"

namespace evenkeel::bson {

Path::Path(std::string_view dotted) : dotted_(dotted) {
  size_t start = 0;
  while (true) {
    const size_t dot = dotted_.find('.', start);
    const size_t end = dot == std::string::npos ? dotted_.size() : dot;
    parts_.emplace_back(static_cast<uint32_t>(start), static_cast<uint32_t>(end - start));
    if (dot == std::string::npos) return;
    start = dot + 1;
  }
}

Value LookupPlain(View document, const Path& path) {
  Value value(Type::kObject, document.data());
  for (size_t i = 0; i < path.size(); ++i) {
    if (!value.Is(Type::kObject)) return {};
    value = value.AsDocument()[path.part(i)];
  }
  return path.size() == 0 ? Value() : value;
}

bool IsArrayIndex(std::string_view part) {
  if (part.empty() || (part[0] == '0' && part.size() > 1)) return false;
  for (const char c : part) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

}  // namespace evenkeel::bson
