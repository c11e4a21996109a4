// Walks through all runs of a deterministic test that differ in at most so many deviations.
//
// A run asks Choose at every point where it could go on in several ways; the first way is the
// ordinary one. The explorer goes depth first: every run repeats the beginning of the last one and
// takes another way at its end.
#pragma once

#include <string>
#include <vector>

namespace evenkeel::tests {

// One way to go on.
struct Way {
  std::string name;
  int cost = 0;  // deviations that it costs; the first way of all costs nothing
};

class Explorer {
 public:
  explicit Explorer(int deviations_max) : deviations_max_(deviations_max) {}

  // Prepares the next run. False: there is none.
  bool Next();
  // The way that the run takes.
  //
  // Requires the same ways at the same point of runs with the same beginning.
  size_t Choose(const std::vector<Way>& ways);
  // The names of the ways taken so far, deviations marked.
  std::string Path() const;
  // How often a way with this name has been taken, over all runs.
  int runs() const { return runs_; }

 private:
  struct Point {
    std::vector<int> costs;
    std::string name;
    size_t taken = 0;
  };
  bool Affordable(const Point& point, size_t way) const {
    return spent_ - point.costs[point.taken] + point.costs[way] <= deviations_max_;
  }

  const int deviations_max_;
  std::vector<Point> points_;
  size_t replayed_ = 0;  // points of this run so far
  int spent_ = 0;        // on all of points_
  int runs_ = 0;
};

}  // namespace evenkeel::tests
