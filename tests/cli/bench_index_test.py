"""`quadmill bench index`: its report.

usage: bench_index_test.py QUADMILL [unittest arguments]
"""
import unittest

from command import Command


class BenchIndex(Command):
    def test_report(self):
        report = self.report("bench", "index", "--n", "3000,2^16", "--selected", "1,10", "--repeat", "2")
        self.assertEqual([(index["n"], index["columns"]) for index in report["indexes"]],
                         [(n, columns) for n in (3000, 2**16) for columns in ("b", "a,b", "a,c")])
        for index in report["indexes"]:
            self.assertLessEqual(index["bytes"], 12 * index["n"] + 2**20)
            self.assertEqual("sorted_copy_ms" in index, index["columns"] == "b")
            self.assertEqual([case["selected"] for case in index["cases"]], [0.01, 0.1])
            for case in index["cases"]:
                names = [one["name"] for one in case["contenders"]]
                self.assertEqual(names[:3], ["index", "bitmap", "scan, all threads"])
                self.assertLess(0, case["tested"])
                self.assertLess(case["tested"], index["n"])
                for one in case["contenders"]:
                    self.assertIs(one["verified"], True, one)
                    self.assertEqual(one["passes"] > 0, one["name"].endswith(("index", "bitmap")), one)


if __name__ == "__main__":
    unittest.main()
