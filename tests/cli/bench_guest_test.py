"""`quadmill bench guest`: its report.

usage: bench_guest_test.py QUADMILL [unittest arguments]
"""
import unittest

from command import Command


class BenchGuest(Command):
    def test_report(self):
        report = self.report("bench", "guest", "--n", "1,300,2^11", "--repeat", "1")
        self.assertEqual([case["n"] for case in report["cases"]], [1, 300, 2048])
        for case in report["cases"]:
            self.assertEqual(len(case["contenders"]), 4)
            for one in case["contenders"]:
                self.assertIs(one["verified"], True, one)
                self.assertLessEqual(one["call_ms"], one["ms"])


if __name__ == "__main__":
    unittest.main()
