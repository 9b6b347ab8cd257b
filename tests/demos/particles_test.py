"""The frames of demos/particles: sorted from back to front, and always the same. Called as demo.py says."""
import unittest

import demo
import png

FEW = ("--sprites", "20001")


class Record(demo.Demo):
    def test_frames(self):
        paths = self.record("a", *FEW, "--frames", "2", "--check")
        self.assertIn("sort", self.said)
        frames = [png.read(path) for path in paths]
        self.assertEqual(len(frames), 2)
        self.assertEqual(demo.bytes_of(paths), demo.bytes_of(self.record("b", *FEW, "--frames", "2", "--check")))
        self.assertNotEqual(frames[0], frames[1])
        _, _, rows = frames[0]
        middle = rows[100:]  # below the words
        self.assertNotEqual([row[: 3 * 320] for row in middle], [row[3 * 320 :] for row in middle])

    def test_wrong_calls(self):
        self.refused("--record")
        self.refused("--sprites", "--record", "x", "--sprites", "0")
        self.refused("--nonsense", "--record", "x", "--nonsense")


if __name__ == "__main__":
    unittest.main()
