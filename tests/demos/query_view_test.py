"""The frames and the window of demos/query_view, as users see them. Called as demo.py says."""
import os
import re
import unittest

import demo
import png

FEW = ("--rows", "600")


class Record(demo.AnyDemo, demo.Demo):
    def test_frames_always_the_same(self):
        first, second = self.record("a", *FEW, "--frames", "6"), self.record("b", *FEW, "--frames", "6")
        self.assertEqual(len(first), 6)
        frames = demo.digests_of(first)
        self.assertEqual(frames, demo.digests_of(second))
        self.assertEqual(len(set(frames)), 6)
        for other in (("--seed", "2"), ("--engine", "bitmap"), ("--x", "year")):
            self.assertNotEqual(demo.digests_of(self.record(other[0], *FEW, "--frames", "1", *other)), frames[:1])

    def test_points(self):
        options = ("--points", "20000", "--frames", "3")
        first, second = self.record("points", *options), self.record("again", *options)
        self.assertEqual(len(set(demo.digests_of(first))), 3)
        self.assertEqual(demo.digests_of(first), demo.digests_of(second))
        self.refused("--points", "--points", "0")

    def test_wrong_calls(self):
        self.refused("--rows", "--rows", "0")
        self.refused("--engine", "--engine", "cpu")
        self.refused("no column 'z'", "--x", "z", "--record", self.folder)
        file = os.path.join(self.folder, "texts.csv")
        with open(file, "w") as csv:
            csv.write("a,b\nx,y\n")
        self.refused("no column of numbers", file, "--record", self.folder)
        self.assertEqual(demo.run("missing.csv", "--record", self.folder).returncode, 1)


class Window(demo.Window):
    # Clusters of rows, so that a rectangle has an exact count even if it is a few pixels off.
    HEAPS = {(100, 100): 17, (900, 900): 5, (100, 900): 3, (900, 100): 2, (400, 350): 70, (0, 0): 1, (1000, 1000): 1}

    def write_csv(self):
        file = os.path.join(self.folder, "rows.csv")
        with open(file, "w") as csv:
            csv.write("x,name,y\n")
            for (x, y), rows in self.HEAPS.items():
                csv.write("".join(f"{x + i % 3},a,{y + i % 2}\n" for i in range(rows) if x < 1000))
            csv.write("1000,b,1000\n")
        return file

    def test_keys_mouse_and_pictures(self):
        file = self.write_csv()
        frames = self.record("frames", file, "--frames", "18")  # the first 9 are the 9 places of the first query
        self.open("the rows, COUNT 70", file)
        self.same(self.picture(), png.read(frames[0])[2])
        self.key("Right", "pass 1 of 8: to depth, COUNT 70")
        self.key("Right", "pass 2 of 8: at least, COUNT 70")
        self.same(self.picture(), png.read(frames[2])[2])
        self.key("space", "pass 8 of 8: clear, COUNT 70")  # plays to the end
        self.same(self.picture(), png.read(frames[8])[2])
        self.mouse(20, 400, "click", "1")  # the first of the strip
        self.wait_for("the rows, COUNT 70", "after a click on the strip")
        middle = (140, 230)
        for corner, count in (((260, 60), 6), ((20, 400), 18 + 70), ((20, 60), 3), ((300, 470), 2)):
            self.mouse(*middle, "mousedown", "1")
            self.mouse(*corner, "mouseup", "1")
            self.wait_for(f"COUNT {count}", f"after a drag to {corner}")
        self.mouse(*middle)
        self.xdotool("mousedown", "1", "mouseup", "1")
        self.wait_for("COUNT 99", "after a click on the scatter")  # no rectangle
        self.close()

    def test_engine_and_threshold(self):
        self.open("", *FEW)
        rows = re.search(r"COUNT (\d+)$", self.title())[1]
        self.xdotool("key", "e")
        self.key("End", f": fold, COUNT {rows}")
        self.press_for_long(200, 46 - demo.BAR)  # the slider of years, to its left end
        demo.until(lambda: int(re.search(r"COUNT (\d+)$", self.title())[1]) > int(rows), "more rows")
        self.close()


if __name__ == "__main__":
    unittest.main()
