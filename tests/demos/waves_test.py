"""The frames, the window and the output of demos/waves. Called as demo.py says."""
import re
import unittest

import demo
import png

FEW = ("--width", "64", "--height", "48", "--steps", "20")


class Record(demo.AnyDemo, demo.Demo):
    def test_frames(self):
        paths = self.record("a", *FEW, "--frames", "2")
        frames = [png.read(path) for path in paths]
        self.assertEqual(len(frames), 2)
        self.assertTrue(frames[0] != frames[1])
        self.assertEqual(demo.digests_of(paths), demo.digests_of(self.record("b", *FEW, "--frames", "2")))
        water, dye = re.search(r"64 x 48 cells, 20 steps, \d+ passes: drift of water (\S+), of dye (\S+)",
                               self.said).groups()
        self.assertLess(abs(float(water)), 1e-5)
        self.assertLess(abs(float(dye)), 1e-5)

    def test_wrong_calls(self):
        self.refused("--width", "--width", "0")
        self.refused("--steps", "--steps", "0")

    def test_without_pictures_it_says_the_rate(self):
        result = demo.run("--width", "5", "--height", "3", "--steps", "7", "--no-window")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("5 x 3 cells, 7 steps", result.stdout)
        self.assertIn("million cells a second", result.stdout)


class Window(demo.Window):
    def test_keys_and_pictures(self):
        frames = self.record("frames", *FEW, "--frames", "2")
        self.open(", going", *FEW)
        self.key("Home", "step 0, paused")
        self.same(self.picture(), png.read(frames[0])[2])
        self.key("Right", "step 20, paused")
        self.same(self.picture(), png.read(frames[1])[2])
        self.close()


if __name__ == "__main__":
    unittest.main()
