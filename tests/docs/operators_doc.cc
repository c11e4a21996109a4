// Prints docs/operators.md: what the tables of operators say. No arguments.
#include <fmt/format.h>

#include <string>

#include "query/accum/table.h"
#include "query/expr/table.h"
#include "query/match/table.h"
#include "query/project/table.h"
#include "query/stage/table.h"
#include "query/update/table.h"
#include "query/window/function.h"

namespace evenkeel {
namespace {

using query::expr::ExprOp;

// "a, b, [c]": the names of the arguments, optional ones in brackets; or how many there are.
std::string ArgumentsOf(const ExprOp& op) {
  if (op.named.empty()) {
    if (op.parse != query::expr::ParseArguments) return "";  // a form of its own
    if (op.arity.max < 0)
      return op.arity.min == 0 ? "any number" : fmt::format("{} or more", op.arity.min);
    if (op.arity.min == op.arity.max) return fmt::format("{}", op.arity.min);
    return fmt::format("{} to {}", op.arity.min, op.arity.max);
  }
  std::string names;
  for (const query::expr::NamedArg& arg : op.named) {
    if (!names.empty()) names += ", ";
    names += arg.required ? std::string(arg.name) : fmt::format("[{}]", arg.name);
  }
  return names;
}

void PrintExpressions() {
  fmt::print("## Expressions\n\n| operator | supported | arguments |\n| --- | --- | --- |\n");
  for (const ExprOp* op : query::expr::AllOperators()) {
    const bool supported = op->parse != nullptr;
    fmt::print("| [`{}`](https://www.mongodb.com/docs/v8.0/reference/{}/) | {} | {} |\n", op->name,
               op->spec, supported ? "yes" : "no", supported ? ArgumentsOf(*op) : "");
  }
}

void PrintHead(std::string_view title, std::string_view column) {
  fmt::print("\n## {}\n\n| {} | supported |\n| --- | --- |\n", title, column);
}
template <typename Row>
void PrintRow(const Row& row, bool supported) {
  fmt::print("| [`{}`](https://www.mongodb.com/docs/v8.0/reference/{}/) | {} |\n", row.name,
             row.spec, supported ? "yes" : "no");
}

void PrintOthers() {
  PrintHead("Filters", "operator");
  for (const auto* op : query::match::AllOperators()) {
    PrintRow(*op, op->parse_top != nullptr || op->parse_field != nullptr);
  }
  PrintHead("Updates", "operator");
  for (const auto* op : query::update::AllOperators()) PrintRow(*op, op->parse != nullptr);
  PrintHead("Projections of find", "operator");
  for (const auto rows :
       {query::project::ElemMatchOps(), query::project::MetaOps(), query::project::SliceOps()}) {
    for (const auto& op : rows) PrintRow(op, op.parse != nullptr);
  }
  PrintHead("Stages", "stage");
  for (const auto* op : query::stage::AllStages()) {
    if (!op->internal) PrintRow(*op, op->parse != nullptr);
  }
  PrintHead("Accumulators", "accumulator");
  for (const auto* op : query::accum::AllAccumulators()) PrintRow(*op, op->parse != nullptr);
  PrintHead("Window functions that are no accumulators", "function");
  for (const auto rows : {query::window::FillFunctions(), query::window::RankFunctions(),
                          query::window::SeriesFunctions()}) {
    for (const auto& op : rows) PrintRow(op, true);
  }
}

}  // namespace
}  // namespace evenkeel

int main() {
  fmt::print(
      "# Operators\n\nWritten by `./dev docs` from the tables in the source; not edited by hand. "
      "An "
      "operator without \"yes\" is\nknown and refused with CommandNotSupported (115). Arguments in "
      "brackets may be left out; no entry: see the\nmanual.\n\n");
  evenkeel::PrintExpressions();
  evenkeel::PrintOthers();
}
