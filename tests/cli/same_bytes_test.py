#!/usr/bin/env python3
"""Each verb gives the same bytes in OpenGL 4.5 and, with QUADMILL_API=es3, in OpenGL ES. Speeds are masked."""
import array
import random
import re
import unittest

from command import Command, run


def masked(printed):
    """Without speeds: 1.5e6 after a name that ends with per_s, in a table or in JSON."""
    return re.sub(rb'(\w*per_s"?:? *)[\d.e+]+', rb"\1?", printed)


class SameBytes(Command):
    def setUp(self):
        super().setUp()
        numbers = random.Random(7)
        self.values = [numbers.randrange(-2**31, 2**31) for _ in range(5000)]
        self.keys = self.path("keys.i32", array.array("i", self.values).tobytes())
        self.floats = self.path("keys.f32", array.array("f", [v / 7 for v in self.values]).tobytes())
        self.words = self.path("words.u32", array.array("I", [v % 97 for v in self.values]).tobytes())
        rows = "".join(f"{v % 50},{v % 1000 / 8},{'abc'[v % 3]}\n" for v in self.values[:2000])
        self.table = self.path("t.csv", ("k,x,t\n" + rows).encode())
        self.matrix = self.path("a.f32", array.array("f", [numbers.randrange(-9, 9) + 40 * (i % 21 == 0)
                                                           for i in range(400)]).tobytes())
        self.sides = self.path("b.f32", array.array("f", range(20)).tobytes())

    def same(self, *args, outputs=()):
        """Runs it in both versions and compares what it prints and the files that it writes."""
        found = []
        for version in ({}, {"QUADMILL_API": "es3"}):
            result = run(*args, env=version)
            self.assertEqual(result.returncode, 0, result.stderr)
            found.append((masked(result.stdout), [self.read(output) for output in outputs]))
        self.assertEqual(found[0], found[1], args)
        return found[0]

    def test_sort(self):
        out, index = self.path("sorted"), self.path("index")
        for engine in "merge", "bitonic":
            for order in (), ("--order", "desc"):
                printed, (keys,) = self.same("sort", "--type", "i32", "--engine", engine, *order, self.keys, "-o", out,
                                             outputs=[out])
                self.assertEqual(keys, array.array("i", sorted(self.values, reverse=bool(order))).tobytes())
        self.same("sort", "--type", "f32", "--engine", "pbsn", self.floats, "-o", out, outputs=[out])
        self.same("sort", "--type", "f32", "--engine", "merge", "--with-index", index, self.floats, "-o", out,
                  outputs=[out, index])
        self.same("sort", "--type", "i32", "--engine", "merge", "--top", "9", self.keys, "-o", out, outputs=[out])

    def test_summaries(self):
        saved = self.path("saved")
        for call in (["quantiles", "--type", "f32", self.floats],
                     ["frequent", "--type", "u32", "--support", "1%", self.words]):
            for engine in "merge", "pbsn", "bitonic":
                self.same(*call, "--engine", engine, "--save", saved, "--json", outputs=[saved])
                self.same(*call, "--engine", engine)

    def test_query(self):
        for sql in ("SELECT COUNT(*) AS n, SUM(k) AS s, MIN(x) AS lo, MAX(x) AS hi, AVG(x) AS a FROM '%s' WHERE k > 9",
                    "SELECT t, COUNT(*) AS n, SUM(x) AS s FROM '%s' WHERE k < 40 GROUP BY t ORDER BY t",
                    "SELECT k, x FROM '%s' WHERE 2*k - x > 60 AND NOT k IN (1, 2)"):
            for engine in "auto", "bitmap":
                self.same("query", "--engine", engine, sql % self.table)

    def test_sketch(self):
        sketch = self.path("sketch")
        for engine in "sort", "blend-counters", "blend-buckets":
            self.same("sketch", "build", "--type", "u32", "--width", "512", "--engine", engine, self.words, "-o",
                      sketch, outputs=[sketch])
            self.same("sketch", "query", sketch, self.words)

    def test_lu(self):
        out = self.path("x")
        for pivot in "partial", "full":
            self.same("lu", "--pivot", pivot, self.matrix, "--solve", self.sides, "-o", out, outputs=[out])


if __name__ == "__main__":
    unittest.main()
