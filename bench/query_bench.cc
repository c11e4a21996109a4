// Measures matching and expressions: processor time and allocations for each document.
//
// query_bench [--rounds 2000000]
// Prints one line per measurement; documents are 1 KB with 24 fields.
#include <fmt/format.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <string_view>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/check.h"
#include "query/expr/expression.h"
#include "query/match/filter.h"

namespace {
std::atomic<uint64_t> allocation_count{0};
}  // namespace

void* operator new(size_t bytes) {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace evenkeel::query {
namespace {

bson::Document Json(std::string_view json) {
  auto document = bson::FromJson(json);
  EVENKEEL_CHECK(document.ok());
  return *std::move(document);
}

// 1 KB: the fields that are asked for lie at its begin, middle and end.
bson::Document MakeDocument() {
  bson::Builder builder;
  builder.Append("_id", int32_t{7}).Append("city", "Berlin").Append("age", int32_t{42});
  for (int i = 0; i < 10; ++i) builder.Append(fmt::format("front{}", i), std::string(36, 'x'));
  builder.OpenDocument("address").Append("street", "Allee").Append("zip", int32_t{10115}).Close();
  for (int i = 0; i < 9; ++i) builder.Append(fmt::format("back{}", i), std::string(36, 'y'));
  builder.Append("score", 3.5);
  return builder.Finish();
}

// Of this thread: what else runs on the machine does not count.
double CpuNanoseconds() {
  timespec now{};
  EVENKEEL_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Runs `work` often and prints what one run costs.
void Measure(std::string_view name, uint64_t rounds, const std::function<void()>& work) {
  for (uint64_t i = 0; i < rounds / 10; ++i) work();
  const uint64_t allocations_before = allocation_count.load();
  const double begin = CpuNanoseconds();
  for (uint64_t i = 0; i < rounds; ++i) work();
  const double spent = CpuNanoseconds() - begin;
  const auto count = static_cast<double>(rounds);
  fmt::print("{:<44} {:>8.1f} ns  {:.3f} allocations\n", name, spent / count,
             static_cast<double>(allocation_count.load() - allocations_before) / count);
}

void MeasureFilter(std::string_view name, std::string_view json, bool expected, uint64_t rounds) {
  const QueryContext context;
  const bson::Document document = MakeDocument(), spec = Json(json);
  const auto filter = Filter::Parse(spec, context);
  EVENKEEL_CHECK(filter.ok());
  Measure(name, rounds, [&] {
    const auto matches = filter->Evaluate(document);
    EVENKEEL_CHECK(matches.ok() && *matches == expected);
  });
}

void MeasureExpression(std::string_view name, std::string_view json, const bson::Document& document,
                       uint64_t rounds) {
  const QueryContext context;
  const bson::Document spec = Json(json);
  const auto expression = Expression::Parse(spec["v"], context);
  EVENKEEL_CHECK(expression.ok());
  Evaluation evaluation(context);
  Measure(name, rounds, [&] {
    evaluation.Begin(document);
    EVENKEEL_CHECK((*expression)->Evaluate(evaluation).ok());
  });
}

void Run(uint64_t rounds) {
  fmt::print("a document of {} bytes\n", MakeDocument().SizeBytes());
  MeasureFilter("match: three fields, true",
                R"({"city": "Berlin", "age": {"$gt": 18}, "score": 3.5})", true, rounds);
  MeasureFilter("match: three fields, the last false",
                R"({"city": "Berlin", "age": {"$gt": 18}, "score": {"$lt": 1}})", false, rounds);
  MeasureFilter("match: a nested field, a list, a range",
                R"({"address.zip": {"$in": [1, 10115]}, "city": {"$ne": "Rome"},
                    "age": {"$gte": 40, "$lt": 50}})",
                true, rounds);
  const bson::Document large = MakeDocument(),
                       small = Json(R"({"_id": 7, "age": 42, "score": 3.5})");
  const std::string_view add = R"({"v": {"$add": ["$age", "$score"]}})";
  MeasureExpression("$add of two fields", add, small, rounds);
  MeasureExpression("$add of two fields, the first and the last", add, large, rounds);
  MeasureExpression("$cond over a comparison",
                    R"({"v": {"$cond": [{"$gt": ["$age", 18]}, "$city", "young"]}})", large,
                    rounds);
}

}  // namespace
}  // namespace evenkeel::query

int main(int argc, char** argv) {
  uint64_t rounds = 2'000'000;
  if (argc == 3 && std::string_view(argv[1]) == "--rounds") {
    rounds = std::strtoull(argv[2], nullptr, 10);
  }
  evenkeel::query::Run(rounds);
  return 0;
}
