// The tree of a projection: what happens to each named field, the rest by the node's mode.
//
// Built by parse.h, immutable afterwards.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/view.h"
#include "base/hash_map.h"
#include "query/expr/expression.h"
#include "query/match/filter.h"

namespace evenkeel::query::project {

// What happens to fields that are not named, and to values where a document was expected.
enum class Mode : uint8_t {
  kInclude,  // left out
  kExclude,  // kept
  kAdd,      // kept; replaced by a new document where fields are to be added
};

// One application of a projection.
struct ApplyContext {
  Evaluation& evaluation;  // begun on the document
  int64_t position = -1;   // of the positional operator; negative: none
};

// A find operator on one field's value ($slice, $elemMatch, the positional operator).
class FieldOperator {
 public:
  virtual ~FieldOperator() = default;
  // Appends what the operator makes of `value` under `key`, or nothing. Errors: 51246 …
  virtual absl::Status Apply(std::string_view key, bson::Value value, const ApplyContext& context,
                             bson::Builder& out) const = 0;
};

struct Node;

struct Field {
  enum class Kind : uint8_t { kInclude, kExclude, kNested, kComputed, kOperator };
  std::string name;
  Kind kind = Kind::kInclude;
  std::unique_ptr<Node> nested;              // kNested
  ExpressionPtr expression;                  // kComputed
  std::unique_ptr<FieldOperator> operation;  // kOperator
};

struct Node {
  Mode mode = Mode::kInclude;
  bool has_computed = false;  // in it or below
  std::vector<Field> fields;  // in the order of the specification

  // The named field, or null.
  const Field* Find(std::string_view name) const;
  // The named field, made when there is none; `made` says which.
  Field& FindOrAdd(std::string_view name, bool* made);

 private:
  base::StringMap<size_t> index_;
};

// Appends the projected fields of `document` to `out`, which has the document open.
absl::Status ApplyNode(const Node& node, bson::View document, const ApplyContext& context,
                       bson::Builder& out);

}  // namespace evenkeel::query::project
