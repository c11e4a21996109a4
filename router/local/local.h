// Handlers of the commands that concern the router itself and the cluster as a whole, for
// router/table.cc.
#pragma once

#include "router/command.h"

namespace evenkeel::router::local {

Awaitable<CommandResult> HelloCommand(CommandContext& context);  // isMaster, too

Awaitable<CommandResult> PingCommand(CommandContext& context);
Awaitable<CommandResult> BuildInfoCommand(CommandContext& context);
Awaitable<CommandResult> HostInfoCommand(CommandContext& context);
Awaitable<CommandResult> GetCmdLineOptsCommand(CommandContext& context);
Awaitable<CommandResult> GetLogCommand(CommandContext& context);
Awaitable<CommandResult> ConnectionStatusCommand(CommandContext& context);
Awaitable<CommandResult> WhatsMyUriCommand(CommandContext& context);
Awaitable<CommandResult> ListCommandsCommand(CommandContext& context);
Awaitable<CommandResult> GetParameterCommand(CommandContext& context);
Awaitable<CommandResult> SetParameterCommand(CommandContext& context);
Awaitable<CommandResult> ServerStatusCommand(CommandContext& context);
Awaitable<CommandResult> RotateCertificatesCommand(CommandContext& context);
Awaitable<CommandResult> ProfileCommand(CommandContext& context);
Awaitable<CommandResult> ClusterStatusCommand(CommandContext& context);
Awaitable<CommandResult> ClusterMovesCommand(CommandContext& context);
Awaitable<CommandResult> CheckMetadataConsistencyCommand(CommandContext& context);

Awaitable<CommandResult> StartSessionCommand(CommandContext& context);
Awaitable<CommandResult> RefreshSessionsCommand(CommandContext& context);
Awaitable<CommandResult> EndSessionsCommand(CommandContext& context);
Awaitable<CommandResult> KillSessionsCommand(CommandContext& context);
Awaitable<CommandResult> KillAllSessionsCommand(CommandContext& context);
Awaitable<CommandResult> KillAllSessionsByPatternCommand(CommandContext& context);

Awaitable<CommandResult> CurrentOpCommand(CommandContext& context);
Awaitable<CommandResult> KillOpCommand(CommandContext& context);

Awaitable<CommandResult> GetShardMapCommand(CommandContext& context);
Awaitable<CommandResult> ListShardsCommand(CommandContext& context);
Awaitable<CommandResult> FlushRouterConfigCommand(CommandContext& context);

Awaitable<CommandResult> BalancerStartCommand(CommandContext& context);
Awaitable<CommandResult> BalancerStopCommand(CommandContext& context);
Awaitable<CommandResult> BalancerStatusCommand(CommandContext& context);
Awaitable<CommandResult> BalancerCollectionStatusCommand(CommandContext& context);

}  // namespace evenkeel::router::local
