"""The frames of demos/splats: as if the CPU had sorted, different from unsorted ones. Called as demo.py says."""
import unittest

import demo
import png

FEW = ("--splats", "20003")


class Record(demo.AnyDemo, demo.Demo):
    def test_frames_are_those_of_an_order_by_the_cpu(self):
        def frames(name, *args):
            return demo.digests_of(self.record(name, *FEW, "--frames", "2", *args))
        sorted_here, again = frames("a"), frames("b", "--order", "quadmill")
        self.assertEqual(len(set(sorted_here)), 2)
        self.assertEqual(sorted_here, again)
        self.assertEqual(sorted_here, frames("c", "--order", "cpu"))
        self.assertFalse(set(sorted_here) & set(frames("d", "--order", "none")))
        self.assertNotEqual(sorted_here, frames("e", "--seed", "2"))

    def test_the_knot_hides_what_is_behind_it(self):
        """When sorted, far more of the picture is smooth: nearer splats cover farther ones."""
        def roughness(*args):
            (path,) = self.record("x", "--splats", "100000", "--frames", "1", *args)
            _, _, rows = png.read(path)
            return sum(abs(row[i] - row[i + 3]) for row in rows[120:360] for i in range(3 * 160, 3 * 480))
        self.assertLess(1.3 * roughness(), roughness("--order", "none"))

    def test_any_number(self):
        for splats in ("1", "2", "65537"):
            self.record("n" + splats, "--splats", splats, "--frames", "1")

    def test_wrong_calls(self):
        self.refused("--splats", "--record", "x", "--splats", "0")
        self.refused("--order", "--record", "x", "--order", "random")
        self.refused("--record", "--order", "cpu")


class Window(demo.Window):
    def test_keys_and_pictures(self):
        (by_depth,) = self.record("a", *FEW, "--frames", "1")
        (unsorted,) = self.record("b", *FEW, "--frames", "1", "--order", "none")
        self.open("sorted, turning", *FEW)
        self.key("Home", "sorted, paused")
        self.same(self.picture(), png.read(by_depth)[2])
        self.key("t", "unsorted, paused")
        self.same(self.picture(), png.read(unsorted)[2])
        self.key("Right", "unsorted, paused")
        self.key("space", "unsorted, turning")
        self.close()


if __name__ == "__main__":
    unittest.main()
