#!/usr/bin/env python3
"""Checks the texts: what the documentation names must exist, and no file may depend on one machine.

Documentation is every .md file. A decision record is left alone: it tells what was true when it was accepted.
  * `path/in/backticks` whose first part is a folder of the project, and every relative link, must exist.
    {a,b} stands for several paths, * for any name.
  * `Symbol()` and `Class::Member` in CamelCase must occur in a C++ file.
  * No absolute path of a machine and no address of a package registry, in any text file.

usage: check_docs.py ROOT      exit status 1 when a rule is broken
"""
import fnmatch
import itertools
import os
import re
import sys

import files

CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```", re.S | re.M)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"[\w.\-*{},]+(/[\w.\-*{},]+)+/?")
SYMBOL = re.compile(r"([A-Z]\w*(?:::~?[A-Z]\w*)*)(\(\))?")
MACHINE = re.compile(r"(?<![\w.$}])/(?:work|root|home/\w+|tmp/helpers)/[\w.]|\bregistry\.npmjs\.org|\bdeb\.debian\.org")
GENERATED = ("build/", "data/", "node_modules/")


def blank(match):
    return "\n" * match.group(0).count("\n")


def expand(token):
    """The alternatives of a path with {a,b}."""
    parts = re.split(r"\{([^}]*)\}", token)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(words) for words in itertools.product(*choices)]


class Docs:
    def __init__(self, root, paths):
        self.root, self.paths, self.errors = root, paths, []
        self.known = set(paths)
        for path in paths:
            while path := os.path.dirname(path):
                self.known.add(path)
        self.tops = {path.split("/")[0] for path in self.known if "/" in path}
        sources = (files.read(root, path) or "" for path in paths if path.endswith((".h", ".cc", ".inc")))
        self.words = set(re.findall(r"\w+", "\n".join(sources)))

    def exists(self, path):
        path = path.rstrip("/")
        return path in self.known or ("*" in path and any(fnmatch.filter(self.known, path)))

    def check_token(self, at, token):
        if PATH.fullmatch(token) and token.split("/")[0] in self.tops and not token.startswith(GENERATED):
            for path in expand(token):
                if not self.exists(path):
                    self.errors.append(f"{at}: `{path}` does not exist")
            return
        symbol = SYMBOL.fullmatch(token)
        if symbol and ("::" in token or symbol.group(2)):
            for word in symbol.group(1).split("::"):
                if word not in self.words:
                    self.errors.append(f"{at}: `{token}`: no C++ file has {word}")

    def check_page(self, path, text):
        folder = os.path.dirname(path)
        for number, line in enumerate(FENCE.sub(blank, text).split("\n"), 1):
            for match in CODE.finditer(line):
                self.check_token(f"{path}:{number}", match.group(1).removeprefix("./"))
            for match in LINK.finditer(CODE.sub("", line)):
                if not self.exists(os.path.normpath(os.path.join(folder, match.group(1)))):
                    self.errors.append(f"{path}:{number}: link to {match.group(1)}, which does not exist")

    def run(self):
        for path in self.paths:
            text = files.read(self.root, path)
            if text is None:
                continue
            if path.endswith(".md") and not path.startswith("docs/decisions/"):
                self.check_page(path, text)
            if path != "tests/lint/check_docs.py" and path != "tests/lint/check_docs_test.py":
                for match in MACHINE.finditer(text):
                    line = text[:match.start()].count("\n") + 1
                    self.errors.append(f"{path}:{line}: '{match.group(0)}' depends on one machine")
        return self.errors


def main():
    errors = Docs(sys.argv[1], files.project_files(sys.argv[1])).run()
    for text in errors:
        print("error:", text)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
