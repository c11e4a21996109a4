// Builds and strips messages between router and shards.
#include "router/shard_request.h"

#include <algorithm>
#include <utility>

#include "query/request/fields.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router {
namespace {

// A body and what it was made from.
struct Owned {
  bson::Document body;
  std::shared_ptr<const void> keep;
};

// Generic arguments that mean something to a shard.
constexpr std::string_view kPassedOn[] = {"lsid", "txnNumber", "readConcern"};

bool IsRoutersOwn(std::string_view key) {
  return key == "ok" || key == "operationTime" || key.starts_with('$');
}

}  // namespace

wire::ShardEnvelope EnvelopeOf(const catalog::Route& route,
                               std::optional<wire::CommandTimes> times) {
  wire::ShardEnvelope envelope;
  envelope.collection = route.entry->id;
  envelope.version = route.entry->version;
  envelope.times = times;
  return envelope;
}

wire::Message MakeMessage(bson::Document body, std::shared_ptr<const void> keep) {
  auto owned = std::make_shared<const Owned>(Owned{std::move(body), std::move(keep)});
  wire::Message message;
  message.body = owned->body.view();
  message.owner = std::move(owned);
  return message;
}

wire::Message ForwardCommand(const wire::Request& request, const wire::ShardEnvelope& envelope) {
  bson::Builder body;
  if (request.name == request.facts->name) {
    body = bson::Builder(request.body());
  } else {
    body.Append(request.facts->name, request.argument);
    AppendFieldsExcept(body, request.body(), {});
    for (const auto& field : request.body()) {
      if (query::IsGenericArgument(field.key)) body.Append(field.key, field.value);
    }
  }
  wire::AppendEnvelope(body, envelope);
  wire::Message message = MakeMessage(body.Finish(), request.message.owner);
  message.sequences = request.message.sequences;
  return message;
}

bson::Builder StartCommand(std::string_view name, std::string_view collection,
                           std::string_view database, const wire::Request* request) {
  bson::Builder body;
  body.Append(name, collection).Append("$db", database);
  if (request) {
    for (const std::string_view field : kPassedOn) body.Append(field, request->body()[field]);
  }
  return body;
}

void AppendFieldsExcept(bson::Builder& builder, bson::View command,
                        std::initializer_list<std::string_view> left_out) {
  bool is_name = true;
  for (const auto& field : command) {
    if (std::exchange(is_name, false) || query::IsGenericArgument(field.key)) continue;
    if (std::find(left_out.begin(), left_out.end(), field.key) != left_out.end()) continue;
    builder.Append(field.key, field.value);
  }
}

bson::Document ReplyFields(bson::View reply) {
  bson::Builder fields;
  for (const auto& field : reply) {
    if (!IsRoutersOwn(field.key)) fields.Append(field.key, field.value);
  }
  return fields.Finish();
}

}  // namespace evenkeel::router
