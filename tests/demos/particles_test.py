"""The frames of demos/particles: sorted from back to front, and always the same.

usage: particles_test.py PARTICLES [unittest arguments]
"""
import os
import subprocess
import sys
import tempfile
import unittest

import png

PROGRAM = os.path.abspath(sys.argv.pop(1))


class Particles(unittest.TestCase):
    def record(self, folder, *args):
        result = subprocess.run([PROGRAM, "--record", folder, "--size", "640x480", "--sprites", "20001", "--frames", "2",
                                 "--check", *args], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("sort", result.stdout)
        return [png.read(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".png")]

    def test_frames(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            frames = self.record(one)
            self.assertEqual(len(frames), 2)
            self.assertEqual(frames, self.record(two))
            self.assertNotEqual(frames[0], frames[1])
            _, _, rows = frames[0]
            middle = [row for row in rows[100:]]  # below the words
            self.assertNotEqual([row[: 3 * 320] for row in middle], [row[3 * 320 :] for row in middle])

    def test_wrong_calls(self):
        for args in ([], ["--record", "x", "--sprites", "0"], ["--record", "x", "--nonsense"]):
            self.assertEqual(subprocess.run([PROGRAM, *args], capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()
