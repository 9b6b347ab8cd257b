#!/usr/bin/env python3
"""Shaders in every dialect of OpenGL: each text that the command and the tests of the GPU rooms compile is given to
glslang as GLSL 4.50, 4.10 and 3.30 and as OpenGL ES 3.00, with the prelude of the library. Every shader file must be
among them, and every text must compile in all four.

    shaders_test.py QUADMILL FOLDER

FOLDER has what the tests of the GPU rooms have compiled with QUADMILL_SHADERS=FOLDER.
"""
import pathlib
import random
import re
import subprocess
import sys
import unittest

from command import Command, floats, run

OF_TESTS = pathlib.Path(sys.argv.pop(1))
SHADERS = pathlib.Path(__file__).parents[2] / "shaders"

ES = "precision highp float;\nprecision highp int;\n" + "".join(
    f"precision highp {kind}sampler{shape};\n" for kind in ("", "i", "u") for shape in ("2D", "2DArray"))
OLDER = (SHADERS / "pass" / "older_glsl.glsl").read_text()
PRELUDES = {"4.50": "#version 450 core\n", "4.10": "#version 410 core\n", "3.30": "#version 330 core\n" + OLDER,
            "ES 3.00": "#version 300 es\n" + ES + OLDER}

# Shader files that no run here compiles, and why.
NOT_COMPILED = {
    "bench_clock.frag": "needs GL_ARB_shader_clock, which limits leaves out without it",
    "gl_size.frag": "needs OpenGL ES 3.0",
    "gl_bits.frag": "needs a version below 4.5",
    "gl_lanes.frag": "needs subgroups, of 32 fragments",
    "sort_tile_cuts.frag": "needs subgroups",
    "sort_tile_merge.frag": "needs subgroups",
    "sort_tile_sort.frag": "needs subgroups",
    "nbody_advance.frag": "of a demo",
    "nbody_forces.frag": "of a demo",
    "waves_speeds.frag": "of a demo",
    "waves_step.frag": "of a demo",
    "show_out_of_order.frag": "of the films",
    "query_nothing.frag": "is compiled under the names of at_depth.vert and at_next_bit.vert",
}


def name_of(file):
    """For a dumped text: the shader's file with _ for /, and the stage."""
    return file.name.split(".")[0] + file.suffix


def refused(files, folder, dialect):
    """glslang's errors for the texts that do not compile, by name."""
    folder.mkdir()
    for file in files:
        (folder / file.name).write_text(PRELUDES[dialect] + file.read_text())
    result = subprocess.run(["glslangValidator", "-t", *(folder / file.name for file in files)], capture_output=True,
                            text=True)
    # glslang prints the path of each text, followed by its errors if there are any.
    said = re.split(rf"^{re.escape(str(folder))}/(.*)\n", result.stdout, flags=re.MULTILINE)[1:]
    assert len(said) == 2 * len(files), result.stdout[:1000] + result.stderr[:1000]
    return {name_of(pathlib.Path(name)): words for name, words in zip(said[::2], said[1::2]) if "ERROR" in words}


class Shaders(Command):
    def made(self, *args, stdin=b""):
        result = run(*args, stdin=stdin, env={"QUADMILL_SHADERS": str(self.shaders)})
        self.assertEqual(result.returncode, 0, (args, result.stderr.decode()))

    def setUp(self):
        super().setUp()
        self.shaders = pathlib.Path(self.folder, "shaders")
        self.shaders.mkdir()
        self.numbers = random.Random(1)
        self.out = ["-o", self.path("out")]

    def sorts(self):
        keys = floats(self.numbers.uniform(-9, 9) for _ in range(3000))
        for engine in ("pbsn", "bitonic", "merge"):
            self.made("sort", "--engine", engine, *self.out, stdin=keys)
            self.made("sort", "--engine", engine, "--window", "100", *self.out, stdin=keys)
        for engine in ("bitonic", "merge"):
            for kind, size in (("u32", 4), ("i64", 8), ("f16", 2)):
                data = self.numbers.randbytes(size * 1000)
                self.made("sort", "--engine", engine, "--type", kind, *self.out, stdin=data)
                self.made("sort", "--engine", engine, "--type", kind, "--with-index", self.path("index"), *self.out,
                          stdin=data)
        self.made("sort", "--engine", "merge", "--top", "10", *self.out, stdin=keys)
        self.made("sort", "--engine", "merge", "--top", "10", *self.out, stdin=floats(range(1 << 18)))

    def queries(self):
        rows = "a,b,c,t\n" + "".join(
            f"{self.numbers.randrange(1000)},{self.numbers.random():.3f},{'' if i % 7 == 0 else i * 2**33},w{i % 5}\n"
            for i in range(500))
        rows = rows.encode()
        other = self.path("o.csv", rows)
        for engine in ("bitmap", "depth"):
            for query in ("SELECT COUNT(*) FROM - WHERE a > 3 AND (b < 0.5 OR c >= 70) AND NOT a IN (1, 2, 3)",
                          "SELECT COUNT(*), SUM(a), SUM(b), MIN(c), MAX(a), MEDIAN(a), MEDIAN(c) FROM - "
                          "WHERE a < b * 900",
                          "SELECT COUNT(*) FROM - WHERE a + b > 2 AND a > b AND c IS NOT NULL",
                          "SELECT MEDIAN(b), SUM(c) FROM - WHERE c IS NOT NULL",
                          "SELECT t, COUNT(*) FROM - GROUP BY t"):
                self.made("query", query, "--engine", engine, stdin=rows)
        for on in ("stdin.a = o.a", "stdin.c = o.c", "ABS(stdin.a - o.a) <= 2", "ABS(stdin.b - o.b) <= 0.001"):
            for method in ("loops", "merge"):
                query = f"SELECT COUNT(*), SUM(stdin.a) FROM - JOIN '{other}' ON {on} WHERE stdin.b > 0.2 AND o.a < 900"
                self.made("query", query, "--engine", "bitmap", "--join", method, stdin=rows)

    def sketches(self):
        for kind in ("thread", "warp", "half", "quarter"):
            for engine in ("blend-counters", "blend-buckets", "blend-packed", "sort"):
                if kind != "thread" or engine in ("blend-counters", "sort"):
                    for size, name in ((4, "u32"), (8, "u64"), (4, "f32")):
                        self.made("sketch", "build", "--kind", kind, "--engine", engine, "--type", name, "--width",
                                  "50", *self.out, stdin=bytes(size * 5000))
        for kind in ("msws", "sf"):
            self.made("sketch", "build", "--kind", kind, "--width", "50", *self.out, stdin=bytes(4))
            self.made("sketch", "query", self.out[1], "--device", "0", "--profile", stdin=bytes(4))
        self.made("sketch", "build", "--kind", "msws", "--engine", "blend-counters", "--width", "50", *self.out,
                  stdin=bytes(4000))
        for engine in ("blend-packed", "sort"):
            for kind in ("half", "quarter"):
                self.made("sketch", "top", "--kind", kind, "--engine", engine, "--width", "50", stdin=bytes(4000))

    def matrices(self):
        for n in (5, 70):
            matrix = self.path("a", floats(self.numbers.uniform(-1, 1) for _ in range(n * n)))
            sides = self.path("b", floats(self.numbers.uniform(-1, 1) for _ in range(n)))
            for pivot in ("none", "partial", "full"):
                self.made("lu", matrix, "--pivot", pivot, "--solve", sides)
            for more in (["--swap", "pointer", "--block", "1"], ["--block", "1"], ["--refine"]):
                self.made("lu", matrix, "--solve", sides, *more)
        for n in range(1, 33):
            matrices = self.path("a", floats(self.numbers.uniform(-1, 1) for _ in range(2 * n * n)))
            sides = self.path("b", floats(self.numbers.uniform(-1, 1) for _ in range(2 * n)))
            self.made("lu", matrices, "--batch", str(n), "--solve", sides, *self.out)

    def benches(self):
        for what in ("keys", "pairs"):
            self.made("bench", "sort", "--engines", "kipfer,purcell", "--what", what, "--n", "100", "--repeat", "1")
        self.made("bench", "sketch", "--n", "500", "--kinds", "quarter", "--loads", "1", "--repeat", "1", "--quick")
        self.made("limits", "--side", "64", "--repeat", "1")

    def test_every_dialect(self):
        self.sorts()
        self.queries()
        self.sketches()
        self.matrices()
        self.benches()
        texts = {file.name: file for folder in (OF_TESTS, self.shaders) for file in folder.iterdir()}
        rooms = {folder.name for folder in SHADERS.iterdir()}
        files = [texts[name] for name in sorted(texts) if name.split("_")[0] in rooms]  # not tests' own
        names = {name_of(file) for file in files}
        wanted = {"_".join(file.relative_to(SHADERS).parts) for file in SHADERS.glob("*/*.frag")}
        self.assertEqual(wanted - names, set(NOT_COMPILED), len(files))

        for dialect in PRELUDES:
            found = refused(files, pathlib.Path(self.folder, dialect.replace(" ", "")), dialect)
            with self.subTest(dialect=dialect):
                for name in sorted(found):
                    self.fail(f"{name} does not compile as {dialect}:\n{found[name]}")


if __name__ == "__main__":
    unittest.main()
