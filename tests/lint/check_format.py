#!/usr/bin/env python3
"""Checks that every C++ file is as clang-format 14 (Debian 12's) writes it, or with --fix writes it so.

A file that passed is remembered by a hash of its text and of .clang-format in build/format.cache, so a second run takes no time.

usage: check_format.py ROOT [--fix]      exit status 1 when a file differs
"""
import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys

import files

VERSION = "version 14."
CACHE = "build/format.cache"


def formatter():
    """The clang-format of the pinned version, or None."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and VERSION in subprocess.run([path, "--version"], capture_output=True, text=True).stdout:
            return path
    return None


def digest(root, path, style):
    with open(os.path.join(root, path), "rb") as handle:
        return hashlib.sha256(style + handle.read()).hexdigest()


def load_cache(root):
    try:
        with open(os.path.join(root, CACHE), encoding="ascii") as handle:
            return set(handle.read().split())
    except FileNotFoundError:
        return set()


def save_cache(root, good):
    os.makedirs(os.path.join(root, "build"), exist_ok=True)
    with open(os.path.join(root, CACHE), "w", encoding="ascii") as handle:
        handle.write("\n".join(sorted(good)) + "\n")


def main():
    root, fix = sys.argv[1], "--fix" in sys.argv[2:]
    tool = formatter()
    if tool is None:
        print("error: clang-format 14 is not installed")
        return 1
    with open(os.path.join(root, ".clang-format"), "rb") as handle:
        style = handle.read()
    cached = load_cache(root)
    paths = [path for path in files.project_files(root) if path.endswith((".h", ".cc"))]
    todo = [path for path in paths if digest(root, path, style) not in cached]
    arguments = ["-i"] if fix else ["--dry-run", "--Werror"]

    def passes(path):
        run = subprocess.run([tool, *arguments, path], cwd=root, stderr=subprocess.DEVNULL, check=False)
        return run.returncode == 0

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(todo, pool.map(passes, todo)))
    save_cache(root, {digest(root, path, style) for path in paths if results.get(path, True)})
    bad = [path for path, good in results.items() if not good]
    for path in bad:
        print(f"error: {path}: not formatted; run ./dev format")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
