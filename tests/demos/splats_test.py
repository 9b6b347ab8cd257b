"""The frames of demos/splats: their right halves as if the CPU had sorted. Called as demo.py says."""
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
        self.assertNotEqual(sorted_here, frames("e", "--seed", "2"))

    def test_the_knot_hides_what_is_behind_it(self):
        """When sorted, far more of the picture is smooth: nearer splats cover farther ones."""
        (path,) = self.record("x", "--splats", "100000", "--frames", "1", size="1280x480")
        _, _, rows = png.read(path)

        def roughness(left):
            return sum(abs(row[i] - row[i + 3]) for row in rows[120:360]
                       for i in range(3 * (left + 160), 3 * (left + 480)))
        self.assertLess(1.3 * roughness(640), roughness(0))

    def test_the_halves_have_labels(self):
        _, _, rows = png.read(self.record("x", "--splats", "1", "--frames", "1", size="1280x480")[0])
        for left in (0, 640):
            corner = [row[3 * left : 3 * (left + 100)] for row in rows[10:34]]
            self.assertTrue(any(min(row[i : i + 3]) > 240 for row in corner for i in range(0, 300, 3)))

    def test_any_number(self):
        for splats in ("1", "2", "65537"):
            self.record("n" + splats, "--splats", splats, "--frames", "1")

    def test_wrong_calls(self):
        self.refused("--splats", "--record", "x", "--splats", "0")
        self.refused("--order", "--record", "x", "--order", "random")
        self.refused("--record", "--order", "cpu")


class Window(demo.Window):
    def test_keys_and_pictures(self):
        (frame,) = self.record("a", *FEW, "--frames", "1", size="1280x480")
        words, below = 60, png.read(frame)[2][60:]  # the window has no labels
        unsorted, by_depth = [row[: 3 * 640] for row in below], [row[3 * 640 :] for row in below]
        self.open("sorted, turning", *FEW)
        self.key("Home", "sorted, paused")
        self.same(self.picture()[words:], by_depth)
        self.key("t", "unsorted, paused")
        self.same(self.picture()[words:], unsorted)
        self.key("Right", "unsorted, paused")
        self.key("space", "unsorted, turning")
        self.close()


if __name__ == "__main__":
    unittest.main()
