#!/usr/bin/env python3
"""Runs every check of the tree and the tests of the checks, and ends with "N passed, N failed".

usage: run_all.py      from any folder; exit status 1 when something failed
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CHECKS = {
    "layers, sizes and words (check_tree.py)": ["check_tree.py", ROOT],
    "operator groups (check_tables.py)": ["check_tables.py", ROOT],
    "documentation and machine paths (check_docs.py)": ["check_docs.py", ROOT],
    "formatting (check_format.py)": ["check_format.py", ROOT],
    "tests of check_tree.py": ["check_tree_test.py"],
    "tests of check_docs.py and check_tables.py": ["check_docs_test.py"],
}


def main():
    passed = failed = 0
    for name, (script, *arguments) in CHECKS.items():
        run = subprocess.run([sys.executable, os.path.join(HERE, script), *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        good = run.returncode == 0
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok    ' if good else 'FAILED'} {name}")
        for line in run.stdout.splitlines():
            if not good or (line.startswith("warning:") and "-v" in sys.argv):
                print("    " + line)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
