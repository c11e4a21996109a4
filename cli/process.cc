// Implements the common parts of a process.
#include "cli/process.h"

#include <algorithm>
#include <csignal>
#include <thread>
#include <utility>

namespace evenkeel::cli {
namespace {

constexpr absl::Duration kMaxDrift = absl::Seconds(10);

size_t PoolThreads(const ProcessOptions& options) {
  return options.pool_threads > 0 ? options.pool_threads
                                  : std::max(2u, std::thread::hardware_concurrency());
}

wire::ServerOptions ServerOptionsOf(const ProcessOptions& options, const ListenerTls& tls) {
  wire::ServerOptions out;
  out.bind = options.bind;
  out.port = options.port;
  out.connections_max = static_cast<size_t>(options.connections);
  out.tls_mode = tls.mode;
  out.tls = tls.context;
  return out;
}

}  // namespace

Process::Process(const ProcessOptions& options, ListenerTls tls)
    : host_(options.bind.front()),
      tls_(std::move(tls)),
      clock_(base::WallClock::System(), kMaxDrift),
      pool_(PoolThreads(options)),
      server_(ServerOptionsOf(options, tls_), {loop_.executor()}),
      signals_(loop_.executor()) {}

Process::~Process() = default;

std::string Process::ClientAddress() const {
  const bool encrypted = tls_.mode == wire::TlsMode::kRequire;
  return "mongodb://" + host_ + ":" + std::to_string(port()) + "/" + (encrypted ? "?tls=true" : "");
}

absl::Status Process::Listen() { return server_.Listen(); }

void Process::Serve(wire::RequestHandler* handler) {
  server_.Start(handler);
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  signals_.async_wait([this](const boost::system::error_code& failed, int) {
    if (!failed) signalled_.Notify();
  });
}

void Process::StopServing(absl::Time deadline) { Run(server_.Stop(deadline)); }

}  // namespace evenkeel::cli
