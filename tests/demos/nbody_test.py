"""The frames of demos/nbody, and what it says. Called as demo.py says."""
import re
import unittest

import demo
import png


class Record(demo.Demo):  # it has no window
    def test_frames(self):
        few = ("--bodies", "500", "--frames", "2", "--steps", "20")
        paths = self.record("a", *few)
        frames = [png.read(path) for path in paths]
        self.assertEqual(len(frames), 2)
        self.assertTrue(frames[0] != frames[1])
        self.assertEqual(demo.digests_of(paths), demo.digests_of(self.record("b", *few)))
        drift = float(re.search(r"20 steps: energy drift (\S+)", self.said)[1])
        self.assertLess(abs(drift), 1e-3)
        self.assertGreater(float(re.search(r"([0-9.]+) GFLOP/s", self.said)[1]), 0)

    def test_wrong_calls(self):
        self.refused("--bodies", "--bodies", "0")
        self.refused("--step", "--step", "nan")
        self.refused("640x479", "--size", "640x479")

    def test_without_frames_it_says_the_rate(self):
        result = demo.run("--bodies", "65", "--steps", "3")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("65 bodies, 3 steps", result.stdout)
        self.assertEqual(demo.run("--record", "/dev/null/x", "--bodies", "1").returncode, 1)


if __name__ == "__main__":
    unittest.main()
