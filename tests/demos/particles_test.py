"""The frames of demos/particles: sorted from back to front, and always the same. Called as demo.py says."""
import os
import unittest

import demo
import png

FEW = ("--sprites", "20001")


class Record(demo.AnyDemo, demo.Demo):
    def test_frames(self):
        paths = self.record("a", *FEW, "--frames", "2", "--check")
        self.assertIn("sort", self.said)
        frames = [png.read(path) for path in paths]
        self.assertEqual(len(frames), 2)
        self.assertEqual(demo.digests_of(paths), demo.digests_of(self.record("b", *FEW, "--frames", "2", "--check")))
        self.assertTrue(frames[0] != frames[1])
        _, _, rows = frames[0]
        middle = rows[100:]  # below the words
        self.assertTrue([row[: 3 * 320] for row in middle] != [row[3 * 320 :] for row in middle])

    def test_a_shell_shines(self):
        paths = self.record("a", *FEW, "--frames", "2", "--check", "--shell")
        self.assertRegex(self.said, r"\([1-9][0-9,]* shine\)")
        self.assertTrue(png.read(paths[0]) != png.read(self.record("b", *FEW, "--frames", "2", "--check")[0]))

    def test_programs_of_an_earlier_run(self):
        file = os.path.join(self.folder, "programs")
        first = demo.digests_of(self.record("a", *FEW, "--frames", "1", "--programs", file))
        self.assertRegex(self.said, r"in [2-9][0-9]* slices, with 0 programs")
        if not os.path.getsize(file):  # the driver has no such form
            return
        self.assertEqual(first, demo.digests_of(self.record("b", *FEW, "--frames", "1", "--programs", file)))
        self.assertRegex(self.said, r"in 1 slices, with [1-9]")
        os.truncate(file, 1000)
        self.refused("not saved programs", "--record", os.path.join(self.folder, "c"), *FEW, "--programs", file)

    def test_wrong_calls(self):
        self.refused("--sprites", "--record", "x", "--sprites", "0")
        self.refused("--record", "--check")


class Window(demo.Window):
    def test_keys_buttons_and_pictures(self):
        (frame,) = self.record("frames", *FEW, "--frames", "1", size="1280x480")
        words, below = 60, png.read(frame)[2][60:]  # the window has no words over the picture
        unsorted, by_distance = [row[: 3 * 640] for row in below], [row[3 * 640 :] for row in below]
        self.open("sorted, turning", *FEW)
        self.key("Home", "sorted, paused")
        self.same(self.picture()[words:], by_distance)
        self.key("t", "unsorted, paused")
        self.same(self.picture()[words:], unsorted)
        self.press_for_long(100, 20 - demo.BAR)
        self.wait_for(": sorted, paused", "after a click on the box")
        self.key("l", "sorted, paused")
        self.assertTrue(self.picture()[words:] != by_distance)
        self.key("l", "sorted, paused")
        self.same(self.picture()[words:], by_distance)
        self.key("Right", "sorted, paused")
        self.assertTrue(self.picture()[words:] != by_distance)
        self.key("space", "sorted, turning")
        self.xdotool("key", "minus")  # fewer sprites
        self.xdotool("windowsize", self.window, "900", "700")
        self.key("space", "sorted, paused")
        self.close()


if __name__ == "__main__":
    unittest.main()
