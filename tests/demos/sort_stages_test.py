"""The frames and the window of demos/sort_stages, as users see them. Called as demo.py says."""
import unittest

import demo
import png


class Record(demo.AnyDemo, demo.Demo):
    def test_a_frame_a_step_and_always_the_same(self):
        first, second = self.record("a", "--n", "64"), self.record("b", "--n", "64")
        self.assertEqual(len(first), 1 + 4 * 4)  # four channels of 2^4 keys: 4 stages of 4 steps
        self.assertEqual(demo.digests_of(first), demo.digests_of(second))
        few = self.record("c", "--n", "64", "--frames", "3")
        self.assertEqual(demo.digests_of(few), demo.digests_of(first[i] for i in (0, 8, 16)))
        other = self.record("d", "--n", "64", "--frames", "1", "--seed", "2")
        self.assertNotEqual(demo.digests_of(other), demo.digests_of(first[-1:]))

    def test_wrong_calls(self):
        self.refused("--n", "--n", "x")
        self.refused("1000", "--n", "1000", "--record", self.folder)
        self.refused("--engine", "--engine", "quick")


class Window(demo.Window):
    def test_keys_mouse_and_pictures(self):
        frames = self.record("frames", "--n", "64")
        self.open("input", "--n", "64", "--hide-times")
        self.key("Right", "stage 1 of 4, step 1 of 4")
        self.key("Right", "stage 1 of 4, step 2 of 4")
        second = self.picture()
        self.same(second, png.read(frames[2])[2])
        self.key("End", "stage 4 of 4, step 4 of 4")
        self.same(self.picture(), png.read(frames[16])[2])
        self.key("Left", "stage 4 of 4, step 3 of 4")
        self.key("Home", "input")
        self.key("space", "stage 4 of 4, step 4 of 4")  # plays to the end
        # Drags on the time line, whose 17 positions are 36.8 pixels wide, and beyond it: the drag continues.
        self.mouse(30, 430, "mousedown", "1")
        self.wait_for("input", "after a click on the time line")
        self.mouse(98, 380)
        self.wait_for("stage 1 of 4, step 2 of 4", "after a drag")
        self.xdotool("mouseup", "1")
        self.mouse(300, 200)
        self.same(self.picture(), second)
        self.close()

    def test_buttons_and_resizing(self):
        self.open("input", "--n", "64", "--race", "merge")
        self.mouse(46, 20 - demo.BAR, "click", "1")  # a step back from the input
        self.key("End", "stage 4 of 4, step 4 of 4")
        self.press_for_long(20, 20 - demo.BAR)
        self.wait_for("input", "after the button to the start")
        self.xdotool("windowsize", self.window, "1300", "900")
        self.key("Right", "stage 1 of 4, step 1 of 4")
        self.close()


if __name__ == "__main__":
    unittest.main()
