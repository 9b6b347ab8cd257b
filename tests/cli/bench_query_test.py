"""`quadmill bench query` and `bench csv`: their reports, whether numbers add up, and wrong calls.

usage: bench_query_test.py QUADMILL [unittest arguments]
"""
import unittest
import xml.etree.ElementTree

from command import Command, run

ENGINES = ["depth", "bitmap", "cpu"]
RIVALS = ["scan", "scan, all threads", "std::nth_element", "sqlite"]


class BenchQuery(Command):
    def bench(self, *args, **more):
        return self.report("bench", "query", *args, **more)

    def check_depth(self, case, depth, limit):
        pass_ms = case["n"] / limit["value"] * 1e-6
        self.assertAlmostEqual(depth["depth_passes_time"], depth["ms"] / pass_ms, delta=1e-6 * depth["ms"] / pass_ms)
        self.assertAlmostEqual(depth["least_ms"], depth["pixels_tested"] / limit["value"] * 1e-6, delta=1e-9)
        self.assertAlmostEqual(depth["percent_of_limit"], 100 * depth["least_ms"] / depth["ms"], delta=1e-6)
        goal = case["goal_depth_passes"]
        if goal is not None:
            self.assertEqual(depth["meets_goal"], depth["depth_passes_time"] <= goal)

    def test_every_engine_and_rival_answers_alike(self):
        report = self.bench("--n", "4096,1000", "--repeat", "1", "--rivals", "--sqlite-rows", "1000")
        for key in ("quadmill command date renderer cpu threads repeat rivals_missing threads_used scan sqlite_rows "
                    "limits "
                    "loads cases").split():
            self.assertIn(key, report)
        missing = [rival["name"] for rival in report["rivals_missing"]]
        names = ENGINES + [rival for rival in RIVALS if rival not in missing]
        limit, = report["limits"]
        self.assertEqual((limit["name"], limit["unit"]), ("depth test and occlusion count", "Gpixel/s"))
        self.assertEqual({case["query"] for case in report["cases"]},
                         {"copy", "predicate", "range", "cnf", "linear", "in", "nulls", "sum", "median", "kth", "pair",
                          "extreme", "groups"})
        self.assertEqual([case["n"] for case in report["cases"]], sorted(case["n"] for case in report["cases"]))
        for case in report["cases"]:
            by_name = {one["name"]: one for one in case["contenders"]}
            self.assertEqual(list(by_name), names)
            for name, one in by_name.items():
                self.assertEqual(one["kind"], "engine" if name in ENGINES else "rival")
                if not one["ran"]:
                    self.assertTrue(one["reason"])
                    self.assertNotEqual(name, "depth")
                    continue
                self.assertIs(one["verified"], True, (case["name"], name))
                self.assertLessEqual(one["low_ms"], one["ms"])
                self.assertLessEqual(one["ms"], one["high_ms"])
                self.assertAlmostEqual(one["rows_per_s"], case["n"] / one["ms"] * 1e3, delta=1)
                for rival, times in one["times_faster_than"].items():
                    self.assertAlmostEqual(times, by_name[rival]["ms"] / one["ms"], delta=1e-6 * times)
                self.assertEqual("percent_of_limit" in one, name == "depth")
            self.check_depth(case, by_name["depth"], limit)
            for_all = case["query"] != "copy"
            self.assertEqual(by_name["bitmap"]["ran"] and by_name["cpu"]["ran"] and by_name["scan"]["ran"], for_all)
            self.assertEqual(by_name["std::nth_element"]["ran"], case["query"] in ("median", "kth", "extreme"))
            if "sqlite" in by_name:
                self.assertEqual(by_name["sqlite"]["ran"], for_all and case["n"] <= 1000)
        loads = [(load["name"], load["n"], load["columns"]) for load in report["loads"]]
        for engine in ("depth", "bitmap"):
            self.assertIn((engine, 4096, "c"), loads)

    def test_text_says_what_ran_and_what_was_left_out(self):
        result = run("bench", "query", "--n", "2^12", "--repeat", "1", "--rivals", "--queries", "copy,predicate,cnf",
                     "--engines", "depth,cpu", "--threads", "1")
        text = result.stdout.decode()
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("each run once", "predicate: a <= x, 4096 rows", "copy: copy c to depth, 4096 rows",
                      "without std::nth_element: finds ranks only", "% of limit:", "depth test and occlusion count",
                      "x scan", "GB/s"):
            self.assertIn(words, text)
        self.assertNotIn("WRONG", text)
        self.assertNotIn("bitmap", text)

    def test_plot(self):
        plot = self.path("plot.svg")
        report = self.bench("--n", "2^10,3000", "--repeat", "1", "--queries", "range,median", "--rivals", "--plot",
                            plot)
        panels = xml.etree.ElementTree.parse(plot).findall("{*}g")
        self.assertEqual(len(panels), 6)
        for panel, case in zip(panels, report["cases"][:6]):
            names = [series.find("{*}title").text for series in panel.findall("{*}g[@class='series']")]
            self.assertEqual(names, [one["name"] for one in case["contenders"] if one["ran"]])
        self.fails(1, "No such file", "bench", "query", "--n", "10", "--plot", self.path("no/such.svg"))

    def test_wrong_calls(self):
        for option, values in (("--n", ("0", "2^29", "ten", "-5")), ("--queries", ("join", "range,odd")),
                               ("--engines", ("gpu", "auto")), ("--repeat", ("0",)), ("--sqlite-rows", ("0",)),
                               ("--threads", ("0", "-1"))):
            for value in values:
                self.fails(2, option, "bench", "query", option, value)

    def test_help(self):
        result = run("bench", "query", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        for words in (b"--queries", b"--engines", b"--sqlite-rows", b"Examples:", b"--plot"):
            self.assertIn(words, result.stdout)
        self.assertIn(b"query", run("bench", "--help").stdout)

    def test_without_a_driver(self):
        report = self.bench("--n", "100", "--repeat", "1", "--queries", "predicate",
                            env=self.without_driver())
        self.assertEqual((report["renderer"], report["limits"]), ("none", []))
        ran = {one["name"]: one["ran"] for one in report["cases"][0]["contenders"]}
        self.assertEqual(ran, {"depth": False, "bitmap": False, "cpu": True})


class BenchCsv(Command):
    def test_statements(self):
        report = self.report("bench", "csv", self.folder, "--rows", "1000")
        self.assertEqual((report["rows"], report["threads_used"], len(report["statements"])), (1000, 2, 16))
        table = self.read(self.path("big-1000.csv"))
        self.assertEqual((table.count(b"\n"), len(table)), (1001, report["bytes"]))
        self.assertEqual(len(set(line.split(b",")[1] for line in table.splitlines()[1:])), 20)
        for statement in report["statements"]:
            self.assertGreater(statement["ours"]["cpu_s"], 0)
            self.assertGreater(statement["ours"]["peak_mib"], 1)
        self.fails(1, "--duckdb", "bench", "csv", self.folder, "--rows", "1000", "--duckdb", self.path("big-1000.csv"))


if __name__ == "__main__":
    unittest.main()
