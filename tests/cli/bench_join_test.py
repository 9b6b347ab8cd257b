#!/usr/bin/env python3
"""`quadmill bench join`: the figures of MDS'09, their numbers, and wrong calls.

usage: bench_join_test.py QUADMILL [unittest arguments]
"""
import unittest
import xml.etree.ElementTree

from command import Command, run


class BenchJoin(Command):
    def bench(self, *args, **more):
        return self.report("bench", "join", "--repeat", "1", *args, **more)

    def test_figures(self):
        plot = self.path("plot.svg")
        report = self.bench("--rivals", "--plot", plot)
        cases = report["cases"]
        self.assertEqual([case["x"] for case in cases if case["figure"] == 5], list(range(15000, 165001, 30000)))
        self.assertEqual([(case["x"], case["result"]) for case in cases if case["figure"] == 6],
                         [(percent, 90 * percent) for percent in (0, 25, 50, 75, 100)])
        self.assertEqual([(case["x"], case["result"]) for case in cases if case["figure"] == 7],
                         [(pairs, 9000 * pairs) for pairs in (1, 5, 10, 15, 20)])
        graph, = [case for case in cases if case["figure"] == 9]
        self.assertEqual((graph["rows"], graph["result"]), (15000, 6790))
        for case in cases:
            by_name = {one["name"]: one for one in case["contenders"]}
            self.assertEqual(list(by_name), ["ours", "one-op", "cpu", "merge", "cpu merge"])
            self.assertEqual(by_name["one-op"]["ran"], case["figure"] == 9)
            self.assertEqual(by_name["merge"]["ran"], case["figure"] != 5)
            for one in by_name.values():
                if not one["ran"]:
                    self.assertTrue(one["reason"])
                    continue
                self.assertIs(one["verified"], True)
                self.assertLessEqual(one["low_ms"], one["ms"])
                self.assertLessEqual(one["ms"], one["high_ms"])
        self.assertEqual(len(xml.etree.ElementTree.parse(plot).findall("{*}g")), 3)

    def test_text_and_engine(self):
        result = run("bench", "join", "--figures", "9", "--engine", "depth", "--repeat", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = result.stdout.decode()
        for words in ("figures 8 and 9", "6790 come out", "ours", "one-op", "cpu"):
            self.assertIn(words, text)
        self.assertNotIn("WRONG", text)

    def test_wrong_calls(self):
        for option, values in (("--figures", ("8", "5,odd")), ("--engine", ("cpu", "auto")), ("--repeat", ("0",))):
            for value in values:
                self.fails(2, option, "bench", "join", option, value)
        self.fails(1, "No such file", "bench", "join", "--plot", self.path("no/such.svg"))
        self.assertIn(b"join", run("bench", "--help").stdout)

    def test_without_a_driver(self):
        report = self.bench("--figures", "6", env=self.without_driver())
        ran = {one["name"]: one["ran"] for one in report["cases"][0]["contenders"]}
        self.assertEqual(ran, {"ours": False, "one-op": False, "cpu": True})


if __name__ == "__main__":
    unittest.main()
