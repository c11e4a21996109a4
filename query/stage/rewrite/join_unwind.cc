// $lookup and the $unwind of what it found in one step: no array is made, so its size does not
// matter.
#include "query/stage/rewrite/rules.h"

namespace evenkeel::query::stage {

void JoinUnwinds(StageList& stages) {
  for (size_t i = 0; i + 1 < stages.size(); ++i) {
    if (stages[i + 1]->Unwinds() == nullptr || !stages[i]->TakeUnwind(*stages[i + 1])) continue;
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

}  // namespace evenkeel::query::stage
