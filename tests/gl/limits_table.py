#!/usr/bin/env python3
"""Compares the table "Versions of OpenGL" of docs/limits.md with what test_dialects finds in a context of each version.

    limits_table.py TEST_DIALECTS
"""
import os
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs/limits.md"
VERSIONS = {"gl45": "4.5", "gl41": "4.1", "gl33": "3.3", "es3": "ES 3.0"}
# Mesa then has no newer one.
HELD_DOWN = {"gl45": {}, "gl41": {"MESA_GL_VERSION_OVERRIDE": "4.1"}, "gl33": {"MESA_GL_VERSION_OVERRIDE": "3.3"},
             "es3": {"MESA_GLES_VERSION_OVERRIDE": "3.0"}}


def table_of_page():
    """Row -> version -> cell."""
    lines = PAGE.read_text().split("## Versions of OpenGL\n")[1].split("\n\n")[1].splitlines()
    header, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(header[1:], row[1:])) for row in rows if row[0] != "---"}


def found_by_test(program):
    """(row, version, cell), one after the other."""
    for version, held_down in HELD_DOWN.items():
        run = subprocess.run([program, "--test-case=What works in each version*"], text=True, stdout=subprocess.PIPE,
                             env={**os.environ, **held_down, "QUADMILL_API": version})
        if run.returncode != 0:
            sys.exit(run.stdout)
        yield from (line.split("|")[1:] for line in run.stdout.splitlines() if line.startswith("cell|"))


def agrees(said, found):
    """Whether a cell of the page, such as "x, if the driver has them", says what was found."""
    if found.startswith("- ("):  # refused, with the reason
        return said.startswith("-") or said.startswith("x, if")
    return found in re.findall(r"\d+", said) if found.isdigit() else said.startswith(found)


def main(program):
    table, seen, faults = table_of_page(), set(), []
    for name, version, cell in found_by_test(program):
        rows = [row for row in table if row.startswith(name)]
        if len(rows) != 1:
            sys.exit(f"{PAGE.name} has {len(rows)} rows that begin with '{name}'")
        said = table[rows[0]][VERSIONS[version]]
        if said.startswith("as 4.5"):
            said = table[rows[0]]["4.5"]
        seen.add((rows[0], version))
        print(f"{VERSIONS[version]:7} {name}: {cell}")
        if not agrees(said, cell):
            faults.append(f"{VERSIONS[version]}, {name}: the page says '{said}', and the test found '{cell}'")
    faults += [f"{VERSIONS[version]}, {row}: the test says nothing" for row in table for version in VERSIONS
               if (row, version) not in seen]
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main(sys.argv[1])
