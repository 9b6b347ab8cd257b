#!/usr/bin/env python3
"""Every example in the public headers and the README is code that a test runs: its lines stand, one after the other, in
a file of tests/examples, where only the indentation may differ.

    tests/examples.py       checks; prints what stands nowhere, exit status 1
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def words(lines):
    """Lines without blanks at either end; empty ones do not matter, and what is included may be so further up."""
    return [line for line in (" ".join(line.split()) for line in lines) if line and not line.startswith("#include")]


def of_header(path):
    """(line, example) of each run of lines that are indented further than the prose of a comment."""
    example, begin = [], 0
    for number, line in enumerate(path.read_text().splitlines() + [""], 1):
        code = re.match(r"\s*///     (.*)", line)
        if code:
            begin = begin or number
            example.append(code[1])
        elif example:
            yield begin, words(example)
            example, begin = [], 0


def of_readme(path):
    text = path.read_text()
    for block in re.finditer(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start()) + 2, words(block[1].splitlines())


def stands_in(example, lines):
    return any(lines[at:at + len(example)] == example for at in range(len(lines) - len(example) + 1))


def main():
    tested = [words(path.read_text().splitlines()) for path in sorted((ROOT / "tests/examples").glob("*.cpp"))]
    found = [(path, *example) for path in sorted((ROOT / "include/quadmill").glob("*.hpp")) for example in of_header(path)]
    found += [(ROOT / "README.md", *example) for example in of_readme(ROOT / "README.md")]
    missing = [(path, line, example) for path, line, example in found
               if not any(stands_in(example, lines) for lines in tested)]
    for path, line, example in missing:
        print(f"{path.relative_to(ROOT)}:{line}: no file of tests/examples has these lines together:")
        print("".join(f"    {text}\n" for text in example), end="")
    print(f"{len(found)} examples, {len(missing)} untested")
    return 1 if missing or not found else 0


if __name__ == "__main__":
    sys.exit(main())
