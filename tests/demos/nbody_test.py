"""The frames, the window and the output of demos/nbody. Called as demo.py says."""
import re
import unittest

import demo
import png

FEW = ("--bodies", "500", "--steps", "20")


class Record(demo.AnyDemo, demo.Demo):
    def test_frames(self):
        paths = self.record("a", *FEW, "--frames", "2")
        frames = [png.read(path) for path in paths]
        self.assertEqual(len(frames), 2)
        self.assertTrue(frames[0] != frames[1])
        self.assertEqual(demo.digests_of(paths), demo.digests_of(self.record("b", *FEW, "--frames", "2")))
        passes, drift = re.search(r"20 steps, (\d+) passes: energy drift (\S+)", self.said).groups()
        self.assertGreaterEqual(int(passes), 20)
        self.assertLess(abs(float(drift)), 1e-3)
        self.assertGreater(float(re.search(r"([0-9.]+) GFLOP/s", self.said)[1]), 0)

    def test_wrong_calls(self):
        self.refused("--bodies", "--bodies", "0")
        self.refused("--step", "--step", "nan")
        self.refused("--no-window", "--no-window", "--record", self.folder)

    def test_without_pictures_it_says_the_rate(self):
        result = demo.run("--bodies", "65", "--steps", "3", "--no-window")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("65 bodies, 3 steps", result.stdout)
        self.assertEqual(demo.run("--record", "/dev/null/x", "--bodies", "1").returncode, 1)


class Window(demo.Window):
    def test_keys_and_pictures(self):
        frames = self.record("frames", *FEW, "--frames", "3")
        self.open(", going", *FEW)
        self.key("Home", "step 0, paused")
        self.same(self.picture(), png.read(frames[0])[2])
        self.key("Right", "step 20, paused")
        self.key("Right", "step 40, paused")
        self.same(self.picture(), png.read(frames[2])[2])
        self.key("minus", "step 40, paused")
        self.key("Right", "step 50, paused")
        self.key("space", ", going")
        self.key("space", ", paused")
        self.close()


if __name__ == "__main__":
    unittest.main()
