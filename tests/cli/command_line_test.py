"""The command as its users see it: sorted output, messages, and what is left after a failure.

usage: command_line_test.py QUADMILL [unittest arguments]
"""
import array
import json
import math
import os
import random
import re
import struct
import subprocess
import time
import unittest
import xml.etree.ElementTree

from command import QUADMILL, QUERY_ENGINES, Command, floats, halves, npy, run


class Help(Command):
    def test_version_and_help(self):
        self.assertRegex(run("--version").stdout.decode(), r"^quadmill \d+\.\d+\.\d+\n")
        for verb in ([], ["info"], ["sort"], ["quantiles"], ["frequent"], ["hhh"], ["corrsum"], ["merge"], ["query"],
                     ["limits"], ["bench"], ["bench", "sort"], ["show"], ["show", "sort"], ["show", "query"],
                     ["show", "quantiles"], ["terasort"]):
            result = run(*verb, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stderr, b"")
            self.assertIn(b"--help", result.stdout)
        self.assertIn(b"Examples:", run("--help").stdout)
        self.assertIn(b"Examples:", run("sort", "--help").stdout)

    def help_texts(self):
        """Each verb with the output of -h and --help."""
        left = [()]
        while left:
            verb = left.pop()
            short, whole = (run(*verb, option).stdout.decode() for option in ("-h", "--help"))
            yield verb, short, whole
            below = whole.partition("\nVerbs:\n")[2].partition("\n\n")[0]
            left += [(*verb, name) for name in re.findall(r"^  ([\w-]+) ", below, re.MULTILINE)]

    def test_help_is_as_wide_as_a_terminal_and_names_no_types(self):
        count = 0
        for verb, short, whole in self.help_texts():
            count += 1
            for line in (short + whole).splitlines():
                self.assertLessEqual(len(line), 80, (verb, line))
            self.assertNotRegex(whole, r"\bUINT\b|\bINT\b|ENUM:|FLOAT|TEXT:| in \[[-0-9]+ - ", verb)
            if verb not in ((), ("bench",), ("show",), ("sketch",)):
                self.assertIn("Example", whole, verb)
        self.assertGreater(count, 20)

    def test_short_help_has_everyday_options_alone(self):
        for verb, short, whole in self.help_texts():
            groups = "\nPerformance:\n" in whole or "\nReproducing the papers:\n" in whole
            self.assertNotRegex(short, r"\n(Performance|Reproducing the papers):\n", verb)
            self.assertEqual("has more options" in short, groups, verb)
            self.assertEqual(len(short) < len(whole), groups, verb)
        whole = run("sort", "--help").stdout.decode()
        papers = whole.partition("\nReproducing the papers:\n")[2]
        for option in ("--no-early-stop", "--max-run", "--representation", "--steps-per-pass"):
            self.assertIn(option, papers)
        self.assertNotIn("--order", papers.partition("\n\n")[0])
        self.assertIn("--steps-per-pass 1..3 ", papers)

    def test_wrong_calls(self):
        self.fails(2, "quadmill --help")
        self.assertIn("did you mean 'sort'?", self.fails(2, "quadmill --help", "sorrt"))
        for args in ([], ["--text"], ["--eps", "0.1", "file"]):
            self.fails(2, "unknown verb 'quantile'; did you mean 'quantiles'?", "quantile", *args)
        self.fails(2, "did you mean 'query'?", "qeury")
        self.fails(2, "unknown verb 'frobnicate'; the verbs are info, sort, quantiles", "frobnicate")
        self.fails(2, "unknown verb 'streams'; did you mean 'stream'?", "bench", "streams")
        self.fails(2, "--nonsense", "sort", "--nonsense")
        self.fails(2, "--type", "sort", "--type", "f31")
        self.fails(2, "--window", "sort", "--window", "0")
        self.fails(2, "--window", "sort", "--window", "-3")
        self.fails(2, "--device", "sort", "--device", "-1")
        self.fails(2, "--max-texels", "sort", "--max-texels", "0")
        self.fails(2, "extra", "sort", "-", "extra")
        self.fails(2, "-o", "sort", "-o", "", stdin=floats([1]))
        self.fails(2, "--precision", "sort", "--engine", "cpu", "--precision", "f16", stdin=floats([1]))
        self.fails(2, "--representation", "sort", "--representation", "two")
        self.fails(2, "--steps-per-pass: '4' is not a whole number from 1 to 3", "sort", "--steps-per-pass", "4")
        self.fails(2, "--batch: '33' is not a whole number from 1 to 32", "lu", "x", "--batch", "33")
        self.fails(2, "pictures are PNG", "show", "sort", "-o", self.path("x.jpg"))
        said = run("sort", "--engine", "merge", "--kernel", "subgroup", stdin=floats([1])).stderr
        self.assertIn(said.partition(b"needs")[0], (b"", b"quadmill: the subgroup kernel "))  # a GPU has subgroups

    def test_words_of_other_programs(self):
        self.assertEqual(run("-V").stdout, run("--version").stdout)
        self.assertEqual(run("help", "sort").stdout, run("sort", "--help").stdout)
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.fails(2, "unknown option '--hepl'; did you mean '--help'?", "--hepl")
        self.fails(2, "unknown option '-v'", "-v")
        self.fails(2, "`shuf`", "sort", "-R")
        self.fails(2, "the output is the second file", "terasort", "a", "-o", "b")
        self.fails(2, "unknown verb 'top'; did you mean 'sketch top'?", "top", "file")

    def test_unknown_words_are_named(self):
        self.fails(2, "unknown option '--txet'; did you mean '--text'?", "sort", "--txet")
        self.fails(2, "unknown option '--json'; --stats", "sort", "--json")
        self.fails(2, "unknown option '--suport'; did you mean '--support'?", "frequent", "--suport", "0.1", "file")
        self.fails(2, "unknown option '--epsilon=1'; did you mean '--eps'?", "quantiles", "--epsilon=1", "file")
        self.fails(2, "unknown option '-n'; did you mean '--n'?", "show", "sort", "-n", "8")
        self.assertNotIn("did you mean", self.fails(2, "unknown option '-x'", "info", "-x"))
        self.assertNotIn("did you mean", self.fails(2, "unknown option '--bogus'", "tune", "--bogus"))
        self.fails(2, "unknown option '--json'; options of a verb go after it", "--json", "info")
        self.fails(2, "unexpected arguments 'b', 'c'", "lu", "a", "b", "c")
        self.fails(2, "unexpected argument 'b'", "lu", "a", "b")
        self.fails(2, "a verb is missing: build, query, top, merge, info", "sketch")
        self.fails(2, "a verb is missing: info, sort, ")
        for option, values in (("--type", "f16|f32|f64"), ("--order", "asc|desc"), ("--output", "FILE")):
            self.fails(2, f"{option} needs a value: {values}", "sort", "--text", option)
        self.fails(2, "--with-index: the value is missing before --type", "sort", "--with-index", "--type", "f32",
                   cwd=self.folder)
        self.fails(2, "--solve: the value is missing before --json", "lu", "matrix", "--solve", "--json")
        self.assertEqual(os.listdir(self.folder), [])
        for args, words in ((["sketch", "bild"], "did you mean 'build'?"), (["frobnicate"], "the verbs are"),
                            (["help", "frobnicate"], "the verbs are")):
            for option in ("-h", "--help"):
                self.fails(2, words, *args, option)

    def test_flags_take_no_values(self):
        # "--json=false" used to turn some flags on and others off.
        for args in (["sort", "--text=foo"], ["sort", "--text=false"], ["sort", "--stats=false"],
                     ["sort", "--no-early-stop=x"],
                     ["quantiles", "--json=false"], ["query", "SELECT a FROM x.csv", "--json=false"],
                     ["query", "SELECT a FROM x.csv", "--explain=text"],
                     ["terasort", "a", "b", "--lines=false"], ["bench", "figures", "--quick=no"]):
            self.fails(2, args[-1].split("=")[0], *args)

    def test_no_option_is_ignored(self):
        data = self.path("f", floats([3, 1, 2, 4] * 64))
        lines = self.path("l", b"b\na\n")
        text_sketch = self.path("t.sk")
        self.assertEqual(run("sketch", "build", lines, "--type", "text", "--width", "64", "-o", text_sketch).returncode,
                         0)
        self.path("c.csv", b"a,b\n1,2\n")
        query = ("query", "SELECT a FROM 'c.csv'")
        join = ("query", "SELECT x.a FROM 'c.csv' AS x JOIN 'c.csv' AS y ON x.a = y.a")
        matrix = self.path("m.mtx", b"%%MatrixMarket matrix array real general\n1 1\n2\n")
        out = self.path("out")
        sketch = ("sketch", "build", data, "--width", "64", "-o", out)
        calls = [("pbsn", ("sort", data, "-o", out, "--engine", engine), option)
                 for engine in ("merge", "bitonic", "hybrid", "auto", "cpu")
                 for option in ("--no-early-stop", "--channels=split", "--channel-merge=two", "--max-texels=1024",
                                "--max-run=256")]
        calls += [("pbsn", (verb, data, *more, "--engine", engine), option)
                  for verb, *more in (("quantiles",), ("frequent", "--support=0.1"), ("corrsum", "--agg=min"),
                                      ("hhh", "--support=0.1", "--hierarchy=8,16")) for engine in ("auto", "merge")
                  for option in ("--no-early-stop", "--channels=windows", "--channel-merge=two")]
        calls += [("--window", ("sort", data, "-o", out, "--engine", "pbsn"), "--channels=split"),
                  ("merge, hybrid or auto", ("sort", data, "-o", out, "--engine", "bitonic"), "--kernel=fragment"),
                  ("merge, hybrid or auto", ("sort", data, "-o", out, "--engine", "cpu"), "--kernel=fragment"),
                  ("bitonic", ("sort", data, "-o", out), "--steps-per-pass=1"),
                  ("--precision f16", ("sort", data, "-o", out), "--round"),
                  ("f16", ("sort", data, "-o", out, "--type", "f16", "--precision", "f16"), "--round"),
                  ("f32 and f16", ("sort", data, "-o", out, "--type", "i32"), "--precision=f16"),
                  ("text is f64", ("sort", "--text"), "--precision=f16"),
                  ("--explain", (*query, "--explain"), "--profile"), ("--explain", (*query, "--explain"), "--batch=2"),
                  ("--explain", (*query, "--explain"), "--explain-engine"),
                  ("JOIN", query, "--join=loops"), ("JOIN", query, "--join-block=4"),
                  ("--join loops", (*join, "--join", "merge"), "--join-block=4"),
                  ("depth or bitmap", query, "--execution=one-op"),
                  ("--block 1", ("lu", matrix), "--swap=pointer"),
                  ("which swap", ("lu", matrix, "--pivot", "none", "--block", "1"), "--swap=pointer"),
                  ("more than 1", ("lu", matrix, "--block", "1"), "--layout=scalars"),
                  ("more than 1", ("lu", matrix, "--pivot", "full"), "--layout=tiles"),
                  ("--kind sf", sketch, "--fat=3"), ("--kind sf", ("sketch", "top", data, "-k", "1"), "--fat=3"),
                  ("lines", ("sketch", "query", text_sketch, lines), "--raw"),
                  ("lines", ("sketch", "build", lines, "--type", "text", "--width=64", "-o", out), "--raw"),
                  ("one length", ("terasort", lines, out, "--lines"), "--merge=gpu"),
                  ("pbsn", ("show", "sort", "--engine", "merge", "-o", out), "--early-stop")]
        for words, call, option in calls:
            with self.subTest(call=call, option=option):
                self.assertRegex(self.fails(2, words, *call, option, cwd=self.folder),
                                 rf"{option.split('=')[0]}: goes with")
                self.assertFalse(os.path.exists(out))
        self.fails(1, "--columns goes with raw", "lu", matrix, "--columns", "2")

    def test_numbers_of_options(self):
        for args in (["--threads", "-1"], ["--threads", "1025"], ["--top", "0"], ["--header", "-1", "--text"]):
            text = self.fails(2, args[0], "sort", *args)
            self.assertIn("whole number from", text)
            self.assertLess(len(text), 200)
        for size in ("-5", "-1G", "", "G", "1X"):
            self.fails(2, "is not a size such as 256M", "terasort", "a", "b", "--memory", size)
        self.fails(2, "--key-offset", "terasort", "a", "b", "--key-offset", "95")

    def test_folder_for_temporary_files(self):
        data = self.path("data.f32", floats([3, 1, 2]))
        environment = {"TMPDIR": "/nonexistent"}
        self.assertEqual(run("sort", data, "-o", self.path("out"), env=environment).returncode, 0)
        records = self.path("records", b"b" * 100 + b"a" * 100)
        self.assertEqual(run("terasort", records, self.path("sorted"), env=environment).returncode, 0)
        self.assertEqual(self.read(self.path("sorted")), b"a" * 100 + b"b" * 100)

    def test_info(self):
        facts = json.loads(run("info", "--json").stdout)
        self.assertRegex(facts["opengl"], r"^4\.[5-9]")
        self.assertGreaterEqual(facts["max_texture_size"], 1024)
        self.assertIn(facts["renderer"], run("info").stdout.decode())
        for wrong in "x", "3", "0", "GL33":
            self.fails(2, f"--api: '{wrong}' is not one of gl45, gl41, gl33, es3", "info", "--api", wrong)
        self.fails(2, "'csh' is not one of bash, zsh, fish", "completion", "csh")
        self.fails(2, "'9' is not one of 1, 8, 16, 32", "lu", "--block", "9", "-")
        self.fails(1, "device", "info", "--device", "99")
        # Also if the CPU would do the work.
        for verb in (["sort"], ["sort", "--engine", "cpu"], ["quantiles", "--engine", "cpu"], ["quantiles"],
                     ["frequent"], ["hhh"], ["corrsum"], ["query", "SELECT a FROM -"],
                     ["query", "--engine", "cpu", "SELECT a FROM -"], ["limits"], ["bench", "sort"],
                     ["bench", "query"], ["bench", "stream"], ["bench", "join"], ["bench", "external"],
                     ["bench", "sketch"], ["bench", "linalg"], ["bench", "devices"],
                     ["bench", "figures"], ["tune", "--quick"], ["lu", "-"],
                     ["terasort", "-", "x.out", "--engine", "cpu"],
                     ["sketch", "build", "--engine", "cpu", "-o", "x.sketch"], ["show", "sort", "-o", "x.png"],
                     ["show", "query", "-o", "x.png"]):
            with self.subTest(verb=verb):
                self.fails(1, "no device 99", *verb, "--device", "99", stdin=b"a\n1\n")
        self.assertEqual(run("sort", "--engine", "cpu", "--device", "0", stdin=floats([2, 1])).stdout, floats([1, 2]))
        self.fails(1, "QUADMILL_DEVICE", "info", env={"QUADMILL_DEVICE": "first"})

    def test_several_devices(self):
        values = [float(7919 * i % 1000003) for i in range(1100000)]
        result = run("sort", "--device", "0,0", "--stats", stdin=floats(values))
        self.assertEqual(result.stdout, floats(sorted(values)))
        stats = json.loads(result.stderr)
        self.assertEqual(stats["engine"], "merge")
        self.assertEqual(stats["textures"], 2)
        self.assertEqual([share["failure"] for share in stats["devices"]], [None, None])
        self.assertEqual(sum(share["keys"] for share in stats["devices"]), len(values))
        self.assertEqual(run("sort", "--device", "all", stdin=floats(values[:1000])).stdout,
                         floats(sorted(values[:1000])))
        one = json.loads(run("quantiles", "--engine", "merge", "--json", stdin=floats(values)).stdout)
        both = json.loads(run("quantiles", "--device", "0,0", "--json", stdin=floats(values)).stdout)
        self.assertEqual(both["quantiles"], one["quantiles"])
        self.assertEqual(both["engine"], "merge")
        self.assertGreater(sum(share["keys"] for share in both["devices"]), 0)
        for verb in (["frequent", "--support", "0.1"],
                     ["hhh", "--support", "0.1", "--type", "u32", "--hierarchy", "8,32"],
                     ["corrsum", "--agg", "count"]):
            with self.subTest(verb=verb):
                result = run(*verb, "--device", "0,0", stdin=floats(values[:1000]))
                self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.fails(1, "no device 99", "sort", "--device", "0,99")
        self.fails(2, "'x' is neither the index", "sort", "--device", "0,x")
        self.fails(2, "includes the others", "sort", "--device", "all,0")
        self.fails(2, "neither the index", "sort", "--device", "")
        self.fails(2, "merge or auto", "sort", "--device", "0,0", "--engine", "cpu")
        self.fails(2, "--engine cpu", "quantiles", "--device", "0,0", "--engine", "cpu")
        for more in (["--window", "5"], ["--top", "5"], ["--with-index", "x.u32"], ["--profile"]):
            self.fails(2, "whole files", "sort", "--device", "0,0", *more)

    def test_several_ranks_do_not_do_the_same_work(self):
        for verb in (["sort"], ["query", "SELECT COUNT(*) FROM -"], ["merge", "none"], ["sketch", "top", "none"],
                     ["bench", "sort"], ["tune"]):
            for variable, ranks in (("OMPI_COMM_WORLD_SIZE", "3"), ("PMI_SIZE", "2")):
                said = self.fails(2, f"env -u {variable}", *verb, env={variable: ranks})
                self.assertIn(f"all {ranks} ", said)
        self.assertEqual(run("sort", "--text", stdin=b"2\n1\n", env={"PMI_SIZE": "1"}).stdout, b"1\n2\n")
        for args in (["sort", "--help"], ["info"], ["--version"]):
            self.assertEqual(run(*args, env={"PMI_SIZE": "2"}).returncode, 0, args)

    def test_limits(self):
        result = run("limits", "--json", "--side", "64", "--repeat", "2")
        limits = json.loads(result.stdout)["limits"]
        names = [limit["name"] for limit in limits]
        for part in ("write RGBA32F", "blend RGBA16F", "write RG32F", "write R32F", "fetch RGBA32F",
                     "fetches in the time",
                     "8 targets", "depth test", "stencil test", "scatter", "min and max", "upload", "read back",
                     "one pass", "state"):
            self.assertTrue(any(part in name for name in names), part)
        self.assertEqual(len(names), len(set(names)))
        for limit in limits:
            self.assertGreater(limit["low"], 0)
            self.assertLessEqual(limit["low"], limit["value"])
            self.assertLessEqual(limit["value"], limit["high"])
        cache = json.loads(result.stdout)["cache"]
        self.assertEqual(cache["side"], 64)
        self.assertEqual([one["stride"] for one in cache["strides"]], [1, 2, 4, 8, 16])
        self.assertIn(cache["block_width"], [1, 2, 4, 8, 16])
        self.assertEqual([one["bytes"] for one in cache["windows"]], [256, 1024, 4096, 16384, 65536])
        self.assertIn(cache["cache_bytes"], [one["bytes"] for one in cache["windows"]])
        self.assertEqual([one["rows"] for one in cache["steps"]], [1, 2, 4, 8, 16, 32])
        for step in cache["steps"]:
            self.assertEqual(step["predicted"], max(cache["block_height"] / step["rows"], 1))
            self.assertGreaterEqual(step["measured"], 1)
        self.assertGreaterEqual(cache["sort_measured"], 1)
        self.assertIsNone(json.loads(run("limits", "--json", "--side", "16", "--repeat", "1").stdout)["cache"])
        self.assertIn(b"all steps of a sort", run("limits", "--side", "32", "--repeat", "1").stdout)


class Sorting(Command):
    def sort(self, data, *args):
        result = run("sort", *args, stdin=data)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_numbers_both_ways(self):
        values = [random.Random(1).gauss(0, 100) for _ in range(5001)]
        data = floats(values)
        expected = sorted(array.array("f", values))
        for engine in ("pbsn", "cpu", "auto"):
            self.assertEqual(self.sort(data, "--engine", engine), floats(expected))
            self.assertEqual(self.sort(data, "--engine", engine, "--order", "desc"), floats(expected[::-1]))

    def test_special_values(self):
        values = [math.nan, 0.0, -0.0, math.inf, -math.inf, 1e-45, -1e-45, 1.0, -1.0] * 40
        data = floats(values)
        self.assertEqual(self.sort(data, "--engine", "pbsn"), self.sort(data, "--engine", "cpu"))
        expected = floats([v for v in (-math.inf, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, math.inf, math.nan)
                           for _ in range(40)])
        self.assertEqual(self.sort(data, "--engine", "pbsn"), expected)

    def test_halves_and_precision(self):
        values = [random.Random(2).randrange(-2048, 2049) for _ in range(3000)]
        self.assertEqual(self.sort(halves(values), "--type", "f16", "--engine", "pbsn"), halves(sorted(values)))
        self.assertEqual(self.sort(floats(values), "--precision", "f16", "--engine", "pbsn"), floats(sorted(values)))
        self.fails(1, "0.100000 at index 1", "sort", "--precision", "f16", "--engine", "pbsn",
                   stdin=floats([1.0, 0.1]))
        for engine in ("pbsn", "auto"):
            self.assertEqual(self.sort(floats([1.0, 0.1]), "--precision", "f16", "--round", "--engine", engine),
                             floats([0.0999755859375, 1.0]))

    def test_empty_and_single(self):
        for engine in ("pbsn", "bitonic", "merge", "hybrid", "cpu", "auto"):
            for options in ([], ["--text", "--type", "f32"], ["--window", "4"], ["--type", "f16"]):
                self.assertEqual(self.sort(b"", "--engine", engine, *options), b"")
            self.assertEqual(self.sort(floats([7]), "--engine", engine), floats([7]))

    def test_windows(self):
        values = [random.Random(3).random() for _ in range(1030)]
        expected = []
        for i in range(0, len(values), 100):
            expected += sorted(array.array("f", values[i:i + 100]))
        for engine in ("pbsn", "bitonic", "merge", "hybrid", "cpu"):
            self.assertEqual(self.sort(floats(values), "--window", "100", "--engine", engine), floats(expected))

    def test_several_textures(self):
        values = [random.Random(4).random() for _ in range(5000)]
        result = run("sort", "--engine", "pbsn", "--max-texels", "256", "--stats", stdin=floats(values))
        self.assertEqual(result.stdout, floats(sorted(array.array("f", values))))
        self.assertEqual(json.loads(result.stderr)["textures"], 5)

    def test_text(self):
        text = b"3\n-1e5\r\n+2.5\n  7 \ninf\n-inf\n0.1"
        expected = b"-inf\n-100000\n0.1\n2.5\n3\n7\ninf\n"
        for engine, kind in (("pbsn", ["--type", "f32"]), ("cpu", []), ("merge", [])):
            self.assertEqual(self.sort(text, "--text", "--engine", engine, *kind), expected)
        self.fails(2, "--type f32", "sort", "--text", "--engine", "pbsn", stdin=text)
        self.assertEqual(self.sort(b"nan\n1\n", "--text"), b"1\nnan\n")
        self.assertEqual(self.sort(b"2\n1\n", "--text", "--type", "f16"), b"1\n2\n")

    def test_memory_of_raw_values(self):
        # Values are sorted where they were read: with threads, too, there is no second copy.
        raw = self.path("f.u32", os.urandom(64 << 20))
        for threads in ("1", "2"):
            process = self.start("sort", raw, "--type", "u32", "--engine", "cpu", "--threads", threads)
            self.assertEqual(len(process.stdout.read(1)), 1)  # it has sorted, and waits for its output to be read
            with open(f"/proc/{process.pid}/status") as status:
                peak = int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) << 10
            process.kill()
            self.assertLess(peak, 1.2 * (64 << 20))

    def test_text_that_is_no_number(self):
        for bad, line in ((b"1\n2\nthree\n4\n", 3), (b"1\n\n2\n", 2), (b"1 2\n", 1), (b"1,5\n", 1), (b"--1\n", 1)):
            self.fails(1, f"line {line}", "sort", "--text", stdin=bad)
        self.fails(1, "out of the type's range", "sort", "--text", stdin=b"1e999\n")
        self.fails(1, "out of the type's range", "sort", "--text", "--type", "f32", stdin=b"1e99\n")
        self.fails(1, "out of the type's range", "sort", "--text", "--type", "f16", stdin=b"70000\n")

    def test_text_names_the_verb_that_sorts_it(self):
        for text in (b"5\n3\n", b"pear\napple\n", b"\n\n"):
            words = self.fails(1, "--text sorts numbers, one per line", "sort", self.path("n.txt", text))
            self.assertIn("`quadmill sort --lines` sorts lines of text", words)
        for text in (b"pear\napple\n", b"10.0.0.1 - GET\n9 x\n"):
            self.fails(1, "`quadmill sort --lines`", "sort", "--text", self.path("l.txt", text))
        for text in (b"1\npear\n", b"1e999\n"):
            self.assertNotIn("sort --lines", self.fails(1, "line", "sort", "--text", stdin=text))

    def test_stats(self):
        data = floats([random.Random(5).random() for _ in range(1 << 18)])
        result = run("sort", "--engine", "pbsn", "--no-early-stop", "--stats", stdin=data)
        lines = result.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1)
        stats = json.loads(lines[0])
        for key in ("n engine renderer steps stages_run stages_max passes upload_ms sort_ms readback_ms merge_ms "
                    "total_ms keys_per_s").split():
            self.assertIn(key, stats)
        self.assertEqual((stats["n"], stats["engine"]), (1 << 18, "pbsn"))
        self.assertEqual((stats["steps"], stats["stages_run"], stats["stages_max"]), (256, 16, 16))
        self.assertLessEqual(stats["sort_ms"], stats["total_ms"])
        self.assertEqual(json.loads(run("sort", "--engine", "cpu", "--stats", stdin=data).stderr)["engine"], "cpu")

    def test_profile(self):
        data = floats(range(1000, 0, -1))
        table = run("sort", "--engine", "pbsn", "--profile", stdin=data).stderr.decode()
        for name in ("min", "max", "copy to tex", "out of order"):
            self.assertRegex(table, rf"(?m)^{name} ")
        self.assertIn("min, step 2", run("sort", "--engine", "pbsn", "--profile-steps", stdin=data).stderr.decode())
        self.assertIn("% of limit", table)
        self.assertRegex(table, r"(?m)^limit: blend RGBA32F [0-9.]+ Gtexel/s$")
        self.assertIn("CPU", run("sort", "--engine", "cpu", "--profile", stdin=data).stderr.decode())

    def test_cost_as_the_paper_counts_it(self):
        # n keys: n log^2(n / 4) comparisons with blending, four at a time, and n keys merged.
        n = 1 << 12
        data = floats(random.Random(5).random() for _ in range(n))
        for options, steps, moves in (([], 100, 1), (["--channel-merge", "two"], 100, 2),
                                      (["--window", "64", "--channels", "windows"], 36, 0),
                                      (["--window", "64", "--channels", "split"], 16, 1)):
            table = run("sort", "--engine", "pbsn", "--no-early-stop", "--profile", *options,
                        stdin=data).stderr.decode()
            self.assertRegex(table, rf"(?m)^comparisons by blending +[0-9.e+]+, {steps} a key$")
            self.assertRegex(table, rf"(?m)^keys merged on the CPU +[0-9.e+]+, {moves} a key$")
            self.assertRegex(table, rf"(?m)^blend operations of four channels +[0-9.e+]+, {steps // 4} a key$")
        self.assertNotIn("blending", run("sort", "--engine", "merge", "--profile", stdin=data).stderr.decode())


class NumpyFiles(Command):
    CODES = {"<f2": "e", "<f4": "f", "<f8": "d", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q"}

    def test_sort_takes_the_type_of_the_header_and_writes_one(self):
        for descr, code in self.CODES.items():
            values = random.Random(1).sample(range(2000), 999)
            in_order = struct.pack(f"<999{code}", *sorted(values))
            file = self.path("in.npy", npy(repr(descr), "(999,)", struct.pack(f"<999{code}", *values)))
            self.assertEqual(run("sort", file, "--engine", "cpu").stdout, in_order)
            out, index = self.path("out.npy"), self.path("index.npy")
            done = run("sort", file, "-o", out, "--with-index", index, "--engine", "cpu")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(self.read(out), npy(repr(descr), "(999,)", in_order))
            places = struct.pack("<999I", *sorted(range(999), key=values.__getitem__))
            self.assertEqual(self.read(index), npy("'<u4'", "(999,)", places))
            self.assertEqual(run("sort", out, "-o", out, "--order", "desc").returncode, 0)
            self.assertEqual(self.read(out)[-len(in_order):], struct.pack(f"<999{code}", *sorted(values, reverse=True)))
        self.assertEqual(run("sort", self.path("e.npy", npy("'<f4'", "(0,)", b""))).stdout, b"")
        self.assertEqual(run("sort", self.path("m.npy", npy("'<f4'", "(2, 2)", floats([4, 3, 2, 1])))).stdout,
                         floats([1, 2, 3, 4]))
        self.assertEqual(run("sort", "--type", "f64", stdin=npy("'<f8'", "(2,)", struct.pack("<2d", 2, 1))).stdout,
                         struct.pack("<2d", 1, 2))

    def test_what_is_refused(self):
        four = floats([1, 2, 3, 4])
        for words, content in (("big-endian; save a.astype('<f4')", npy("'>f4'", "(4,)", four)),
                               ("Fortran order", npy("'<f4'", "(2, 2)", four, "True")),
                               ("have fields", npy("[('a', '<f4'), ('b', '<f4')]", "(2,)", four)),
                               ("of type '<i2'", npy("'<i2'", "(8,)", four)),
                               ("of type '|O'", npy("'|O'", "(2,)", four)),
                               ("says 5 values", npy("'<f4'", "(5,)", four)),
                               ("says 3 values", npy("'<f4'", "(3,)", four)),
                               ("cut off", npy("'<f4'", "(4,)", four)[:60]), ("damaged", npy("'<f4'", "(4", four)),
                               ("lacks", b"\x93NUMPY\x01\0\x02\0{}")):
            file = self.path("bad.npy", content)
            self.fails(1, words, "sort", file)
            if "says" in words:
                done = run("quantiles", file)
                self.assertEqual(done.returncode, 3)
                self.assertIn(b"4 values, but its header says", done.stderr)
            else:
                self.fails(1, words, "quantiles", file)
        good = self.path("good.npy", npy("'<f8'", "(2,)", bytes(16)))
        self.fails(1, "not f32; leave out --type", "sort", good, "--type", "f32")
        self.fails(1, "say --type f64", "sort", stdin=self.read(good))
        self.fails(1, "say --type f64", "quantiles", stdin=self.read(good))
        self.fails(1, "this takes u32, u64", "hhh", "--support", "0.1", "--hierarchy", "0,8", good)
        self.fails(1, "NumPy file", "sort", "--text", good)
        self.assertEqual(run("sort", "--raw", good).stdout[-16:],
                         run("sort", "--raw", stdin=self.read(good)).stdout[-16:])

    def test_other_verbs(self):
        file = self.path("v.npy", npy("'<f8'", "(5,)", struct.pack("<5d", 5, 1, 4, 2, 3)))
        median = json.loads(run("quantiles", "--phi", "0.5", "--json", file).stdout)
        self.assertEqual((median["n"], median["quantiles"][0]["value"]), (5, 3))
        self.assertEqual(run("show", "quantiles", file, "-o", self.path("q.png")).returncode, 0)
        pairs = self.path("p.npy", npy("'<f8'", "(3, 2)", struct.pack("<6d", 1, 10, 2, 20, 3, 40)))
        total = json.loads(run("corrsum", "--agg", "max", "--json", pairs).stdout)
        self.assertEqual((total["n"], total["sum"]), (3, 70))
        self.fails(1, "does not have 2 columns", "corrsum", "--agg", "max", file)
        sketch = run("sketch", "build", "--width", "64", "--engine", "cpu",
                     self.path("k.npy", npy("'<u4'", "(2,)", bytes(8))),
                     "-o", self.path("s"), "--json")
        self.assertEqual(sketch.returncode, 0, sketch.stderr)


class MoreThanMemory(Command):
    """Sorts of numbers by way of temporary files."""
    MEMORY = ("--memory", "24M")

    def setUp(self):
        super().setUp()
        self.temp = self.path("temp")
        os.mkdir(self.temp)

    def sort(self, *args, **more):
        result = run("sort", *self.MEMORY, "--temp", self.temp, "--stats", *args, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        stats = json.loads(result.stderr)
        self.assertGreater(stats["runs"], 1)
        self.assertLess(stats["peak_bytes"], 24 << 20)
        self.assertEqual(os.listdir(self.temp), [])
        return result.stdout

    def test_raw_values(self):
        data = os.urandom(12 << 20)
        for kind in ("f16", "f32", "f64", "i32", "u64"):
            file = self.path("data", data)
            for order in ("desc", "asc"):
                options = ("--type", kind, "--order", order, "--engine", "cpu")
                expected = run("sort", *options, file).stdout
                self.assertEqual(self.sort(*options, file) == expected, True, options)
            self.assertEqual(self.sort("--type", kind, stdin=data) == expected, True)
        self.sort("--type", "u64", file, "-o", file)
        self.assertEqual(self.read(file) == expected, True)

    def test_numpy_files(self):
        values = os.urandom(12 << 20)
        file = self.path("in.npy", npy("'<u4'", f"({3 << 20},)", values))
        self.sort(file, "-o", self.path("out.npy"))
        self.assertEqual(self.read(self.path("out.npy")) ==
                         npy("'<u4'", f"({3 << 20},)", run("sort", "--type", "u32", stdin=values).stdout), True)
        self.fails(1, "its header says", "sort", *self.MEMORY,
                   self.path("in.npy", npy("'<u4'", f"({4 << 20},)", values)))

    def test_text(self):
        chance = random.Random(7)
        text = "".join(f"{chance.choice([chance.randrange(10**6), chance.gauss(0, 1e9), -0.0, 1e300])}\n"
                       for _ in range(1 << 20)).encode()
        file = self.path("t.txt", b"head\n" + text)
        for options in (("--text", "--header", "1"), ("--text", "--skip-bad", "--order", "desc")):
            expected = run("sort", *options, file)
            self.assertEqual(run("sort", *self.MEMORY, "--temp", self.temp, *options, file).stdout == expected.stdout,
                             True)
        self.sort("--text", stdin=text)
        self.fails(1, "line 1", "sort", "--text", *self.MEMORY, file)

    def test_what_is_refused(self):
        file = self.path("data", bytes(30 << 20))
        for options in (("--top", "5"), ("--window", "5"), ("--with-index", self.path("i")), ("--engine", "merge")):
            self.fails(2, "temporary files are not used with", "sort", *self.MEMORY, *options, file)
        self.fails(2, "must be at least", "sort", "--memory", "1M", file)
        words = self.fails(1, "`quadmill sort --lines`", "sort", *self.MEMORY,
                           self.path("t.txt", b"a\nb\n" * (8 << 20)))
        self.assertIn("--text", words)
        self.assertEqual(run("sort", *self.MEMORY, self.path("few", floats([2, 1]))).stdout, floats([1, 2]))


class Terminal(Command):
    def test_a_sort_of_more_than_a_second_tells_what_it_does(self):
        master, terminal = os.openpty()
        with os.fdopen(master, "rb", buffering=0) as seen:
            process = subprocess.Popen([QUADMILL, "sort", "-o", self.path("out")], stdin=subprocess.PIPE,
                                       stderr=terminal)
            os.close(terminal)
            process.stdin.write(floats([2, 1]))
            time.sleep(2.5)
            process.stdin.close()
            self.assertEqual(process.wait(), 0)
            told = seen.read(4096).decode()
        self.assertIn("reading, 1 s", told)
        self.assertTrue(told.endswith("\x1b[K"), told)
        self.assertEqual(self.read(self.path("out")), floats([1, 2]))

    def test_first_lines_of_help(self):
        first = run("sort", "-h").stdout.decode().partition("Usage:")[0]
        for words in ("raw values", "--type", ".npy", "--text", "--lines", "terasort"):
            self.assertIn(words, first)
        listed = run("-h").stdout.decode()
        self.assertRegex(listed, r"(?m)^  sort +Sort numbers or lines of a file or pipe$")


class TypesAndIndex(Command):
    TYPES = {"f64": "d", "f32": "f", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}

    def values(self, code):
        chance = random.Random(3)
        if code in "fd":
            return [float(chance.randrange(-500, 500)) / 4 for _ in range(1000)]
        bits = 8 * struct.calcsize("=" + code)
        low = -(1 << (bits - 1)) if code in "iq" else 0
        return [chance.choice([low, low + (1 << bits) - 1, chance.randrange(100)]) for _ in range(1000)]

    def test_every_type_and_the_index(self):
        for name, code in self.TYPES.items():
            values = self.values(code)
            data = struct.pack(f"<1000{code}", *values)
            for engine in ("merge", "bitonic", "cpu", "auto"):
                for order in ("asc", "desc"):
                    index_file = self.path("index.u32")
                    result = run("sort", "--type", name, "--engine", engine, "--order", order, "--with-index",
                                 index_file,
                                 stdin=data)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    expected = sorted(range(1000), key=lambda i: values[i] if order == "asc" else -values[i])
                    self.assertEqual(struct.unpack(f"<1000{code}", result.stdout), tuple(values[i] for i in expected))
                    with open(index_file, "rb") as file:
                        self.assertEqual(struct.unpack("<1000I", file.read()), tuple(expected))

    def test_forms_of_the_bitonic_engine(self):
        values = [random.Random(6).random() for _ in range(1000)]
        expected = floats(sorted(array.array("f", values)))
        for representation, passes in (("single", 10 * 9 // 2), ("four", 10 * 11 // 2 - 1)):
            for block in ("0", "4"):
                result = run("sort", "--engine", "bitonic", "--representation", representation, "--block", block,
                             "--steps-per-pass", "1", "--stats", stdin=floats(values))
                self.assertEqual(result.stdout, expected)
                stats = json.loads(result.stderr)
                self.assertEqual((stats["engine"], stats["steps"], stats["passes"]), ("bitonic", 55, passes + 2))
        table = run("sort", "--engine", "bitonic", "--profile", stdin=floats(values)).stderr.decode()
        for name in ("load", "compare", "compare in texels", "store"):
            self.assertRegex(table, rf"(?m)^{name} +[0-9]")

    def test_top(self):
        values = self.values("i")
        data = struct.pack("<1000i", *values)
        for engine in ("merge", "cpu", "auto"):
            for order in ("asc", "desc"):
                for wanted in (1, 10, 1000, 5000):
                    index_file = self.path("index.u32")
                    result = run("sort", "--type", "i32", "--engine", engine, "--order", order, "--top", str(wanted),
                                 "--with-index", index_file, stdin=data)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    expected = sorted(range(1000), key=lambda i: values[i] if order == "asc" else -values[i])[:wanted]
                    self.assertEqual(result.stdout, struct.pack(f"<{len(expected)}i", *(values[i] for i in expected)))
                    with open(index_file, "rb") as file:
                        self.assertEqual(file.read(), struct.pack(f"<{len(expected)}I", *expected))
        result = run("sort", "--text", "--top", "2", "--order", "desc", stdin=b"1\n3\n2\n")
        self.assertEqual(result.stdout, b"3\n2\n")
        self.assertEqual(run("sort", "--top", "2", stdin=b"").stdout, b"")
        self.fails(2, "--window", "sort", "--top", "2", "--window", "5", stdin=b"")
        for engine in ("pbsn", "bitonic", "hybrid"):
            self.fails(2, "the others sort all", "sort", "--top", "2", "--engine", engine, stdin=b"")
        self.fails(2, "--top", "sort", "--top", "0", stdin=b"")

    def test_text_of_integers(self):
        result = run("sort", "--type", "i64", "--text", stdin=b"9223372036854775807\n-9223372036854775808\n0\n")
        self.assertEqual(result.stdout, b"-9223372036854775808\n0\n9223372036854775807\n")
        self.fails(1, "not an integer", "sort", "--type", "u32", "--text", stdin=b"1.5\n")
        self.fails(1, "out of the type's range", "sort", "--type", "u32", "--text", stdin=b"4294967296\n")

    def test_bad_calls(self):
        self.fails(2, "--with-index", "sort", "--window", "5", "--with-index", self.path("i"), stdin=floats([1]))
        self.fails(2, "use merge", "sort", "--type", "i32", "--engine", "pbsn", stdin=floats([1]))
        self.fails(2, "must not be the output file", "sort", "-o", self.path("o"), "--with-index",
                   os.path.join(self.folder, ".", "o"), stdin=floats([1]))
        self.fails(2, "--with-index", "sort", "--with-index", "", stdin=floats([1]))
        for engine in ("pbsn", "hybrid"):
            self.fails(2, "--with-index", "sort", "--engine", engine, "--with-index", self.path("i"), stdin=floats([1]))
        self.fails(2, "--precision", "sort", "--precision", "f16", "--top", "1", stdin=floats([1]))
        self.fails(2, "--precision", "sort", "--precision", "f16", "--with-index", self.path("i"), stdin=floats([1]))
        self.fails(2, "goes with --engine bitonic", "sort", "--block", "16", stdin=floats([1]))
        self.fails(2, "--block", "sort", "--engine", "bitonic", "--block", "-1", stdin=floats([1]))
        out = self.path("same")
        self.fails(2, "--with-index", "sort", "-o", out, "--with-index", out, stdin=floats([1]))


class BenchSort(Command):
    RIVALS = ["std::sort", "std::sort par", "vqsort", "spreadsort", "qsort"]

    def bench(self, *args, **more):
        return self.report("bench", "sort", "--repeat", "2", *args, **more)

    def test_every_case_is_verified(self):
        report = self.bench("--n", "1000,2^12", "--types", "f32,u64", "--dist", "uniform,dup,nearly", "--rivals")
        for key in "quadmill command date renderer cpu threads repeat rivals_missing limits cases".split():
            self.assertIn(key, report)
        self.assertEqual(report["command"].split()[:4], ["quadmill", "bench", "sort", "--repeat"])
        missing = [rival["name"] for rival in report["rivals_missing"]]
        self.assertEqual([(c["type"], c["distribution"], c["n"]) for c in report["cases"]],
                         [(t, d, n) for t in ("f32", "u64") for d in ("uniform", "dup", "nearly")
                          for n in (1000, 4096)])
        for case in report["cases"]:
            by_name = {contender["name"]: contender for contender in case["contenders"]}
            self.assertEqual(sorted(by_name), sorted(["auto", "cpu", "pbsn", "merge", "bitonic", "hybrid"] +
                                                     [rival for rival in self.RIVALS if rival not in missing]))
            for name, contender in by_name.items():
                if not contender["ran"]:
                    self.assertEqual(contender["kind"], "engine")
                    self.assertTrue(contender["reason"])
                    continue
                self.assertIs(contender["verified"], True, name)
                self.assertLessEqual(contender["low_ms"], contender["ms"])
                self.assertLessEqual(contender["ms"], contender["high_ms"])
                self.assertAlmostEqual(contender["keys_per_s"], case["n"] / contender["ms"] * 1e3, delta=1)
                self.assertEqual(name == "std::sort", "std::sort" not in contender["times_faster_than"])
            self.assertEqual(by_name["pbsn"]["ran"], case["type"] == "f32")
            if case["type"] == "f32":
                self.assertGreater(by_name["pbsn"]["percent_of_limit"], 0)
            self.assertTrue(by_name["cpu"]["ran"])
        self.assertIn("write RGBA32F", [limit["name"] for limit in report["limits"]])
        # The worst ratio of auto to the best of the others.
        behind = [by["auto"]["ms"] / min(by[name]["ms"] for name in ("cpu", "pbsn", "merge", "bitonic", "hybrid")
                                         if by[name]["ran"])
                  for by in ({c["name"]: c for c in case["contenders"]} for case in report["cases"])]
        self.assertAlmostEqual(report["auto"]["times_the_best_engine"], max(behind))
        self.assertEqual(report["auto"]["n"], report["cases"][behind.index(max(behind))]["n"])

    def test_the_rivals_of_the_papers_with_pointers(self):
        case, = self.bench("--n", "3000", "--what", "pairs", "--engines",
                           "bitonic-paper,kipfer,purcell,pbsn,cpu")["cases"]
        by_name = {contender["name"]: contender for contender in case["contenders"]}
        self.assertEqual(case["what"], "pairs")
        self.assertEqual(sorted(by_name), ["bitonic-paper", "cpu", "kipfer", "pbsn", "purcell"])
        for name in ("bitonic-paper", "cpu", "kipfer", "purcell"):
            self.assertIs(by_name[name]["verified"], True, name)
        # 2^12 keys take 78 steps. GPUTeraSort's single array makes the last two steps of each stage in one pass.
        self.assertEqual({name: by_name[name]["passes"] for name in ("bitonic-paper", "kipfer", "purcell")},
                         {"bitonic-paper": 66 + 3, "kipfer": 78 + 3, "purcell": 78 + 3})
        self.assertEqual([by_name[name]["kind"] for name in ("bitonic-paper", "kipfer", "purcell")],
                         ["engine", "rival", "rival"])
        self.assertIn("cannot carry an index", by_name["pbsn"]["reason"])
        case, = self.bench("--n", "3000", "--what", "pointers", "--engines", "merge,bitonic,purcell")["cases"]
        self.assertEqual([contender["ran"] for contender in case["contenders"]], [True, True, False])
        self.assertTrue(all(contender["verified"] for contender in case["contenders"] if contender["ran"]))

    def test_keys_in_a_texture(self):
        report = self.bench("--what", "texture", "--n", "5000", "--types", "u32,f32,i32,u64", "--engines", "merge,cpu")
        for case in report["cases"]:
            by_name = {contender["name"]: contender for contender in case["contenders"]}
            merge, cpu = by_name["merge"], by_name["cpu"]
            self.assertFalse(cpu["ran"])
            if case["type"] == "u64":
                self.assertIn("32 bits", merge["reason"])
                continue
            self.assertIs(merge["verified"], True, case["type"])
            self.assertGreater(merge["passes"], 0)
            self.assertEqual(merge["upload_ms"], 0)

    def test_text_says_what_ran_and_what_lost(self):
        result = run("bench", "sort", "--n", "2^14", "--repeat", "2", "--engines", "pbsn,cpu", "--rivals", "--types",
                     "f16,i64")
        text = result.stdout.decode()
        self.assertEqual(result.returncode, 0)
        for words in ("median of 2", "f16 uniform, 16384 keys", "pbsn loses to std::sort", "n/a", "% of limit:",
                      "blend RGBA16F"):
            self.assertIn(words, text)
        self.assertNotIn("WRONG", text)
        self.assertNotIn("\nauto", text)

    def test_plot(self):
        plot = self.path("plot.svg")
        report = self.bench("--n", "2^10,3000", "--types", "f32,i32", "--rivals", "--plot", plot)
        panels = xml.etree.ElementTree.parse(plot).findall("{*}g")
        self.assertEqual(len(panels), 2)
        for panel, case in zip(panels, report["cases"][::2]):
            names = [series.find("{*}title").text for series in panel.findall("{*}g[@class='series']")]
            self.assertEqual(names, [contender["name"] for contender in case["contenders"] if contender["ran"]])
            for line in panel.iterfind(".//{*}polyline"):
                points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
                self.assertEqual(len(points), 2)
                for x, y in points:
                    self.assertTrue(0 < x < 800 and 0 < y < 500)
        self.fails(1, "No such file", "bench", "sort", "--n", "10", "--plot", self.path("no/such.svg"))

    def test_wrong_calls(self):
        self.fails(2, "a verb is missing", "bench")
        for option, values in (("--n", ("0", "2^33", "2^", "ten", "-5", "1e-6")), ("--types", ("f33",)),
                               ("--dist", ("uniform,odd",)), ("--engines", ("gpu", "purcel")), ("--repeat", ("0",)),
                               ("--what", ("records",))):
            for value in values:
                self.fails(2, option, "bench", "sort", option, value)

    def test_without_a_driver(self):
        report = self.bench("--n", "100", env=self.without_driver())
        self.assertEqual(report["renderer"], "none")
        ran = {contender["name"]: contender["ran"] for contender in report["cases"][0]["contenders"]}
        self.assertEqual(ran,
                         {"auto": False, "cpu": True, "pbsn": False, "merge": False, "bitonic": False, "hybrid": False})


class Show(Command):
    def size(self, png):
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        return struct.unpack(">II", png[16:24])

    def test_sort(self):
        for engine in ("pbsn", "bitonic", "bitonic-four", "merge"):
            file = self.path(engine + ".png")
            arguments = ("show", "sort", "--engine", engine, "--n", "256", "-o")
            self.assertEqual(run(*arguments, file).returncode, 0)
            self.assertEqual(self.size(self.read(file))[0], 1240)
            self.assertEqual(run(*arguments, "-").stdout, self.read(file))
        self.fails(2, "-o", "show", "sort")
        self.fails(2, "--engine", "show", "sort", "--engine", "cpu", "-o", "x.png")
        self.fails(2, "1000", "show", "sort", "--n", "1000", "-o", self.path("none.png"))
        self.assertFalse(os.path.exists(self.path("none.png")))

    def test_query(self):
        csv = self.path("rows.csv", b"a,b,name\n" + b"".join(b"%d,%d,x\n" % (i % 100, i % 7) for i in range(500)))
        sql = f"SELECT COUNT(*) FROM '{csv}' WHERE a BETWEEN 20 AND 60 AND b > 2"
        for engine in QUERY_ENGINES:
            picture = run("show", "query", sql, "--engine", engine, "-o", "-").stdout
            self.assertEqual(self.size(picture)[0], 1240)
            self.assertEqual(run("show", "query", sql, "--engine", engine, "-o", "-").stdout, picture)
        # Other outputs than COUNT(*) are not drawn; the picture and a note say so.
        median = run("show", "query", sql.replace("COUNT(*)", "MEDIAN(a)"), "-o", "-")
        self.assertEqual((median.returncode, median.stderr.decode()),
                         (0, "quadmill show query: the picture shows how the rows are counted, not MEDIAN(a)\n"))
        count = run("show", "query", sql, "-o", "-")
        self.assertEqual(count.stderr, b"")
        self.assertGreater(self.size(median.stdout)[1], self.size(count.stdout)[1])
        self.fails(2, "-o", "show", "query", sql)
        self.fails(2, "--engine", "show", "query", sql, "--engine", "cpu", "-o", "x.png")
        self.fails(2, "SELECT", "show", "query", "COUNT", "-o", "x.png")
        self.fails(2, "GROUP BY", "show", "query", f"SELECT b, COUNT(*) FROM '{csv}' GROUP BY b", "-o", "x.png")
        self.fails(2, "no column", "show", "query", f"SELECT COUNT(*) FROM '{csv}' WHERE z > 1", "-o",
                   self.path("none.png"))
        self.assertFalse(os.path.exists(self.path("none.png")))

    def test_quantiles(self):
        random.seed(3)
        values = floats([random.lognormvariate(0, 3) for _ in range(10000)])
        picture = run("show", "quantiles", "-o", "-", stdin=values).stdout
        self.assertEqual(self.size(picture), (1000, 600))
        self.assertNotEqual(run("show", "quantiles", "-o", "-", stdin=values[:4000]).stdout, picture)
        text = run("show", "quantiles", "--text", "--type", "i64", "-o", "-", stdin=b"5\n" * 100)
        self.assertEqual(self.size(text.stdout), (1000, 600))
        self.fails(1, "no values", "show", "quantiles", "-o", "-")
        self.fails(1, "no finite values", "show", "quantiles", "-o", "-", stdin=floats([math.inf]))


class WithoutOpenGL(Command):
    def without_egl(self):
        self.path("libEGL.so.1", b"no library")
        return {"LD_LIBRARY_PATH": self.folder}

    def test_no_driver(self):
        text = self.fails(1, "apt-get install", "sort", "--engine", "pbsn", stdin=floats([1]),
                          env=self.without_driver())
        self.assertIn("Tried", text)
        self.fails(1, "apt-get install", "info", env=self.without_driver())

    def test_no_egl(self):
        self.fails(1, "no EGL", "sort", "--engine", "pbsn", stdin=floats([1]), env=self.without_egl())

    def test_auto_and_cpu_go_on(self):
        # Enough keys that one thread takes longer than opening a context.
        source = random.Random(7)
        data = array.array("q", [source.randrange(-2048, 2049) for _ in range(1 << 17)] * 40).tobytes()
        how = ["--type", "i64", "--threads", "1", "--with-index", self.path("index")]
        expected = run("sort", *how, "--engine", "cpu", stdin=data).stdout
        for engine in ("auto", "cpu"):
            result = run("sort", *how, "--engine", engine, stdin=data, env=self.without_egl())
            self.assertEqual((result.returncode, result.stdout == expected), (0, True))
            self.assertEqual(b"on the CPU" in result.stderr, engine == "auto")


if __name__ == "__main__":
    unittest.main()
