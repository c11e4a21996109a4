#!/usr/bin/env python3
"""Compares topologies under the same load: one process with embedded shards, and a router with 1, 2 and 3 shard processes.

usage: topologies.py [--rounds N] [--seconds S] [--records N] [--threads N]     ./dev bench topologies builds first

Each round measures every topology once, on a fresh cluster, so that what slows the machine down for a while meets them all. The table
shows operations per second (medians over the rounds) and their ratio to the embedded cluster of three shards. The binaries:
EVENKEEL_BINARY and EVENKEEL_BENCH, else those of build/release.
"""
import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BINARY = os.environ.get("EVENKEEL_BINARY") or os.path.join(ROOT, "build", "release", "cli", "evenkeel")
BENCH = os.environ.get("EVENKEEL_BENCH") or os.path.join(ROOT, "build", "release", "bench", "evenkeel_bench")
TOPOLOGIES = {"embedded, 3 shards": None, "router, 1 shard": 1, "router, 2 shards": 2, "router, 3 shards": 3}
STOP_SECONDS_MAX = 120


class Cluster:
    """Processes in a new folder, which goes with them. shards: None for one process with three embedded ones."""

    def __init__(self, shards):
        self.shards, self.processes = shards, []
        os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix="topologies-", dir=os.path.join(ROOT, "build"))

    def __enter__(self):
        if self.shards is None:
            self.uri = self.start("start", "--shards", "3", "--data", self.at("data"), "--port", "0")
            return self
        with open(self.at("cluster.yaml"), "w", encoding="utf-8") as file:
            file.write("key: a key for the benchmark\nshards:\n")
            file.writelines(f"  - {{id: shard{n}, address: '127.0.0.1:{free_port()}'}}\n" for n in range(self.shards))
        for n in range(self.shards):
            self.start("shard", "--cluster", self.at("cluster.yaml"), "--id", f"shard{n}", "--data", self.at(f"data{n}"))
        self.uri = self.start("router", "--cluster", self.at("cluster.yaml"), "--port", "0")
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.folder)

    def at(self, name):
        return os.path.join(self.folder, name)

    def start(self, *arguments):
        """Starts a process and waits for its ready line; the address in it."""
        with open(self.at("log"), "a", encoding="utf-8") as log:
            process = subprocess.Popen([BINARY, *arguments], stdout=subprocess.PIPE, stderr=log, text=True)
        self.processes.append(process)
        line = process.stdout.readline()
        address = re.search(r"is ready: (\S+)", line)
        if not address:
            with open(self.at("log"), encoding="utf-8") as log:
                raise SystemExit(f"{' '.join(arguments)} did not start:\n{log.read()[-2000:]}")
        return address.group(1)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def measure(cluster, options):
    """Operations per second by name."""
    figures = {}
    for command in (["ycsb", "--workloads", "AC"], ["insert"]):
        path = cluster.at("figures.json")
        subprocess.run([BENCH, *command, "--uri", cluster.uri, "--json", path, "--database", command[0], "--threads", str(options.threads),
                        "--seconds", str(options.seconds), "--records", str(options.records)], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            for run in json.load(file):
                if run["errors"]:
                    raise SystemExit(f"{run['name']}: {run['firstError']}")
                if run["name"] != "load":
                    figures[run["name"]] = sum(operation["perSecond"] for operation in run["operations"].values())
    return figures


def main():
    parser = argparse.ArgumentParser(description="Topologies under the same load.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--threads", type=int, default=8)
    options = parser.parse_args()
    found = {name: [] for name in TOPOLOGIES}
    for number in range(options.rounds):
        for name, shards in TOPOLOGIES.items():
            with Cluster(shards) as cluster:
                found[name].append(measure(cluster, options))
            print(f"round {number + 1}, {name}: {found[name][-1]}", file=sys.stderr)
    loads = list(found["embedded, 3 shards"][0])
    print(f"{'':22}" + "".join(f"{load:>24}" for load in loads))
    base = next(iter(found))
    for name, rounds in found.items():
        cells = []
        for load in loads:
            rate = statistics.median(figures[load] for figures in rounds)
            ratio = statistics.median(figures[load] / embedded[load] for figures, embedded in zip(rounds, found[base]))
            cells.append(f"{rate:>14,.0f}/s {ratio:>6.2f} ")
        print(f"{name:22}" + "".join(f"{cell:>24}" for cell in cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
