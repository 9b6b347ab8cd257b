#!/usr/bin/env python3
"""`quadmill bench figures`: its output, that a second run measures nothing, pages, and wrong calls.

usage: bench_figures_test.py QUADMILL [unittest arguments]
"""
import json
import os
import shutil
import unittest
import xml.etree.ElementTree

from command import Command, run

VERDICTS = {"holds", "exceeds", "does not hold", "too noisy to say", "not measured as the paper did",
            "cannot be measured here", "not measured yet"}
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
SMALL = "mds09-fig5,qsketch-fig7"


class BenchFigures(Command):
    def figures(self, *args, **more):
        result = run("bench", "figures", *args, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.decode()

    def text(self, *path):
        return self.read(os.path.join(self.folder, *path)).decode()

    def test_list(self):
        names = [line.split()[0] for line in self.figures("--list").splitlines()]
        self.assertEqual(len(names), len(set(names)))
        for paper, least in (("sigmod05", 6), ("sigmod06", 4), ("qsketch", 2), ("slides", 8), ("mds09", 4)):
            self.assertGreaterEqual(sum(name.startswith(paper) for name in names), least, paper)

    def test_measures_then_goes_on(self):
        folder = self.path("results")
        said = self.figures("--quick", "--only", SMALL, "-o", folder, "--note", "a test")
        for name in SMALL.split(","):
            self.assertIn(name + ": measured in", said)
            csv = self.text("results", name + ".csv")
            self.assertIn("# command: quadmill bench figures --quick", csv)
            for fact in ("commit", "date", "renderer", "cpu", "size", "note"):
                self.assertIn(f"\n# {fact}: ", csv)
            self.assertIn("\npanel,whose,series,x,y,low,high\n", csv)
            xml.etree.ElementTree.parse(os.path.join(folder, name + ".svg"))
        before = {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}
        said = self.figures("--quick", "--only", SMALL, "-o", folder)
        self.assertNotIn("measured in", said)
        self.assertEqual(said.count("was measured on"), 2)
        for name, time in before.items():
            if not name.startswith("summary"):
                self.assertEqual(os.stat(os.path.join(folder, name)).st_mtime_ns, time, name)
        self.assertEqual(set(os.listdir(folder)), set(before))
        # Only missing figures are measured.
        os.remove(os.path.join(folder, "mds09-fig5.csv"))
        said = self.figures("--quick", "--only", SMALL, "-o", folder)
        self.assertIn("mds09-fig5: measured in", said)
        self.assertIn("qsketch-fig7: was measured on", said)
        self.fails(1, "another size", "bench", "figures", "--only", SMALL, "-o", folder)
        summary = json.loads(self.text("results", "summary.json"))
        self.assertLessEqual({one["verdict"] for one in summary}, VERDICTS)
        judged = [one for one in summary if one["verdict"] != "not measured yet"]
        self.assertEqual({one["figure"] for one in judged}, set(SMALL.split(",")))
        for one in judged:
            self.assertTrue(one["claim"] and one["rule"] and (one["ours"] or one["why"]), one)
        page = self.text("results", "summary.md")
        for one in summary:
            self.assertIn(f"`{one['figure']}`", page)
        self.assertIn("(mds09-fig5.csv)", page)

    def test_page_of_folders(self):
        self.figures("--quick", "--only", "qsketch-fig7", "-o", self.path("a"))
        self.figures("--quick", "--only", "mds09-fig5", "-o", self.path("a"))
        self.figures("--only", "mds09-fig5", "-o", self.path("b"))
        self.figures("--page", self.path("page.md"), "--from", f"{self.path('a')},{self.path('b')}")
        page = self.text("page.md")
        self.assertIn("(a/qsketch-fig7.csv)", page)
        self.assertIn("(b/mds09-fig5.svg)", page)
        self.assertIn("not measured yet", page)
        for figure in ("qsketch-fig7", "mds09-fig5"):  # measured by two commands, and both are said
            self.assertIn(f"bench figures --quick --only {figure} -o {self.path('a')}`", page)

    def test_the_page_in_docs_is_of_its_numbers(self):
        shutil.copytree(os.path.join(DOCS, "figures"), self.path("figures"))
        self.figures("--page", self.path("page.md"), "--from", f"{self.path('figures/h100')},"
                                                               f"{self.path('figures/llvmpipe')}")
        with open(os.path.join(DOCS, "reproduction.md"), encoding="utf-8") as page:
            self.assertEqual(self.text("page.md"), page.read(), "make it again: quadmill bench figures --page "
                             "docs/reproduction.md --from docs/figures/h100,docs/figures/llvmpipe")

    def test_each_that_does_not_hold_says_why(self):
        for machine in ("h100", "llvmpipe"):
            with open(os.path.join(DOCS, "figures", machine, "summary.json"), encoding="utf-8") as summary:
                for one in json.load(summary):
                    if one["verdict"] in ("does not hold", "not measured as the paper did"):
                        self.assertTrue(one["why"], one)

    def test_the_verdict_is_that_of_the_numbers(self):
        folder = self.path("results")
        self.figures("--quick", "--only", "qsketch-fig7", "-o", folder)
        csv = self.text("results", "qsketch-fig7.csv").splitlines()
        changed = [line.rsplit(",", 3)[0] + ",50,50,50" if ",ours,msws,0.5," in line else line for line in csv]
        self.assertNotEqual(changed, csv)
        self.path("results/qsketch-fig7.csv", "\n".join(changed + [""]).encode())
        self.assertIn("does not hold: msws: 9.48", self.figures("--quick", "--only", "qsketch-fig7", "-o", folder))

    def test_without_a_driver(self):
        said = self.figures("--quick", "--only", "mds09-fig5", "-o", self.path("results"),
                            env=self.without_driver())
        self.assertIn("cannot be measured here", said)

    def test_an_engine_that_draws_nothing_is_not_measured(self):
        """A program that replaces the demo and prints how many passes it drew."""
        fake = self.path("nbody", b'#!/bin/sh\necho "1,024 bodies, 10 steps, $PASSES passes: kept"\n'
                                  b'echo "5.00 steps/s, 0.10 GFLOP/s (22 operations an interaction)"\n')
        os.chmod(fake, 0o755)
        args = ("bench", "figures", "--quick", "--only", "slides-nbody", "-o", self.path("results"), "--nbody", fake)
        self.fails(1, "'steps a second' drew no pass", *args, env={"PASSES": "0"})
        self.assertEqual(run(*args, env={"PASSES": "40"}).returncode, 0)
        self.assertIn("steps a second,ours,steps a second,1024,5,5,5", self.text("results", "slides-nbody.csv"))

    def test_wrong_calls(self):
        text = self.fails(2, "no figure is called 'fig99'", "bench", "figures", "--only", "fig99")
        self.assertIn("--list", text)
        self.fails(2, "--page", "bench", "figures", "--from", self.folder)
        self.fails(1, "does not hold figures", "bench", "figures", "--page", self.path("page.md"), "--from",
                   self.folder)
        self.fails(2, "--nbody", "bench", "figures", "--nbody", self.path("none"))
        self.path("mds09-fig5.csv", b"no figure\n")
        self.fails(1, "mds09-fig5.csv: ", "bench", "figures", "--only", "mds09-fig5", "-o", self.folder)


if __name__ == "__main__":
    unittest.main()
