"""Tests of saved summaries: save, load, merge, and wrong calls.

usage: merge_test.py QUADMILL [unittest arguments]
"""
import collections
import json
import random
import unittest

from command import floats, run

from stream_command import Stream, raw


class Merging(Stream):
    def save(self, name, verb, *args, stdin):
        path = self.path(name)
        result = run(verb, *args, "--engine", "cpu", "--save", path, stdin=stdin)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def merge(self, *args):
        return self.report("merge", *args)

    def test_quantiles(self):
        chance = random.Random(9)
        parts = [[chance.randrange(10000) * (i + 1) for _ in range(5000 * (i + 1))] for i in range(3)]
        files = [self.save(f"s{i}", "quantiles", "--type", "i64", "--eps", eps, "--window", "512",
                           stdin=raw(part, "i64"))
                 for i, (part, eps) in enumerate(zip(parts, ("0.01", "0.02", "0.01")))]
        everything = [v for part in parts for v in part]
        both = self.path("both")
        answer = self.merge(*files, "--save", both)
        self.assertEqual((answer["n"], answer["eps"]), (30000, 0.02))
        self.check_quantiles(answer, everything, 0.02)
        self.assertEqual(self.merge(both)["quantiles"], answer["quantiles"])
        self.assertEqual([q["phi"] for q in self.merge("--phi", "0.3", both)["quantiles"]], [0.3])
        self.assertIn(b"rank_lower", run("merge", both).stdout)

    def test_through_standard_output(self):
        saved = run("quantiles", "--text", "--save", "-", stdin=b"3\n4\n").stdout
        self.assertEqual(json.loads(run("merge", "-", "--json", stdin=saved).stdout)["n"], 2)

    def test_frequencies(self):
        values = [[i % 7 for i in range(1000)], [3] * 500 + list(range(500))]
        files = [self.save(f"f{i}", "frequent", "--support", "0.1", "--type", "u32", stdin=raw(part, "u32"))
                 for i, part in enumerate(values)]
        counts = collections.Counter(values[0] + values[1])
        self.check_frequent(self.merge(*files, "--support", "0.2"), counts, 0.2, 0.01)
        self.check_frequent(self.merge(*files), counts, 0.1, 0.01)
        self.fails(2, "--support", "merge", *files, "--support", "0.001")

    def test_sliding(self):
        first, second = list(range(10000)), list(range(20000, 30000))
        files = [self.save(f"w{i}", "quantiles", "--sliding", "1000", "--eps", "0.02", "--type", "u32",
                           stdin=raw(part, "u32")) for i, part in enumerate((first, second))]
        answer = self.merge(*files, "--phi", "0,0.25,0.75,1")
        self.assertAlmostEqual(answer["n"], 2000, delta=20)
        self.check_quantiles(answer, first[-1000:] + second[-1000:], 0.04)
        files = [self.save(f"v{i}", "frequent", "--sliding", "1000", "--support", "0.3", stdin=floats([i] * 3000))
                 for i in range(2)]
        self.assertEqual([item["value"] for item in self.merge(*files, "--support", "0.4")["items"]], [0, 1])
        empty = self.save("empty", "quantiles", "--sliding", "10", stdin=b"")
        self.assertEqual(self.merge(empty)["n"], 0)

    def test_heavy_prefixes(self):
        files = [self.save(f"h{i}", "hhh", "--support", "0.2", "--hierarchy", "ipv4-bytes",
                           stdin=raw([address] * 50, "u32"))
                 for i, address in enumerate((0x0a000001, 0x0a000002))]
        self.assertEqual([item["prefix"] for item in self.merge(*files, "--ipv4")["items"]],
                         ["10.0.0.1/32", "10.0.0.2/32"])
        self.assertEqual([item["prefix"] for item in self.merge(*files, "--support", "0.9")["items"]],
                         ["0x0a000000/24"])
        self.fails(2, "--support", "merge", *files, "--support", "0.1")
        other = self.save("other", "hhh", "--support", "0.2", "--hierarchy", "8,16", stdin=raw([1], "u32"))
        text = self.fails(1, "same lengths", "merge", *files, other)
        self.assertIn(f"'{other}': ", text)
        self.assertNotIn("::", text)

    def test_correlated_sums(self):
        files = [self.save(f"c{i}", "corrsum", "--agg", "min", "--text", stdin=b"%d,10\n9,5\n" % i) for i in range(2)]
        answer = self.merge(*files, "--agg", "min", "--offset", "1")
        self.assertEqual((answer["n"], answer["threshold"], answer["sum"]), (4, 1, 20))
        self.fails(2, "--agg", "merge", *files)

    def test_mixed_and_damaged(self):
        quantiles = self.save("q", "quantiles", stdin=floats([1]))
        wide = self.save("w", "quantiles", "--type", "f64", stdin=raw([1], "f64"))
        frequent = self.save("f", "frequent", "--support", "0.1", stdin=floats([1]))
        for other in (wide, frequent):
            text = self.fails(2, f"'{other}' holds", "merge", quantiles, quantiles, other)
            self.assertIn(f"'{quantiles}' holds quantiles of f32 values", text)
        for option in (("--support", "0.5"), ("--agg", "min"), ("--ipv4",)):
            self.fails(2, f"{option[0]}: does not go with quantiles", "merge", quantiles, *option)
        good = self.read(quantiles)
        for bad in (b"", b"hello", good[:-1], good[:20] + bytes([good[20] ^ 1]) + good[21:]):
            path = self.path("bad", bad)
            text = self.fails(1, f"'{path}': ", "merge", quantiles, path)
            for inner in ("saved_summary", "::"):
                self.assertNotIn(inner, text)
        self.fails(1, "No such file", "merge", self.path("none"))
        self.fails(2, "FILE is required", "merge")


if __name__ == "__main__":
    unittest.main()
