#!/usr/bin/env python3
"""Compares topologies under the same load: one process with embedded shards, and a router with 1, 2 and 3 shard processes.

usage: topologies.py [--rounds N] [--seconds S] [--records N] [--threads N]     ./dev bench topologies builds first

Each round measures every topology once, on a fresh cluster, so that what slows the machine down for a while meets them all. The tables
show operations per second, and processor time of all server processes for one operation (which a busy machine disturbs less): medians
over the rounds, and their ratios to the embedded cluster of three shards. The binaries: EVENKEEL_BINARY and EVENKEEL_BENCH, else those of
build/release.
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
LOADS = {"YCSB A": ["ycsb", "--workloads", "A"], "YCSB C": ["ycsb", "--workloads", "C"], "insert": ["insert"]}
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

    def processor_seconds(self):
        """What all its processes have used so far."""
        ticks = 0
        for process in self.processes:
            with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
                user, system = file.read().rpartition(")")[2].split()[11:13]
            ticks += int(user) + int(system)
        return ticks / os.sysconf("SC_CLK_TCK")

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


def run_bench(cluster, options, *command):
    """One run of the load generator: what it wrote about each of its parts."""
    path = cluster.at("figures.json")
    subprocess.run([BENCH, *command, "--uri", cluster.uri, "--json", path, "--threads", str(options.threads), "--seconds", str(options.seconds),
                    "--records", str(options.records)], check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)
    for run in runs:
        if run["errors"]:
            raise SystemExit(f"{run['name']}: {run['firstError']}")
    return runs


def measure(cluster, options):
    """For each load: operations per second, and microseconds of the servers' processors for one."""
    run_bench(cluster, options, "load")
    figures = {}
    for load, command in LOADS.items():
        before = cluster.processor_seconds()
        operations = [operation for run in run_bench(cluster, options, *command, "--keep") for operation in run["operations"].values()]
        used = cluster.processor_seconds() - before
        figures[load] = sum(o["perSecond"] for o in operations), used * 1e6 / sum(o["count"] for o in operations)
    return figures


def show(found, at, unit):
    """One table: medians over the rounds, and of the ratios to the first topology."""
    base = next(iter(found.values()))
    print(f"{unit:22}" + "".join(f"{load:>22}" for load in LOADS))
    for name, rounds in found.items():
        cells = []
        for load in LOADS:
            value = statistics.median(figures[load][at] for figures in rounds)
            ratio = statistics.median(figures[load][at] / first[load][at] for figures, first in zip(rounds, base))
            cells.append(f"{value:,.0f} {ratio:7.2f}")
        print(f"{name:22}" + "".join(f"{cell:>22}" for cell in cells))


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
    show(found, 0, "operations per second")
    show(found, 1, "processor us for one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
