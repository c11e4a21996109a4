#!/usr/bin/env python3
"""Tests of check_docs.py and check_tables.py: each case is a tiny tree and the complaints it must produce."""
import os
import tempfile
import unittest

import check_docs
import check_tables


def in_tree(files, check):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as handle:
                handle.write(text)
        return check(root, sorted(files))


class CheckDocsTest(unittest.TestCase):
    def expect(self, files, *parts):
        base = {"base/a.h": "// A.\nclass Writer { void Submit(); };\n", "docs/x.md": "X\n"}
        errors = in_tree({**base, **files}, lambda root, paths: check_docs.Docs(root, paths).run())
        self.assertEqual(len(errors), len(parts), errors)
        for error, part in zip(errors, parts):
            self.assertIn(part, error)

    def test_paths(self):
        self.expect({"README.md": "`base/a.h`, `base/`, `./base/a.h`, `base/*.h`, `base/{a,a}.h`, `and/or`, `build/dev/x`\n"})
        self.expect({"README.md": "See `base/b.h`\nand `base/{a,c}.h`.\n"}, "README.md:1: `base/b.h`", "README.md:2: `base/c.h`")

    def test_fenced_code_is_left_alone(self):
        self.expect({"README.md": "```\n`base/b.h`\n```\n"})

    def test_links(self):
        self.expect({"docs/y.md": "[a](x.md) [b](../base/a.h#l) [c](https://example.org/x)\n"})
        self.expect({"docs/y.md": "[a](z.md)\n"}, "link to z.md")

    def test_symbols(self):
        self.expect({"README.md": "`Submit()`, `Writer::Submit`, `Writer::Submit()`, `sh.status()`, `$sum`\n"})
        self.expect({"README.md": "`Vanish()`\n"}, "no C++ file has Vanish")

    def test_decisions_are_left_alone(self):
        self.expect({"docs/decisions/0001-a.md": "`base/gone.h`\n"})

    def test_machine_paths(self):
        self.expect({"base/b.cc": '// B.\nopen("/root/x");\n'}, "base/b.cc:2: '/root/x' depends")
        self.expect({"base/b.cc": '// B.\nopen("${HOME}/work/x");\n'})


class CheckTablesTest(unittest.TestCase):
    def expect(self, files, *parts):
        errors = in_tree(files, check_tables.check)
        self.assertEqual(len(errors), len(parts), errors)
        for error, part in zip(errors, parts):
            self.assertIn(part, error)

    def test_groups(self):
        rows = '// R.\nRow kRows[] = {{.name = "$a"}};\nstd::span<const Row> SumAvgOps() { return kRows; }\n'
        self.expect({"query/accum/sum_avg.cc": rows, "query/accum/table.cc": "// T.\nSumAvgOps()\n"})
        self.expect({"query/accum/sum_avg.cc": rows, "query/accum/table.cc": "// T.\n"}, "names none of its groups (SumAvgOps)")
        self.expect({"query/accum/kernel.cc": "// K.\n", "query/accum/table.cc": "// T.\n"})


if __name__ == "__main__":
    unittest.main()
