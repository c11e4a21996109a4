// The part of connection strings that `evenkeel status` and `evenkeel moves` understand.
#pragma once

#include <absl/status/status.h>

#include "cli/ask_router.h"

namespace evenkeel::cli {

// Takes host, port and the options about TLS out of options->uri: the first host of
// mongodb://host:port,…/database?tls=true&tlsCAFile=…. Source: the drivers' connection string and
// URI options specifications. Errors: InvalidOptions for what it is not, for user names, and for
// mongodb+srv.
absl::Status ApplyUri(RouterChoice* options);

}  // namespace evenkeel::cli
