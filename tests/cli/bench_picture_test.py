"""`quadmill bench picture`: its report.

usage: bench_picture_test.py QUADMILL [unittest arguments]
"""
import unittest

from command import Command


class BenchPicture(Command):
    def test_report(self):
        report = self.report("bench", "picture", "--bins", "3,64", "--width", "70", "--height", "50", "--repeat", "1")
        self.assertEqual([(case["bins"], case["scale"]) for case in report["cases"]],
                         [(3, "linear"), (64, "linear"), (3, "logarithmic"), (64, "logarithmic")])
        for case in report["cases"]:
            self.assertEqual(case["contenders"][0]["name"], "counting")
            for one in case["contenders"]:
                self.assertIs(one["verified"], True, one)
                self.assertGreater(one["passes"], 0)
                self.assertLessEqual(one["call_ms"], one["ms"])


if __name__ == "__main__":
    unittest.main()
