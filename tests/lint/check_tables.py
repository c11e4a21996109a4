#!/usr/bin/env python3
"""Checks that no operator group is forgotten: every file of a query family that holds rows is named in the family's table.cc.

A group file is a source with rows (`{.name = "$add", ...}`) beside a table.cc. Its name in CamelCase, as in ArithmeticOps() for
arithmetic.cc, has to occur in table.cc.

usage: check_tables.py ROOT      exit status 1 when a rule is broken
"""
import os
import re
import sys

import files

FAMILIES = ("query/match", "query/expr", "query/accum", "query/stage", "query/update", "query/project")
ROW = re.compile(r'\{\s*\.name\s*=\s*"')


def camel(stem):
    return "".join(word.capitalize() for word in stem.split("_"))


def check(root, paths):
    """One message per forgotten group."""
    errors = []
    for family in FAMILIES:
        table = family + "/table.cc"
        if table not in paths:
            continue
        named = files.read(root, table)
        for path in paths:
            if os.path.dirname(path) != family or not path.endswith(".cc") or path == table:
                continue
            group = camel(os.path.basename(path)[:-3])
            if ROW.search(files.read(root, path)) and not re.search(rf"\bk?{group}", named):
                errors.append(f"{path}: has rows, but {table} does not name {group}…")
    return errors


def main():
    errors = check(sys.argv[1], files.project_files(sys.argv[1]))
    for text in errors:
        print("error:", text)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
