// Requests to shards, made out of clients' commands.
//
// A message that is built here keeps alive what its views point into: its own body and the client's
// message.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>

#include "base/bson/builder.h"
#include "catalog/routing_table.h"
#include "wire/protocol/request.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router {

// Collection id and version of a route; the times of a command that evaluates expressions.
wire::ShardEnvelope EnvelopeOf(const catalog::Route& route,
                               std::optional<wire::CommandTimes> times = std::nullopt);

// A message with `body`; `keep` lives as long as it.
wire::Message MakeMessage(bson::Document body, std::shared_ptr<const void> keep = nullptr);

// The client's command as it is, sequences too, with the envelope.
wire::Message ForwardCommand(const wire::Request& request, const wire::ShardEnvelope& envelope);

// Starts a command of another form: {name: collection, $db: …, lsid, txnNumber, readConcern of the
// client}. `request` may be null.
bson::Builder StartCommand(std::string_view name, std::string_view collection,
                           std::string_view database, const wire::Request* request);
// Appends the fields of `command` after its first one, but those named and generic ones.
void AppendFieldsExcept(bson::Builder& builder, bson::View command,
                        std::initializer_list<std::string_view> left_out);

// A reply's own fields: without ok, operationTime and other fields that the router adds by itself.
bson::Document ReplyFields(bson::View reply);

}  // namespace evenkeel::router
