"""`quadmill sketch`: building, queries and merging, compared with exact counts, and wrong calls.

usage: sketch_test.py QUADMILL [unittest arguments]
"""
import collections
import json
import random
import unittest

from command import Command, run

import stream_command

KINDS = ["thread", "warp", "half", "quarter", "msws", "sf"]


def raw(values, name="u32"):
    return stream_command.raw(values, name)


class Sketch(Command):
    def build(self, name, *args, stdin=b"", status=0):
        path = self.path(name)
        result = run("sketch", "build", *args, "-o", path, stdin=stdin)
        self.assertEqual(result.returncode, status, result.stderr)
        return path

    def query(self, sketch, *args, stdin=b""):
        result = run("sketch", "query", sketch, *args, "--json", stdin=stdin)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return json.loads(result.stdout)

    def test_headers_of_lines(self):
        out = self.path("header.sketch")
        self.assertEqual(run("sketch", "build", "--type", "text", "--header", "1", "--width", "64", "-o", out,
                             stdin=b"name\na\nb\n").returncode, 0)
        self.assertEqual(json.loads(run("sketch", "info", out, "--json").stdout)["n"], 2)
        self.fails(2, "go with --text", "sketch", "build", "--header", "1", "--width", "64", "-o", out, stdin=b"1234")

    def test_keys_that_were_not_inserted_are_named_when_removed(self):
        removed = self.path("removed", raw([7] * 20 + [1] * 3))
        for kind in KINDS:
            result = run("sketch", "build", "--kind", kind, "--width", "4000", "-o", self.path("s"), "--remove",
                         removed,
                         stdin=raw([1] * 100))
            self.assertEqual(result.returncode, 0)
            self.assertIn(b"at least 20 of the keys in '" + removed.encode() + b"' had not been inserted",
                          result.stderr)
            answers = self.query(self.path("s"), stdin=raw([1, 7]))
            self.assertEqual([one["estimate"] for one in answers], [97, 0])

    def test_every_kind_and_engine_gives_one_file(self):
        numbers = random.Random(5)
        values = [int(numbers.paretovariate(0.5)) % 5000 for _ in range(20000)]
        counts = collections.Counter(values)
        removed = values[::4]
        removed_file = self.path("removed", raw(removed))
        counts.subtract(removed)
        for kind in KINDS:
            engines = {"thread": ["sort"], "msws": ["auto", "blend-counters"],
                       "sf": ["auto"]}.get(kind, ["blend-packed", "sort"])
            files = []
            for engine in ["cpu"] + engines:
                path = self.build("s", "--kind", kind, "--width", "3000", "--engine", engine, "--device", "0",
                                  "--remove", removed_file, stdin=raw(values))
                files.append(self.read(path))
                answers = self.query(path, stdin=raw(sorted(counts)))
                self.assertEqual([one["key"] for one in answers], sorted(counts))
                for one in answers:
                    self.assertEqual(list(one), ["key", "estimate", "upper", "lower"])
                    self.assertLessEqual(counts[one["key"]], one["upper"])
                    self.assertLessEqual(one["lower"], one["estimate"])
                    self.assertEqual(one["estimate"], one["upper"])
                gpu = self.query(path, "--engine", engine, stdin=raw(sorted(counts)))
                self.assertEqual(gpu, answers)
            self.assertEqual(len(set(files)), 1, kind)

    def top(self, *args, stdin):
        result = run("sketch", "top", *args, "--json", stdin=stdin)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return json.loads(result.stdout)

    def test_top(self):
        numbers = random.Random(6)
        values = [int(numbers.paretovariate(0.8)) for _ in range(50000)]
        values = [value for value in values if value < 2**32]
        counts = collections.Counter(values)
        for engine in ("cpu", "blend-packed"):
            for k in (1, 7, 10000):
                answer = self.top("-k", str(k), "--eps", "0.0005", "--engine", engine, stdin=raw(values))
                self.assertEqual(answer["n"], len(values))
                top = answer["top"]
                self.assertLessEqual(len(top), k)
                for one in top:
                    self.assertTrue(one["lower"] <= counts[one["key"]] <= one["upper"], one)
                    self.assertTrue(one["lower"] <= one["estimate"] <= one["upper"], one)
                rest = counts - collections.Counter({one["key"]: len(values) for one in top})
                self.assertLessEqual(max(rest.values(), default=0), answer["others"])
                if k < 10:
                    self.assertIs(answer["sure"], True)
                    self.assertEqual({one["key"] for one in top}, {key for key, _ in counts.most_common(k)})
        # If no value is frequent, or bounds overlap, nothing is guaranteed.
        self.assertIs(self.top("-k", "2", "--eps", "0.1", stdin=raw(range(1000)))["sure"], False)
        self.assertIs(self.top("-k", "2", "--eps", "0.01", stdin=raw(list(range(50)) * 9))["sure"], False)
        self.assertEqual(self.top("-k", "2", stdin=b""), {"n": 0, "top": [], "others": 0, "sure": True})
        text = run("sketch", "top", "-k", "1", "--text", stdin=b"5\n7\n5\n").stdout.decode()
        self.assertEqual(text.split("\n")[1].split(), ["2", "2", "2", "5"])
        self.assertIn("No other value occurs more than 1 time of 3, so these are the most frequent ones.", text)
        self.assertEqual(run("sketch", "top", stdin=b"").stdout, b"no values\n")
        text = run("sketch", "top", "-k", "2", "--eps", "0.1", stdin=raw(range(1000))).stdout
        self.assertRegex(text, rb"^No value occurs more than \d+ times of 1000\.\n$")
        for args in (("-k", "0"), ("--eps", "0"), ("--eps", "0.6"), ("--type", "text"), ("--width", "0"),
                     ("--kind", "sort")):
            result = run("sketch", "top", *args, stdin=b"")
            self.assertEqual(result.returncode, 2, (args, result.stderr))

    def test_types(self):
        for name, values in (("u64", [1, 2**63, 2**63, 2**64 - 1]), ("f32", [0.5, -0.0, 0.5, 1e30])):
            sketch = self.build(name, "--type", name, "--width", "500", "--kind", "thread", stdin=raw(values, name))
            answers = self.query(sketch, stdin=raw(values, name))
            self.assertEqual([one["estimate"] for one in answers], [values.count(value) for value in values])
            text = "".join(f"{value}\n" for value in values).encode()
            again = self.build(name + "t", "--type", name, "--width", "500", "--kind", "thread", "--text", stdin=text)
            self.assertEqual(self.read(again), self.read(sketch))
            self.assertEqual(self.query(sketch, "--text", stdin=text), answers)
        sketch = self.build("words", "--type", "text", "--width", "500", stdin="ä b\nb\nä b\n\xff\n".encode("latin-1"))
        answers = self.query(sketch, stdin="ä b\nc\n".encode("latin-1"))
        self.assertEqual([one["estimate"] for one in answers], [2, 0])
        table = run("sketch", "query", sketch, stdin=b"b\n").stdout.decode().split()
        self.assertEqual(table, ["estimate", "lower", "upper", "key", "1", "1", "1", "b"])

    def test_merge_info_and_pipes(self):
        one = self.build("one", "--eps", "0.01", "--delta", "0.01", "--kind", "thread", stdin=raw([7] * 10))
        two = self.build("two", "--width", "272", "--depth", "5", "--kind", "thread", stdin=raw([7, 8]))
        both = self.path("both")
        result = run("sketch", "merge", one, two, "-o", both)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"", b""))
        self.assertEqual(self.read(both),
                         self.read(self.build("all", "--width", "272", "--depth", "5", "--kind", "thread",
                                              stdin=raw([7] * 11 + [8]))))
        info = json.loads(run("sketch", "info", both, "--json").stdout)
        self.assertEqual(info, {"type": "u32", "kind": "thread", "width": 272, "depth": 5, "seed": 0, "n": 12,
                                "file_bytes": 36 + 272 * 5 + 8})
        piped = run("sketch", "build", "--text", "--width", "9", "-o", "-", stdin=b"3\n").stdout
        self.assertEqual(json.loads(run("sketch", "info", "-", "--json", stdin=piped).stdout)["n"], 1)
        other = self.build("other", "--width", "272", "--depth", "5", "--seed", "1", "--kind", "thread")
        self.fails(2, "cannot be merged", "sketch", "merge", one, other, "-o", self.path("none"))

    def test_what_is_refused(self):
        out = ["-o", self.path("out")]
        self.fails(2, "--width", "sketch", "build", "--width", "0", *out)
        self.fails(2, "--depth", "sketch", "build", "--width", "9", "--depth", "0", *out)
        self.fails(2, "--width or --eps is required", "sketch", "build", *out)
        self.fails(2, "depth must be at most 8", "sketch", "build", "--width", "9", "--depth", "9", *out)
        self.fails(2, "excludes", "sketch", "build", "--width", "9", "--eps", "0.1", *out)
        self.fails(2, "a texture of", "sketch", "build", "--width", "2^30", "--engine", "blend-counters", *out)
        self.fails(2, "Thread has no buckets", "sketch", "build", "--kind", "thread", "--width", "9", "--engine",
                   "blend-packed", *out)
        self.fails(2, "must be a file", "sketch", "build", "--width", "9", "--remove", "-", *out)
        self.fails(1, "'x' is not an integer", "sketch", "build", "--text", "--width", "9", *out, stdin=b"1\nx\n")
        self.fails(1, "bytes", "sketch", "build", "--width", "9", *out, stdin=b"\x01\x00\x00\x00\x02")
        removed = self.path("removed", raw([1, 2]))
        self.fails(1, "only 1 were inserted", "sketch", "build", "--width", "9", "--remove", removed, *out,
                   stdin=raw([1]))
        self.fails(1, "nowhere", "sketch", "info", self.path("nowhere"))
        good = self.read(self.build("good", "--width", "9", stdin=raw([1])))
        for damaged in (b"", good[:-1], good + b"\0", b"QMSX" + good[4:], good[:20] + b"\xff" + good[21:]):
            for verb in (["info"], ["query"], ["merge", *out]):
                text = self.fails(1, "not a readable sketch: it", "sketch", *verb, self.path("bad", damaged))
                self.assertIn("bad", text)
        # Errors in the keys are reported for the keys, not for the sketch.
        keys = self.path("keys", b"no keys but\nlines of text\n" * 10)
        result = run("sketch", "query", self.path("fine", good), keys)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"looks like text", result.stderr)
        self.assertNotIn(b"fine", result.stderr)
        self.assertEqual(result.stdout, b"")
        self.fails(1, "version 9", "sketch", "info", self.path("bad", good[:4] + b"\x09" + good[5:]))


if __name__ == "__main__":
    unittest.main()
