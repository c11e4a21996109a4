// A compiled aggregation expression: what $project, $group, $expr, update pipelines and many stages
// evaluate.
//
// Compiled once per query, evaluated on documents in place. Results are views: into the document,
// into the expression's own constants, or into the arena of the Evaluation. Source: "Aggregation
// Expressions" in the manual.
//
//   ParseScope scope(context);
//   EVENKEEL_ASSIGN_OR_RETURN(auto expression, Expression::Parse(spec, scope));
//   Evaluation evaluation(context);            // kept, used for one document after the other
//   evaluation.Begin(document);                // empties the arena
//   EVENKEEL_ASSIGN_OR_RETURN(bson::Value v, expression->Evaluate(evaluation));   // missing: no
//   value
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "query/context.h"
#include "query/expr/arena.h"

namespace evenkeel::query {

// Where a variable's value is found while evaluating; given out by ParseScope.
enum class VariableSlot : int32_t {
  kRoot = -1,  // $$ROOT; others count from 0
};

// What an expression reads.
struct Dependencies {
  bool whole_document = false;               // $$ROOT as a whole, or something that cannot be told
  bool random = false;                       // not the same each time ($rand)
  std::set<std::string, std::less<>> paths;  // dotted paths from the document's top

  // The first parts of `paths`, each once, sorted; nothing when the whole document is needed.
  std::optional<std::vector<std::string>> TopLevelFields() const;
};

// One evaluation after the other: the document, the variables, and memory for computed values. One
// thread at a time.
class Evaluation {
 public:
  // `query` outlives this.
  explicit Evaluation(const QueryContext& query) : query_(query) {}

  // Starts on a document, which must outlive the results. Earlier results become invalid.
  void Begin(bson::View document) {
    arena_.Reset();
    root_ = bson::Value(bson::Type::kObject, document.data());
  }
  // Expressions of $group: MongoDB evaluates them in its other engine, whose codes for division by
  // zero differ.
  void SetInGroup() { in_group_ = true; }
  bool in_group() const { return in_group_; }
  bson::Value root() const { return root_; }
  EvalArena& arena() { return arena_; }
  const QueryContext& query() const { return query_; }
  const bson::StringComparator* collation() const { return query_.collation; }

  bson::Value Variable(VariableSlot slot) const {
    if (slot == VariableSlot::kRoot) return root_;
    const auto at = static_cast<size_t>(slot);
    return at < slots_.size() ? slots_[at] : bson::Value();
  }
  // `value` must outlive its uses; a missing value is allowed.
  void SetVariable(VariableSlot slot, bson::Value value) {
    const auto at = static_cast<size_t>(slot);
    if (at >= slots_.size()) slots_.resize(at + 1);
    slots_[at] = value;
  }

 private:
  const QueryContext& query_;
  EvalArena arena_;
  bson::Value root_;
  bool in_group_ = false;
  absl::InlinedVector<bson::Value, 8> slots_;
};

// The variables that an expression may name while it is parsed. `context` outlives everything
// parsed with it.
class ParseScope {
 public:
  explicit ParseScope(const QueryContext& context) : context_(context) {}

  const QueryContext& context() const { return context_; }
  // Makes `name` visible until the enclosing Frame ends. The name is not checked: see
  // CheckVariableName.
  VariableSlot Define(std::string_view name);
  // The slot of a variable made by Define, newest first.
  std::optional<VariableSlot> Find(std::string_view name) const;

  // Variables defined while a Frame lives vanish with it.
  class Frame {
   public:
    explicit Frame(ParseScope& scope) : scope_(scope), size_(scope.names_.size()) {}
    ~Frame() { scope_.names_.resize(size_); }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    ParseScope& scope_;
    size_t size_;
  };

 private:
  const QueryContext& context_;
  std::vector<std::string> names_;  // the index is the slot
};

// Errors: FailedToParse (9) for a name that a user may not define ("_x", "ROOT", "a.b"); CURRENT is
// allowed.
absl::Status CheckVariableName(std::string_view name);

class Expression {
 public:
  virtual ~Expression() = default;

  // Compiles `spec`, which is copied. Constant parts are folded.
  // Errors: InvalidPipelineOperator (168) for an unknown operator, 16020 for a wrong number of
  // arguments, 17276 for an undefined variable, 16872 / 16410 … for bad field paths, per operator
  // its own.
  static absl::StatusOr<std::unique_ptr<Expression>> Parse(bson::Value spec, ParseScope& scope);
  // The same with no variables but the system's and the command's `let`.
  static absl::StatusOr<std::unique_ptr<Expression>> Parse(bson::Value spec,
                                                           const QueryContext& context);

  // The value for the evaluation's document; missing when there is none. Valid until the
  // evaluation's next Begin and as long as the document and this live.
  virtual absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const = 0;
  // Adds what this reads.
  virtual void AddDependencies(Dependencies& dependencies) const = 0;
  // The value, when it is the same for every document ($$REMOVE: missing).
  virtual std::optional<bson::Value> Constant() const { return std::nullopt; }
  // The dotted path when this is a plain field path of the document ("$a.b"), empty otherwise.
  virtual std::string_view FieldPath() const { return {}; }
};

using ExpressionPtr = std::unique_ptr<Expression>;

}  // namespace evenkeel::query
