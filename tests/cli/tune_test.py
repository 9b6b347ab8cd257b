#!/usr/bin/env python3
"""`quadmill tune`, the file that it writes, and how `auto` uses it.

    tests/cli/tune_test.py PROGRAM
"""
import copy
import json
import os
import pathlib
import struct
import tempfile
import unittest

from command import Command, run


class Tune(Command):
    @classmethod
    def setUpClass(cls):
        """Tunes for one thread, in place of a damaged file. Tuning takes long, so the tests share what it wrote."""
        with tempfile.TemporaryDirectory() as config:
            cls.path_of_tuned = pathlib.Path(config, "quadmill", "tune.json")
            cls.path_of_tuned.parent.mkdir()
            cls.path_of_tuned.write_text("{")
            cls.done = run("tune", "--quick", "--threads", "1", "--json", env={"XDG_CONFIG_HOME": config})
            assert cls.done.returncode == 0, cls.done.stderr
            cls.tuned = json.loads(cls.path_of_tuned.read_text())
            cls.beside = os.listdir(cls.path_of_tuned.parent)

    def setUp(self):
        super().setUp()
        self.config = pathlib.Path(self.folder)
        self.file = self.config / "quadmill" / "tune.json"

    def run_it(self, *arguments, stdin=b"", **environment):
        return run(*arguments, stdin=stdin, env={"XDG_CONFIG_HOME": str(self.config), **environment})

    def write(self, entry, **head):
        """A file with one entry for this machine, in which `entry` is changed."""
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(json.dumps({"format": "quadmill tune", "version": 2, "entries": [entry], **head}))

    def bench(self, n):
        """The engine that `auto` chooses for n keys."""
        done = self.run_it("bench", "sort", "--engines", "auto", "--n", str(n), "--repeat", "1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["cases"][0]["contenders"][0]["engine"]

    def test_what_it_measures_is_written_and_read(self):
        told = json.loads(self.done.stdout)
        self.assertIn(b"is replaced", self.done.stderr)
        self.assertEqual(self.tuned["version"], 2)
        self.assertEqual(self.beside, ["tune.json"])  # nothing is left next to it
        entry, = self.tuned["entries"]
        for key, value in entry.items():
            self.assertEqual(told[key], value)
        self.assertEqual(told["file"], str(self.path_of_tuned))
        self.assertEqual(set(entry["sort"]), {"keys", "with_index", "windows", "batches", "top", "hybrid"})
        for widths in entry["sort"].values():
            self.assertEqual(set(widths), {"16", "32", "64"})
        for case in told["cases"]:
            sizes = [point["n"] for point in case["points"]]
            self.assertEqual(sizes, sorted(set(sizes)))
            self.assertTrue(sizes, case)
            for point in case["points"]:
                self.assertGreater(min(point["cpu_ms"], point["gpu_ms"]), 0)
        self.assertEqual(len(told["cases"]), 5 * 3 + 4)

        # Another device's entry stays; this one's is replaced.
        other = {**entry, "renderer": "another device"}
        self.file.parent.mkdir()
        self.file.write_text(json.dumps({**self.tuned, "entries": [other, {**entry, "threads": os.cpu_count()}]}))
        done = self.run_it("tune", "--quick")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("crossover to the GPU", done.stdout.decode())
        entries = json.loads(self.file.read_text())["entries"]
        self.assertEqual([one["renderer"] for one in entries], ["another device", entry["renderer"]])
        self.assertEqual(entries[0], other)
        entry = entries[1]

        # auto follows the file if the entry is for this device and number of threads.
        for n, expected in (10, "merge"), (None, "cpu"):
            entry["sort"]["keys"]["32"] = n
            entry["sort"]["hybrid"]["32"] = None
            self.write(entry)
            self.assertEqual(self.bench(5000), expected)
        entry["sort"]["hybrid"]["32"] = 10
        self.write(entry)
        self.assertEqual(self.bench(5000), "hybrid")
        self.write({**entry, "threads": entry["threads"] + 1})
        self.assertEqual(self.bench(5000), "cpu")
        self.write({**entry, "driver": "an older one"})
        self.assertEqual(self.bench(5000), "cpu")
        self.write({**entry, "cpu_sort": "another sort"})
        self.assertEqual(self.bench(5000), "cpu")

        # The reason names the figures. --precision makes the command open a context for a few keys, too.
        entry["sort"]["keys"]["32"], entry["sort"]["hybrid"]["32"] = 3, None
        self.write(entry)
        keys = struct.pack("<4f", 4, 2, 3, 1)
        done = self.run_it("sort", "--precision", "f32", "--explain-engine", stdin=keys)
        self.assertEqual(done.stdout, struct.pack("<4f", 1, 2, 3, 4))
        self.assertRegex(done.stderr.decode(),
                         r"^engine merge: for 32-bit keys, the crossover to the GPU is 3; there are 4 "
                                               r"\(measured by `quadmill tune` at 2\d{3}-")

    def test_no_context_is_opened_where_the_file_says_never(self):
        keys = self.config / "keys.i64"
        with open(keys, "wb") as file:
            file.truncate(8 << 22)
        entry = copy.deepcopy(self.tuned["entries"][0])
        entry["sort"]["with_index"]["64"] = None

        def context_ms(*options):
            done = self.run_it("sort", "--type", "i64", "--threads", "1", "--stats", "--with-index", os.devnull,
                               "-o", os.devnull, *options, str(keys))
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stderr)["context_ms"]

        self.write(entry)
        self.assertEqual(context_ms(), 0)
        # An entry for another machine, device or number of threads is ignored; the device must be opened.
        for change in {"machine": "nvidia0 999"}, {"device": 7}, {"threads": 2}:
            self.write({**entry, **change})
            self.assertGreater(context_ms(), 0, change)
        for old in "machine", "device":
            self.write({key: value for key, value in entry.items() if key != old})
            self.assertGreater(context_ms(), 0, old)

    def test_a_file_that_cannot_be_read_is_an_error_that_says_what_to_do(self):
        self.file.parent.mkdir()
        keys = struct.pack("<2f", 2, 1)
        for text, what in (("{", "is not JSON"), ("[]", "is not a file of `quadmill tune`"),
                           ('{"format": "quadmill tune", "version": 1, "entries": []}', "version 1"),
                           ('{"format": "quadmill tune", "version": 2}', "is damaged"),
                           ('{"format": "quadmill tune", "version": 2, "entries": [{}]}', "is damaged"),
                           ('{"format": "quadmill tune", "version": 2, "entries": 3}', "is damaged"),
                           ('{"format": "quadmill tune", "version": 2, "entries": [{"renderer": 7}]}', "is damaged")):
            self.file.write_text(text)
            done = self.run_it("sort", "--precision", "f32", stdin=keys)
            self.assertEqual((done.returncode, done.stdout), (1, b""), text)
            error = done.stderr.decode()
            for part in what, str(self.file), "run `quadmill tune` again":
                self.assertIn(part, error)
            self.assertEqual(error.count("\n"), 1)
        # With a named engine the file is not needed.
        for engine in "cpu", "merge":
            self.assertEqual(self.run_it("sort", "--engine", engine, stdin=keys).returncode, 0)

    def test_where_there_is_no_place_for_the_file(self):
        self.file.parent.write_text("a file where the folder should be")
        done = self.run_it("tune", "--quick")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot be made", done.stderr)
        keys = struct.pack("<2f", 2, 1)
        self.assertEqual(self.run_it("sort", "--precision", "f32", stdin=keys).returncode, 0)
        # A relative folder is ignored, and so is an empty one.
        for home in "", "relative":
            done = self.run_it("sort", "--precision", "f32", stdin=keys, XDG_CONFIG_HOME=home, HOME=home)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_why_the_engine(self):
        keys = struct.pack("<2f", 2, 1)
        for options, why in (((), "engine cpu: the CPU sorts these 2 keys in about 0 ms; a GPU may save 0 ms, and auto "
                                  "opens a context only to save 100 ms"),
                             (("--engine", "merge"), "engine merge: as --engine says"),
                             (("--engine", "cpu"), "engine cpu: as --engine says"),
                             (("--precision", "f32"), "engine cpu: for 32-bit keys, the CPU is faster at every "
                                                      "size (built-in figures; `quadmill tune` measures "
                                                      "this machine)")):
            done = self.run_it("sort", "--explain-engine", *options, stdin=keys)
            self.assertEqual((done.stdout, done.stderr.decode()), (struct.pack("<2f", 1, 2), why + "\n"))
        table = self.config / "t.csv"
        table.write_text("a\n1\n2\n")
        sql = f"SELECT COUNT(*) FROM '{table}' WHERE a > 1"
        for options, why in ((), "engine cpu: the CPU answers this in less than 100 ms"), \
                            (("--engine", "bitmap"), "engine bitmap: as --engine says"):
            done = self.run_it("query", sql, "--explain-engine", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stderr.decode().startswith(why), done.stderr)

    def test_queries(self):
        """Statements go to the GPU where the measured costs say so: here they do not, and with other costs they do."""
        table = self.config / "t.csv"
        table.write_bytes(b"a,b\n" + b"1,5\n2,6\n" * (1 << 20))
        n = 1 << 20
        one = f"SELECT COUNT(*) FROM '{table}' WHERE a > 1"

        def why(sql, *options, **environment):
            done = self.run_it("query", sql, "--threads", "1", "--explain-engine", *options, **environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, b"".join(b"%s\n%d\n" % (name, n) for name in [b"COUNT(*)"] * sql.count("*")))
            return done.stderr.decode()

        entry = copy.deepcopy(self.tuned["entries"][0])
        costs = entry["statements"]
        self.assertEqual(set(costs), {"cpu_ns", "gpu_ns", "cpu_rank_ns", "gpu_rank_ns", "cpu_group_ns", "gpu_group_ns",
                                      "cpu_join_ns", "gpu_join_ns", "load_ns", "start_ms"})
        self.assertGreater(min(costs[name] for name in costs if name != "load_ns"), 0)
        self.assertLess(costs["cpu_ns"], costs["gpu_ns"] + costs["load_ns"])  # a software renderer
        self.assertTrue(why(one).startswith("engine cpu: the CPU answers this in less than 100 ms"))
        three = "; ".join([one] * 3)
        self.assertTrue(why(three).startswith("engine cpu: `quadmill tune` has not measured"))
        self.write(entry)
        self.assertRegex(why(three), r"^engine cpu: about \d+ ms on the CPU and \d+ ms on the GPU, with its start; .* "
                                     r"\(measured by `quadmill tune` at 2\d{3}-")
        # 6 M rows at 100 ns are 629 ms; the column's way is paid once.
        fast = {"cpu_ns": 100, "gpu_ns": 10, "cpu_rank_ns": 1, "gpu_rank_ns": 1, "load_ns": 100, "start_ms": 20}
        entry["query"]["rows"] = 1
        self.write({**entry, "statements": fast})
        self.assertTrue(why(three).startswith("engine auto with the GPU: about 629 ms on the CPU and 293 ms on the"))
        for slow, gpu_ms in ({"start_ms": 300}, 573), ({"load_ns": 250}, 607):
            self.write({**entry, "statements": {**fast, **slow}})
            self.assertTrue(why(three).startswith(f"engine cpu: about 629 ms on the CPU and {gpu_ms} ms on the GPU"))
        # Groups cost what a GROUP BY was measured to cost; files before it was measured leave it to the CPU. Printed
        # columns are not loaded, and of a join each column has the rows of its own table. The GPU compares all pairs of
        # a join, or leaves it to the CPU, which sorts and merges.
        small = self.config / "small.csv"
        small.write_text("a,b\n1,2\n3,4\n")
        grouped = f"SELECT a, COUNT(*) FROM '{table}' GROUP BY a LIMIT 1; {one}"
        joined = f"SELECT COUNT(*) FROM '{table}' AS x JOIN '{small}' AS y ON x.a = y.a WHERE y.b = 7 AND x.a = 8; "
        joined += three
        for sql, more, cpu_ms, gpu_ms in ((grouped, {"cpu_group_ns": 100, "gpu_group_ns": 50}, 419, 356),
                                          (joined, {"cpu_join_ns": 10, "gpu_join_ns": 5}, 860, 335),
                                          (joined, {"cpu_join_ns": 10, "gpu_join_ns": 1}, 860, 318)):
            self.write({**entry, "statements": {**fast, **more}})
            done = self.run_it("query", sql, "--threads", "1", "--explain-engine")
            self.assertIn(f"about {cpu_ms} ms on the CPU and {gpu_ms} ms on the GPU", done.stderr.decode())
        self.write({**entry, "statements": fast})
        for sql in grouped, joined:
            done = self.run_it("query", sql, "--threads", "1", "--explain-engine")
            self.assertIn("`quadmill tune` has not measured", done.stderr.decode())
        self.write({key: value for key, value in entry.items() if key != "statements"})  # an older file
        self.assertTrue(why(three).startswith("engine cpu: `quadmill tune` has not measured"))
        self.write({**entry, "statements": fast, "threads": 2})
        self.assertTrue(why(three).startswith("engine cpu: `quadmill tune` has not measured"))


if __name__ == "__main__":
    unittest.main()
