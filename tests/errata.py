#!/usr/bin/env python3
"""Every test that docs/errata.md or docs/limits.md names exists, with that name, in the named file.

    tests/errata.py         checks; prints names that do not exist, exit status 1
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    named = wrong = 0
    for page in ("docs/errata.md", "docs/limits.md"):
        before = named
        text = " ".join((ROOT / page).read_text().split())  # a name may continue on the next line
        for path, names in re.findall(r'`(tests/[\w/.]+)`: ("[^"]+"(?:, "[^"]+")*)', text):
            for name in re.findall('"([^"]+)"', names):
                named += 1
                file = ROOT / path
                if not (file.is_file() and re.search(r'TEST_CASE\w*\("' + re.escape(name) + '"', file.read_text())):
                    wrong += 1
                    print(f'{page}: {path} has no test "{name}"')
        if named == before:
            wrong += 1
            print(f"{page} names no test")
        # A file that is named in another form would not be checked.
        for path in set(re.findall(r"tests/[\w/]+\.\w+", text)):
            if not (ROOT / path).is_file():
                wrong += 1
                print(f"{page}: there is no {path}")
    print(f"{named} tests named, {wrong} missing")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
