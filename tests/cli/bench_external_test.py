"""`quadmill bench external`: its report, whether its numbers add up, and wrong calls.

usage: bench_external_test.py QUADMILL [unittest arguments]
"""
import os
import unittest
import xml.etree.ElementTree

from command import Command, run


class BenchExternal(Command):
    def bench(self, *args):
        report = self.report("bench", "external", "--repeat", "1", "--folder", self.folder, *args)
        self.assertEqual([name for name in os.listdir(self.folder) if "quadmill-bench" in name], [])
        return report

    def check(self, contenders, names):
        by_name = {one["name"]: one for one in contenders}
        self.assertEqual(list(by_name), names)
        for one in contenders:
            self.assertTrue(one["ran"], one)
            self.assertIs(one["verified"], True, one["name"])
            self.assertLessEqual(one["low_ms"], one["ms"])
            for rival, times in one["times_faster_than"].items():
                self.assertEqual(by_name[rival]["kind"], "rival")
                self.assertAlmostEqual(times, by_name[rival]["ms"] / one["ms"], delta=1e-6 * times)
        return by_name

    def test_files(self):
        report = self.bench("--records", "20000,300", "--memory", "24M", "--rivals", "--engines", "auto,cpu")
        for key in "quadmill command date renderer cpu threads repeat memory folder files pairs merges".split():
            self.assertIn(key, report)
        self.assertEqual([case["records"] for case in report["files"]], [300, 20000])
        for case in report["files"]:
            self.assertEqual(case["bytes"], 100 * case["records"])
            by_name = self.check(case["contenders"], ["terasort, auto", "terasort, cpu", "GNU sort", "cp"])
            for name, one in by_name.items():
                self.assertAlmostEqual(one["megabytes_per_s"], case["bytes"] / one["ms"] / 1e3, delta=1e-3)
                self.assertEqual("report" in one, "terasort" in name)
            self.assertEqual(by_name["terasort, cpu"]["report"]["records"], case["records"])
            self.assertIn("sort", by_name["terasort, cpu"]["report"]["stages"])
        self.assertEqual((report["pairs"], report["merges"]), ([], []))

    def test_lines(self):
        report = self.bench("--lines", "30000", "--memory", "40M", "--rivals")
        self.assertEqual([(case["records"], case["column"]) for case in report["lines"]],
                         [(30000, "number"), (30000, "text")])
        for case in report["lines"]:
            ran = {one["name"]: one for one in case["contenders"] if one["ran"]}
            self.assertLessEqual({"quadmill sort", "GNU sort", "cp"}, set(ran))
            for name, one in ran.items():
                self.assertIs(one["verified"], True, name)
                self.assertAlmostEqual(one["megabytes_per_s"], case["bytes"] / one["ms"] / 1e3, delta=1e-3)
            duckdb = case["contenders"][2]
            self.assertTrue(duckdb["ran"] or any(words in duckdb["reason"] for words in ("node", "No such file")),
                            duckdb)
        self.assertEqual(report["files"], [])

    def test_pairs_and_merges(self):
        plot = self.path("plot.svg")
        report = self.bench("--pairs", "1000,2^11", "--merges", "3000", "--runs", "3", "--plot", plot)
        self.assertEqual([case["n"] for case in report["pairs"]], [1000, 2048])
        for case in report["pairs"]:
            by_name = self.check(case["contenders"], ["merge", "bitonic", "bitonic, a step a pass",
                                                      "the same in four arrays", "pbsn, no pointers", "cpu"])
            one_step = by_name["bitonic, a step a pass"]
            self.assertGreater(one_step["passes"], by_name["bitonic"]["passes"])
            self.assertAlmostEqual(one_step["transfer_percent"],
                                   100 * (one_step["upload_ms"] + one_step["readback_ms"]) / one_step["ms"], delta=1e-6)
            self.assertIs(by_name["pbsn, no pointers"]["pointers"], False)
        case, = report["merges"]
        self.assertEqual((case["records"], case["runs"]), (3000, 3))
        by_name = self.check(case["contenders"], ["merge engine", "tree of losers"])
        self.assertEqual(by_name["merge engine"]["keys"], 3000)
        svg = xml.etree.ElementTree.fromstring(self.read(plot))
        panels = [part for part in svg.iter() if part.get("class") == "panel"]
        self.assertEqual(len(panels), 3)

    def test_plot_of_stages(self):
        plot = self.path("stages.svg")
        report = self.bench("--records", "2000,400000", "--memory", "24M", "--plot", plot)
        svg = xml.etree.ElementTree.fromstring(self.read(plot))
        panels = [part for part in svg.iter() if part.get("class") == "panel"]
        self.assertEqual(len(panels), 2)
        shown = {title.text for title in panels[1].iter() if title.tag.endswith("title")}
        stages = {name for case in report["files"] for name in case["contenders"][0]["report"]["stages"]}
        self.assertEqual(shown, stages)
        self.assertIn("merge_write", shown)

    def test_tables(self):
        result = run("bench", "external", "--records", "1000", "--pairs", "256", "--merges", "500", "--repeat", "1",
                     "--memory", "24M", "--folder", self.folder)
        text = result.stdout.decode()
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("1000 ASCII records", "phase 1", "% hidden", "256 pairs", "500 records in 16 runs",
                      "tree of losers"):
            self.assertIn(words, text)
        self.assertNotIn("WRONG", text)

    def test_refused(self):
        self.fails(2, "--folder", "bench", "external", "--folder", self.path("nowhere"))
        self.fails(1, "missing", "bench", "external", "--pairs", "16", "--plot", self.path("missing/plot.svg"))
        case = self.bench("--records", "100", "--memory", "1")["files"][0]
        self.assertFalse(case["contenders"][0]["ran"])
        self.assertIn("memory", case["contenders"][0]["reason"])


if __name__ == "__main__":
    unittest.main()
