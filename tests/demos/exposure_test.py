"""The frames of demos/exposure: their right halves as if the CPU had found the percentiles. Called as demo.py says."""
import unittest

import demo
import png


def levels(rows, left):
    """The sorted values of a half, without its label and histogram."""
    return sorted(value for row in rows[60:340] for value in row[3 * left : 3 * (left + 640)])


class Record(demo.AnyDemo, demo.Demo):
    def test_frames_are_those_of_percentiles_by_the_cpu(self):
        here = demo.digests_of(self.record("a", "--frames", "3"))
        self.assertEqual(len(set(here)), 3)
        self.assertEqual(here, demo.digests_of(self.record("b", "--frames", "3", "--percentiles", "cpu")))

    def test_dark_and_bright_frames_are_exposed_alike(self):
        """Towards the opening and away from it: only the fixed exposure differs much."""
        frames = [png.read(path)[2] for path in self.record("x", "--frames", "2", size="1280x480")]
        medians = [[levels(rows, left)[len(rows[0]) * 140 // 2] for rows in frames] for left in (0, 640)]
        self.assertGreater(medians[0][0], 4 * medians[0][1])
        self.assertLess(medians[1][0], 1.8 * medians[1][1])
        self.assertTrue(all(60 < median < 200 for median in medians[1]), medians)

    def test_wrong_calls(self):
        self.refused("--percentiles", "--record", "x", "--percentiles", "random")
        self.refused("--record", "--percentiles", "cpu")


class Window(demo.Window):
    def test_keys_and_pictures(self):
        (frame,) = self.record("a", "--frames", "1", size="1280x480")
        words, below = 60, png.read(frame)[2][60:]  # the window has no labels
        fixed, exposed = [row[: 3 * 640] for row in below], [row[3 * 640 :] for row in below]
        self.open("exposed, turning")
        self.key("Home", "exposed, paused")
        self.same(self.picture()[words:], exposed)
        self.key("t", "fixed exposure, paused")
        self.same(self.picture()[words:], fixed)
        self.close()


if __name__ == "__main__":
    unittest.main()
