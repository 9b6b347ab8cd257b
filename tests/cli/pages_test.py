"""The manual page, the completion and the output of --version, which are all made from the command's own help.

usage: pages_test.py QUADMILL [unittest arguments]
"""
import pathlib
import re
import shlex
import subprocess
import unittest

from command import Command, run


def said(*args):
    result = run(*args)
    assert result.returncode == 0, (args, result)
    return result.stdout.decode()


def verbs_of(*verb):
    """The verbs of a verb, from its help."""
    text = said(*verb, "--help").partition("\nVerbs:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([\w-]+) ", text, re.MULTILINE)


def all_verbs():
    for verb in verbs_of():
        yield (verb,)
        yield from ((verb, below) for below in verbs_of(verb))


def options_of(*verb):
    text = re.split(r"\n(?:Options|Lines of text|Performance|Reproducing the papers):\n", said(*verb, "--help"))[1:]
    lines = [line for part in text for line in re.findall(r"^  (-[^ {[\n]*)", part.partition("\n\n")[0], re.MULTILINE)]
    return [name for line in lines for name in line.split(",") if name.startswith("-")]


class Pages(Command):
    def test_version_says_how_it_was_built(self):
        self.assertRegex(said("--version"),
                         r"\Aquadmill \d+\.\d+\.\d+\ncommit    \S+\nloader    glad \d.*OpenGL 4\.5.*\n"
                                            r"compiler  \w+ [\d.]+\noptions   .*\n\Z")

    def test_manual_has_every_verb_and_option(self):
        page = said("man")
        sections = dict(zip(re.findall(r"^\.SS quadmill (.*)$", page, re.MULTILINE),
                            re.split(r"^\.S[SH] .*$", page[page.index(".SS "):], flags=re.MULTILINE)[1:]))
        verbs = [" ".join(verb) for verb in all_verbs()]
        self.assertGreater(len(verbs), 20)
        self.assertEqual([verb.replace("-", r"\-") for verb in verbs], list(sections))
        for verb in verbs:
            section = sections[verb.replace("-", r"\-")]
            for option in options_of(*verb.split()):
                self.assertIn(option.replace("-", r"\-"), section, verb)
        for section in ("OPTIONS OF SEVERAL VERBS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"):
            self.assertEqual(page.count(f".SH {section}\n"), 1, section)
        # Every variable that the sources read.
        root = pathlib.Path(__file__).parents[2]
        sources = "".join(path.read_text() for path in (root / "src").rglob("*.cpp"))
        variables = set(re.findall(r'getenv\("(QUADMILL_\w+|TMPDIR)"\)', sources)) | {"XDG_CONFIG_HOME", "HOME"}
        self.assertGreaterEqual(len(variables), 8)
        named = page.partition(".SH ENVIRONMENT\n")[2].partition(".SH")[0]
        self.assertEqual(set(re.findall(r"\w+", " ".join(re.findall(r"^\.TP\n(.*)$", named, re.MULTILINE)))), variables)
        command = (root / "docs" / "command.md").read_text()
        self.assertEqual([name for name in variables if f"`{name}" not in command], [])
        # Each option is described only once.
        entries = re.findall(r"^\.TP\n.*\n.*$", page, re.MULTILINE)
        self.assertGreater(len(entries), 100)
        self.assertEqual([entry for entry in set(entries) if entries.count(entry) > 1], [])
        # A line that begins with a period must be a request of roff.
        self.assertEqual(set(re.findall(r"^[.'](\w*)", page, re.MULTILINE)),
                         {"TH", "SH", "SS", "TP", "PP", "nf", "fi"})

    def test_manual_is_set_without_a_warning(self):
        result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-rLL=110n"], input=said("man").encode(),
                                capture_output=True)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertIn(b"terasort", result.stdout)

    def complete(self, *words):
        """The words that bash offers for the last word."""
        script = self.path("completion", said("completion", "bash").encode())
        code = ('source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _quadmill; printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "-euc", code, script, "quadmill", *words], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()

    def test_completion_of_verbs(self):
        self.assertEqual(self.complete(""), verbs_of() + ["man", "completion"])
        self.assertEqual(self.complete("comp"), ["completion"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("completion", "f"), ["fish"])
        self.assertEqual(self.complete("help", "so"), ["sort"])
        self.assertEqual(self.complete("so"), ["sort"])
        self.assertEqual(self.complete("bench", ""), verbs_of("bench"))
        self.assertEqual(self.complete("sort", "so"), [])  # a file

    def test_completion_of_options_and_their_values(self):
        for verb in all_verbs():
            self.assertEqual(sorted(self.complete(*verb, "--")),
                             sorted(name for name in options_of(*verb) if name.startswith("--")))
        self.assertEqual(self.complete("sort", "--or"), ["--order"])
        self.assertEqual(self.complete("sort", "--order", ""), ["asc", "desc"])
        self.assertEqual(self.complete("sort", "x.f32", "--engine", "b"), ["bitonic"])
        self.assertEqual(self.complete("bench", "sort", "--what", "p"), ["pairs", "pointers"])
        self.assertEqual(self.complete("sort", "--output", ""), [])  # a file
        self.assertEqual(self.complete("--v"), ["--version"])

    def test_zsh_has_that_of_bash(self):
        lines = said("completion", "zsh").splitlines(keepends=True)
        self.assertEqual(lines[0], "#compdef quadmill\n")
        self.assertEqual("".join(lines[2:-1]), said("completion", "bash"))
        self.assertIn("_bash_complete -o default -F _quadmill;", lines[-1])

    def test_fish_has_every_verb_and_option(self):
        found = set()
        for line in said("completion", "fish").splitlines():
            if not line.startswith("complete "):
                continue
            words = shlex.split(line)
            self.assertEqual(words[:4], ["complete", "-c", "quadmill", "-n"])
            name, verb = words[4].split(" ", 1)
            self.assertEqual(name, "__quadmill_verb")
            found.update((verb, "--" + long) for flag, long in zip(words[5:], words[6:]) if flag == "-l")
            found.update((verb, word) for flag, value in zip(words[5:], words[6:]) if flag == "-a"
                         for word in value.split())
        for verb in [(), *all_verbs()]:
            for word in verbs_of(*verb) + [name for name in options_of(*verb) if name.startswith("--")]:
                self.assertIn((" ".join(verb), word), found)
        for word in ("man", "completion"):
            self.assertIn(("", word), found)
        self.assertLessEqual({("completion", "fish"), ("sort", "desc")}, found)

    def test_another_shell_is_refused(self):
        self.fails(2, "SHELL", "completion", "tcsh")


if __name__ == "__main__":
    unittest.main()
