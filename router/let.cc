// Rewrites commands that define variables.
#include "router/let.h"

#include <algorithm>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "query/expr/let.h"
#include "router/query_context.h"
#include "router/shard_request.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router {
namespace {

constexpr std::string_view kWithLet[] = {"aggregate",     "bulkWrite",     "delete", "find",
                                         "findAndModify", "findandmodify", "update"};

bool TakesLet(std::string_view command) {
  return std::find(std::begin(kWithLet), std::end(kWithLet), command) != std::end(kWithLet);
}

bool HasLet(bson::View command) {
  return TakesLet(command.Front().key) && command["let"].Is(bson::Type::kObject);
}

// `command` with one field of another value.
bson::Document With(bson::View command, std::string_view name, bson::View replacement) {
  bson::Builder out;
  for (const auto& [key, value] : command) {
    if (key == name) {
      out.Append(key, replacement);
    } else {
      out.Append(key, value);
    }
  }
  return out.Finish();
}

absl::StatusOr<bson::Document> Resolved(const RouterState& router, const wire::CommandTimes& times,
                                        bson::View command) {
  const auto context = MakeQueryContext(router, times, "");
  EVENKEEL_ASSIGN_OR_RETURN(context->collation,
                            query::Collation::Get(query::CollationOption(command)));
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Document values,
                            query::EvaluateLet(command["let"].AsDocument(), *context));
  return With(command, "let", values);
}

}  // namespace

absl::Status ResolveLet(const RouterState& router, const wire::CommandTimes& times,
                        wire::Request* request) {
  const bson::View command = request->body();
  bson::Document resolved;
  if (HasLet(command)) {
    EVENKEEL_ASSIGN_OR_RETURN(resolved, Resolved(router, times, command));
  } else if (request->name == "explain" && request->argument.Is(bson::Type::kObject) &&
             HasLet(request->argument.AsDocument())) {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Document inner,
                              Resolved(router, times, request->argument.AsDocument()));
    resolved = With(command, command.Front().key, inner);
  } else {
    return absl::OkStatus();
  }
  wire::Message message = MakeMessage(std::move(resolved), request->message.owner);
  message.flags = request->message.flags;
  message.sequences = request->message.sequences;
  request->message = std::move(message);
  request->argument = request->body().Front().value;
  return absl::OkStatus();
}

}  // namespace evenkeel::router
