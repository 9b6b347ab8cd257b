"""`quadmill bench sketch`: its report, and whether its numbers add up.

usage: bench_sketch_test.py QUADMILL [unittest arguments]
"""
import unittest
import xml.etree.ElementTree

from command import Command, run

ENGINES = {"thread": ["blend-counters", "sort", "auto"], "msws": ["blend-counters", "auto"], "sf": ["auto"]}
ALL_ENGINES = ["blend-counters", "blend-buckets", "blend-packed", "sort", "auto"]
RIVALS = ["cpu, 1 thread", "cpu, all threads"]


class BenchSketch(Command):
    def test_report_and_plot(self):
        plot = self.path("plot.svg")
        report = self.report("bench", "sketch", "--n", "2^10,2000", "--kinds", "thread,quarter,msws,sf", "--loads",
                             "0.5", "--dist", "uniform,equal", "--repeat", "1", "--rivals", "--quick", "--plot", plot)
        for key in "quadmill command date renderer cpu threads repeat cases limits accuracy".split():
            self.assertIn(key, report)
        units = [limit["unit"] for limit in report["limits"]]
        self.assertEqual(units[:2], ["Gpoint/s", "Gpoint/s"])
        self.assertEqual(set(units[2:]), {"Gkey/s"})
        for case in report["cases"]:
            for one in case["contenders"]:
                if case["kind"] != "sf" and one["kind"] == "engine" and one["name"] != "cpu":
                    self.assertGreater(one["query_percent_of_limit"], 0, (case["kind"], one["name"]))
        self.assertEqual(len(report["cases"]), 2 * 2 * 4)
        thread = {}
        for case in report["cases"]:
            where = case["n"], case["distribution"]
            self.assertEqual(case["width"], case["n"] * 2)
            self.assertEqual([one["name"] for one in case["contenders"]],
                             ENGINES.get(case["kind"], ALL_ENGINES) + RIVALS)
            for one in case["contenders"]:
                self.assertTrue(one["ran"], one)
                self.assertIs(one["verified"], True, (case["kind"], one["name"]))
                self.assertEqual(one["kind"], "rival" if one["name"] in RIVALS else "engine")
                for what in ("insert", "query"):
                    times = one[what]
                    self.assertAlmostEqual(times["keys_per_s"], case["n"] / times["ms"] * 1e3, delta=1)
                    if case["kind"] == "thread" and one["name"] == "blend-counters":
                        thread[where, what] = times["ms"]
                    self.assertAlmostEqual(one[what + "_times_thread"], thread[where, what] / times["ms"], places=6)
        self.assertEqual(len(report["accuracy"]), 7 * 6)
        titles = [text.text for text in xml.etree.ElementTree.parse(plot).iter("{http://www.w3.org/2000/svg}text")
                  if (text.text or "").startswith("Fig.")]
        self.assertEqual([title[:7] for title in titles], ["Fig. 5:", "Fig. 6:", "Fig. 7:"])

    def test_text_and_what_is_refused(self):
        result = run("bench", "sketch", "--n", "500", "--kinds", "quarter", "--engines", "blend-packed", "--loads", "1",
                     "--dist", "zipf", "--repeat", "1", "--quick")
        self.assertEqual(result.returncode, 0, result.stderr)
        text = result.stdout.decode()
        for words in ("quarter, 500 zipf keys, load 1", "blend-packed", "Minserts/s", "Mqueries/s", "sf-8"):
            self.assertIn(words, text)
        self.assertNotIn("cpu, 1", text)
        self.fails(2, "--loads", "bench", "sketch", "--loads", "0")
        self.fails(2, "not one of", "bench", "sketch", "--kinds", "block")


if __name__ == "__main__":
    unittest.main()
