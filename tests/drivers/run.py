#!/usr/bin/env python3
"""Runs the checks of every driver against one server of three shards, each driver in its own database.

usage: run.py [NAME...] [--jobs N]    all drivers, or these; --list names them. The server: EVENKEEL_BINARY, else build/dev/cli/evenkeel

A driver's script gets EVENKEEL_URI (the server), EVENKEEL_PROXY_URI (proxy.py before it), EVENKEEL_DATABASE and EVENKEEL_COMPRESSORS,
and prints for each of CHECKS "ok NAME", "not ok NAME: what" or "skip NAME: why". One line per driver tells how it went; the end is
"N passed, N failed, N skipped", counted in drivers. A driver whose toolchain or registry is missing is skipped.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import prepare
from drivers import DRIVERS
from proxy import Proxy

CHECKS = ["topology", "crud", "types", "find", "cursor", "bulk", "retry", "compression", "aggregation", "indexes", "errors", "sessions",
          "transactions"]
SECONDS_MAX = 240  # for one driver's checks
READY_SECONDS_MAX = 60


class Server:
    """A server on a free port, with a folder of its own that goes with it."""

    def __enter__(self):
        binary = os.environ.get("EVENKEEL_BINARY") or os.path.join(prepare.ROOT, "build", "dev", "cli", "evenkeel")
        parent = os.path.join(prepare.ROOT, "build", "test-data")
        os.makedirs(parent, exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix="drivers-", dir=parent)
        self.log = open(os.path.join(self.folder, "log"), "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen([binary, "start", "--shards", "3", "--data", os.path.join(self.folder, "data"), "--port", "0"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        ready = re.search(r"mongodb://[0-9.]+:(\d+)", self.process.stdout.readline())
        if not ready:
            self.__exit__()
            raise SystemExit(f"the server did not start: {binary}")
        self.port = int(ready.group(1))
        signal.signal(signal.SIGTERM, self.end_at_once)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(READY_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_at_once(self, *_):
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        os._exit(1)

    def log_tail(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8", errors="replace") as handle:
            return "".join(handle.readlines()[-20:])


class Outcome:
    """What became of one driver: passed, failed or skipped, and the lines that tell about it."""

    def __init__(self, state, summary, details=()):
        self.state, self.summary, self.details = state, summary, details


def judge(driver, output, code, proxy):
    """Reads a script's lines; what the proxy saw decides about two of the checks."""
    told = dict(re.findall(r"^(?:ok|skip) (\w+)(.*)$", output, re.M))
    failures = re.findall(r"^not ok .*$", output, re.M)
    silent = [name for name in CHECKS if name not in told and not any(re.match(rf"not ok {name}\b", line) for line in failures)]
    if silent:
        failures.append(f"not ok {', '.join(silent)}: the script said nothing")
    if "retry" in told and not told["retry"] and proxy.replies_lost != 1:
        failures.append("not ok retry: the proxy lost no reply")
    unused = set(driver.compressors) - proxy.compressors
    if "compression" in told and unused:
        failures.append(f"not ok compression: not used: {', '.join(sorted(unused))}")
    if code != 0 and not failures:
        failures.append(f"not ok: the script ended with {code}")
    if failures:
        return Outcome("failed", f"{len(failures)} of {len(CHECKS)} checks", failures + output.splitlines()[-15:])
    left_out = [f"{name}{why}" for name, why in told.items() if why]
    version = re.search(r"^version (.*)$", output, re.M)
    summary = f"{version.group(1) if version else '?'}: {len(CHECKS) - len(left_out)} checks"
    return Outcome("passed", "; ".join([summary, *(f"without {text}" for text in left_out)]))


def test(driver, server):
    """Prepares one driver and runs its checks."""
    try:
        command, environment = driver.prepare()
    except prepare.Skip as reason:
        return Outcome("skipped", str(reason))
    proxy = Proxy(server.port)
    environment = {
        **environment, "EVENKEEL_URI": f"mongodb://127.0.0.1:{server.port}/",
        "EVENKEEL_PROXY_URI": f"mongodb://127.0.0.1:{proxy.port}/", "EVENKEEL_DATABASE": f"driver_{driver.name}",
        "EVENKEEL_COMPRESSORS": ",".join(driver.compressors)}
    code, output = prepare.execute(command, SECONDS_MAX, prepare.ROOT, environment)
    proxy.close()
    if code is None:
        return Outcome("failed", f"not done after {SECONDS_MAX} s")
    return judge(driver, output, code, proxy)


def timed(driver, server):
    started = time.monotonic()
    outcome = test(driver, server)
    print(f"{outcome.state:8}{driver.name:12}{outcome.summary} ({time.monotonic() - started:.0f} s)", flush=True)
    for line in outcome.details:
        print("        " + line, flush=True)
    return outcome.state


def main():
    parser = argparse.ArgumentParser(description="The drivers against one server.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="the names of the drivers")
    options = parser.parse_args()
    if options.list:
        print("\n".join(driver.name for driver in DRIVERS))
        return 0
    unknown = set(options.names) - {driver.name for driver in DRIVERS}
    if unknown:
        parser.error(f"no such driver: {', '.join(sorted(unknown))}")
    chosen = [driver for driver in DRIVERS if not options.names or driver.name in options.names]
    with Server() as server, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        states = list(pool.map(lambda driver: timed(driver, server), chosen))
        if server.process.poll() is not None:
            states.append("failed")
            print(f"failed  the server ended with {server.process.returncode}\n{server.log_tail()}")
    counts = {state: states.count(state) for state in ("passed", "failed", "skipped")}
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
