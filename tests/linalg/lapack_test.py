"""LAPACK's own tester, unchanged, with sgetrf by passes: every ratio below its threshold, and its error exits.

usage: lapack_test.py LIBQUADMILL_LAPACK.SO XLINTSTS [unittest arguments]
"""
import os
import subprocess
import sys
import unittest

LIBRARY, TESTER = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

# The sizes, kinds of matrices and threshold of LAPACK's own stest.in, general matrices alone.
INPUT = """Data file for testing REAL LAPACK linear eqn. routines
7                      Number of values of M
0 1 2 3 5 10 50        Values of M (row dimension)
7                      Number of values of N
0 1 2 3 5 10 50        Values of N (column dimension)
3                      Number of values of NRHS
1 2 15                 Values of NRHS (number of right hand sides)
5                      Number of values of NB
1 3 3 3 20             Values of NB (the blocksize)
1 0 5 9 1              Values of NX (crossover point)
3                      Number of values of RANK
30 50 90               Values of rank (as a % of N)
30.0                   Threshold value of test ratio
T                      Put T to test the LAPACK routines
T                      Put T to test the driver routines
T                      Put T to test the error exits
SGE   11               List types on next line if 0 < NTYPES < 11
"""


def run(**env):
    return subprocess.run([TESTER], input=INPUT.encode(), capture_output=True, timeout=250,
                          env={**os.environ, "LD_PRELOAD": LIBRARY, **env})


class Lapack(unittest.TestCase):
    def test_all_ratios_are_below_the_threshold(self):
        result = run()
        said = result.stdout.decode()
        self.assertEqual(result.returncode, 0, said + result.stderr.decode())
        for line in ("SGE routines passed the tests of the error exits",
                     "All tests for SGE routines passed the threshold",
                     "All tests for SGE drivers  passed the threshold"):
            self.assertIn(line, said)
        self.assertNotIn("fail", said.lower())

    def test_it_is_this_library_that_the_tester_calls(self):
        result = run(QUADMILL_DEVICE="99")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("libquadmill_lapack: sgetrf:", result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
