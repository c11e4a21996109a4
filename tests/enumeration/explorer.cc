// Depth-first search by replaying.
#include "tests/enumeration/explorer.h"

#include "base/check.h"

namespace evenkeel::tests {

bool Explorer::Next() {
  EVENKEEL_CHECK(replayed_ == points_.size());
  if (runs_++ == 0) return true;
  replayed_ = 0;
  while (!points_.empty()) {
    Point& last = points_.back();
    for (size_t way = last.taken + 1; way < last.costs.size(); ++way) {
      if (!Affordable(last, way)) continue;
      spent_ += last.costs[way] - last.costs[last.taken];
      last.taken = way;
      return true;
    }
    spent_ -= last.costs[last.taken];
    points_.pop_back();
  }
  --runs_;
  return false;
}

size_t Explorer::Choose(const std::vector<Way>& ways) {
  EVENKEEL_CHECK(!ways.empty() && ways.front().cost == 0);
  if (replayed_ == points_.size()) {
    Point point;
    for (const Way& way : ways) point.costs.push_back(way.cost);
    points_.push_back(std::move(point));
  }
  Point& point = points_[replayed_++];
  EVENKEEL_CHECK(point.costs.size() == ways.size());
  point.name = ways[point.taken].name;
  return point.taken;
}

std::string Explorer::Path() const {
  std::string path;
  for (size_t i = 0; i < replayed_; ++i) {
    const Point& point = points_[i];
    path += (point.taken > 0 ? "\n  * " : "\n    ") + point.name;
  }
  return path;
}

}  // namespace evenkeel::tests
