"""Films of recorded frames, with and without ffmpeg: its replacement here reports how it was called. Called as
demo.py says, with sort_stages."""
import json
import os
import subprocess
import sys
import unittest

import demo

FFMPEG = """#!{python}
import json, os, sys
with open({calls!r}, "a") as file:
    print(json.dumps([os.getcwd(), *sys.argv[1:]]), file=file)
{more}
with open(sys.argv[-1], "w") as file:
    file.write(sys.argv[-1])
"""


class Films(demo.Demo):
    def setUp(self):
        super().setUp()
        self.programs = os.path.join(self.folder, "programs")
        os.mkdir(self.programs)
        self.calls = os.path.join(self.folder, "calls")
        self.frames = os.path.join(self.folder, "50 % of 'frames'; $HOME")  # no shell, no pattern

    def install(self, more=""):
        path = os.path.join(self.programs, "ffmpeg")
        with open(path, "w") as file:
            file.write(FFMPEG.format(python=sys.executable, calls=self.calls, more=more))
        os.chmod(path, 0o755)

    def film(self, status=0):
        result = subprocess.run([demo.PROGRAM, "--n", "16", "--frames", "3", "--size", "640x480", "--record",
                                 self.frames],
                                capture_output=True, text=True, env={**demo.WITHOUT_DISPLAY, "PATH": self.programs})
        self.assertEqual(result.returncode, status, result.stderr)
        said = result.stdout if status == 0 else result.stderr
        self.assertEqual(len(said.splitlines()), 1, said)
        names = sorted(os.listdir(self.frames))
        self.assertEqual(names[:3], ["0000.png", "0001.png", "0002.png"])
        return said, names[3:]

    def test_without_ffmpeg(self):
        said, more = self.film()
        self.assertEqual(more, [])
        self.assertIn("apt-get install ffmpeg", said)
        self.assertIn("ffmpeg -framerate 1", said)

    def test_with_ffmpeg(self):
        self.install()
        said, more = self.film()
        self.assertEqual(more, ["film.gif", "film.mp4"])
        self.assertIn("film.mp4", said)
        with open(self.calls) as file:
            calls = [json.loads(line) for line in file]
        for place, *arguments in calls:
            self.assertEqual(place, self.frames)
            self.assertEqual(arguments[arguments.index("-i") + 1], "%04d.png")
            self.assertEqual(arguments[arguments.index("-frames:v") + 1], "3")
            self.assertEqual(arguments[arguments.index("-framerate") + 1], "1")
        mp4, gif = calls
        self.assertEqual(mp4[mp4.index("-pix_fmt") + 1], "yuv420p")
        self.assertTrue(any("paletteuse" in word for word in gif))

    def test_failing_ffmpeg(self):
        self.install("print('first\\nno such encoder', file=sys.stderr); open(sys.argv[-1], 'w'); sys.exit(3)")
        said, more = self.film(status=1)
        self.assertEqual(more, [])
        self.assertIn("no such encoder; the 3 frames are there", said)
        self.install("os.kill(os.getpid(), 9)")
        self.assertIn("signal 9", self.film(status=1)[0])

    def test_no_film_of_other_frames_is_left(self):
        self.install()
        self.film()
        os.remove(os.path.join(self.programs, "ffmpeg"))
        self.assertEqual(self.film()[1], [])


if __name__ == "__main__":
    unittest.main()
