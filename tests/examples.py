#!/usr/bin/env python3
"""Every example in the public headers, the README and docs/library.md is code that a test runs: its lines stand, one
after the other, in a file of tests/examples, where only the indentation may differ. The calls in the library's table of
hosts stand in those of tests/hosts.

    tests/examples.py       checks; prints what stands nowhere, exit status 1
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README, LIBRARY = ROOT / "README.md", ROOT / "docs/library.md"


def words(lines):
    """Lines without blanks at either end. Empty lines do not matter, and includes may be further up."""
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


def of_page(path):
    text = path.read_text()
    for block in re.finditer(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start()) + 2, words(block[1].splitlines())


def calls_of_hosts():
    """(host, call) of each row, where a call is code with arguments."""
    table = re.search(r"^\| toolkit \|.*\n\|.*\n((?:\|.*\n)+)", LIBRARY.read_text(), re.MULTILINE)
    for row in table[1].splitlines():
        for call in re.findall(r"`([^`]*\([^`]*\)[^`]*)`", row):
            yield row.split("|")[1].strip(), call


def untested_calls():
    """The calls that the program of that host does not make."""
    for host, call in calls_of_hosts():
        program = ROOT / "tests/hosts" / f"{host.lower().replace(' ', '')}_host.cpp"
        if "".join(call.split()) not in "".join(program.read_text().split()):
            yield program, call


def stands_in(example, lines):
    return any(lines[at:at + len(example)] == example for at in range(len(lines) - len(example) + 1))


def main():
    tested = [words(path.read_text().splitlines()) for path in sorted((ROOT / "tests/examples").glob("*.cpp"))]
    found = [(path, *example) for path in sorted((ROOT / "include/quadmill").glob("*.hpp"))
             for example in of_header(path)]
    found += [(page, *example) for page in (README, LIBRARY) for example in of_page(page)]
    missing = [(path, line, example) for path, line, example in found
               if not any(stands_in(example, lines) for lines in tested)]
    for path, line, example in missing:
        print(f"{path.relative_to(ROOT)}:{line}: no file of tests/examples has these lines together:")
        print("".join(f"    {text}\n" for text in example), end="")
    unknown = list(untested_calls())
    for program, call in unknown:
        print(f"{program.relative_to(ROOT)} has not what the library's table of hosts says: {call}")
    print(f"{len(found)} examples, {len(missing)} untested; {len(list(calls_of_hosts()))} calls of hosts, "
          f"{len(unknown)} untested")
    return 1 if missing or unknown or not found else 0


if __name__ == "__main__":
    sys.exit(main())
