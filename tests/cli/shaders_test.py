#!/usr/bin/env python3
"""Shaders in the dialect of browsers: every shader that the command makes is compiled as OpenGL ES 3.00 by glslang, but
for those that need what ES lacks, which are named here with the reason.

    shaders_test.py QUADMILL
"""
import pathlib
import random
import subprocess
import unittest

from command import Command, floats, run

HEAD = """#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler2DArray;
precision highp usampler2D;
precision highp usampler2DArray;
precision highp isampler2D;
"""

# What each needs that OpenGL ES 3.00 lacks.
LACKING = {
    "samplerBuffer": "a buffer texture",
    "double": "doubles",
    "Double2x32": "doubles",
    "umulExtended": "products of 64 bits",
    "bitCount": "counts of bits",
}
EXPECTED = {
    "query_at_formula.frag": "doubles",
    "query_bits_count.frag": "counts of bits",
    "query_bits_list.frag": "counts of bits",
    "query_count_bits.frag": "counts of bits",
    "query_difference.frag": "doubles",
    "query_formula.frag": "doubles",
    "query_found_plane.frag": "a buffer texture",
    "query_at_next_bit.vert": "a buffer texture",
    "query_pair.frag": "doubles",
    "query_partial.frag": "doubles",
    "pass_fold.frag": "doubles",
}


class Shaders(Command):
    def shaders(self):
        """Of sorts of every engine and form, of queries by both engines, of sketches, of limits and pictures."""
        folder = pathlib.Path(self.folder, "shaders")
        folder.mkdir()
        numbers = random.Random(1)
        keys = [numbers.uniform(-9, 9) for _ in range(3000)]

        def made(*args, stdin):
            result = run(*args, stdin=stdin, env={"QUADMILL_SHADERS": str(folder)})
            self.assertEqual(result.returncode, 0, (args, result.stderr.decode()))

        out = ["-o", self.path("out")]
        for engine in ("pbsn", "bitonic", "merge"):
            made("sort", "--engine", engine, *out, stdin=floats(keys))
            made("sort", "--engine", engine, "--window", "100", *out, stdin=floats(keys))
        for engine in ("bitonic", "merge"):
            for kind, size in (("u32", 4), ("i64", 8), ("f16", 2)):
                data = bytes(numbers.randrange(256) for _ in range(size * 1000))
                made("sort", "--engine", engine, "--type", kind, *out, stdin=data)
                made("sort", "--engine", engine, "--type", kind, "--with-index", self.path("index"), *out, stdin=data)
        made("sort", "--engine", "merge", "--top", "10", *out, stdin=floats(keys))
        rows = "a,b,c,t\n" + "".join(
            f"{numbers.randrange(1000)},{numbers.random():.3f},{'' if i % 7 == 0 else i * 2**33},w{i % 5}\n"
            for i in range(500))
        for engine in ("bitmap", "depth"):
            for query in ("SELECT COUNT(*) FROM - WHERE a > 3 AND (b < 0.5 OR c >= 70) AND NOT a IN (1, 2, 3)",
                          "SELECT COUNT(*), SUM(a), SUM(b), MIN(c), MAX(a), MEDIAN(a), MEDIAN(c) FROM - WHERE a < b * 900",
                          "SELECT COUNT(*) FROM - WHERE a + b > 2 AND a > b AND c IS NOT NULL",
                          "SELECT MEDIAN(b), SUM(c) FROM - WHERE c IS NOT NULL",
                          "SELECT t, COUNT(*) FROM - GROUP BY t"):
                made("query", query, "--engine", engine, stdin=rows.encode())
        for kind in ("thread", "warp", "half", "quarter"):
            for engine in ("blend-counters", "blend-buckets", "blend-packed", "sort"):
                if kind != "thread" or engine in ("blend-counters", "sort"):
                    for size, name in ((4, "u32"), (8, "u64"), (4, "f32")):
                        made("sketch", "build", "--kind", kind, "--engine", engine, "--type", name, "--width", "50",
                             *out, stdin=bytes(size * 5000))
        for kind in ("msws", "sf"):
            made("sketch", "build", "--kind", kind, "--width", "50", *out, stdin=bytes(4))
            made("sketch", "query", out[1], "--device", "0", "--profile", stdin=bytes(4))
        made("sketch", "build", "--kind", "msws", "--engine", "blend-counters", "--width", "50", *out, stdin=bytes(4000))
        for engine in ("blend-packed", "sort"):
            for kind in ("half", "quarter"):
                made("sketch", "top", "--kind", kind, "--engine", engine, "--width", "50", stdin=bytes(4000))
        for what in ("keys", "pairs"):
            made("bench", "sort", "--engines", "kipfer,purcell", "--what", what, "--n", "100", "--repeat", "1", stdin=b"")
        made("limits", "--side", "64", "--repeat", "1", stdin=b"")
        return sorted(folder.iterdir())

    def test_open_gl_es(self):
        shaders = self.shaders()
        self.assertGreater(len(shaders), 80)
        refused = {}
        for file in shaders:
            source = pathlib.Path(self.folder, "es" + file.suffix)
            source.write_text(HEAD + file.read_text())
            result = subprocess.run(["glslangValidator", str(source)], capture_output=True, text=True)
            if result.returncode != 0:
                name = ".".join(file.name.split(".")[:2])
                reasons = {what for word, what in LACKING.items() if word in file.read_text()}
                self.assertTrue(reasons, f"{name}:\n{result.stdout}")
                refused[name] = result.stdout
        self.assertEqual(set(refused) - set(EXPECTED), set(), refused)
        self.assertEqual(set(EXPECTED) - set(refused), set())


if __name__ == "__main__":
    unittest.main()
