#!/usr/bin/env python3
"""Checks that no operator group is forgotten: every file of a query family that holds rows is named in the family's table.cc.

A group file is a source with rows (`{.name = "$add", ...}`) beside a table.cc. It ends with a function that returns them, such as
`std::span<const ExprOp> ArithmeticOps()`, and table.cc has to call that function.

usage: check_tables.py ROOT      exit status 1 when a rule is broken
"""
import os
import re
import sys

import files

FAMILIES = ("query/match", "query/expr", "query/accum", "query/stage", "query/update", "query/project")
ROW = re.compile(r'\{\s*\.name\s*=\s*"')
GROUP = re.compile(r"^std::span<const \w+> (\w+)\(\)", re.M)


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
            text = files.read(root, path)
            if not ROW.search(text):
                continue
            groups = GROUP.findall(text)
            if not any(re.search(rf"\b{group}\(\)", named) for group in groups):
                errors.append(f"{path}: has rows, but {table} names none of its groups ({', '.join(groups) or 'no function'})")
    return errors


def main():
    errors = check(sys.argv[1], files.project_files(sys.argv[1]))
    for text in errors:
        print("error:", text)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
