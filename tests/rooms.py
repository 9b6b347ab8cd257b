#!/usr/bin/env python3
"""Proves the table of rooms in docs/design.md: every include between folders is allowed by ROOMS, everything that ROOMS
allows is used, there is no cycle, only src/gl includes OpenGL, and the namespace of src/ROOM is quadmill::detail::ROOM.

    tests/rooms.py          checks; prints what is wrong, exit status 1
    tests/rooms.py --draw   prints the includes between rooms with their number
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Each room and the rooms that it may include, below it: the table in docs/design.md.
ROOMS = {
    "cpu": [],
    "files": [],
    "gl": ["cpu"],
    "pass": ["cpu", "gl"],
    "stream": ["cpu"],
    "sort": ["cpu", "gl", "pass"],
    "query": ["cpu", "gl", "pass", "sort"],
    "external": ["cpu", "files", "gl", "sort"],
    "sketch": ["cpu", "gl", "pass", "sort"],
    "linalg": ["cpu", "gl", "pass"],
    "picture": ["gl", "pass"],
    "mpi": ["cpu", "external", "files"],
    "lapack": ["linalg"],
    "sql": ["cpu", "query"],
    "input": ["cpu", "files", "query"],
    "bench": ["cpu", "external", "files", "gl", "input", "linalg", "pass", "query", "sort", "stream"],
    "show": ["cpu", "files", "gl", "input", "pass", "query", "sort"],
    "cli": ["bench", "cpu", "external", "files", "gl", "input", "linalg", "mpi", "query", "show", "sort", "sql",
            "stream"],
    "web": ["cpu", "gl", "pass", "query", "sort", "stream"],
    "kernel": ["cpu", "gl", "sort"],
    "demos": ["bench", "cpu", "gl", "input", "pass", "show"],
    "python": ["cpu", "gl", "input", "query", "sort", "sql"],
}
ROW = re.compile(r"^\| (?!room)(\w+) \| .* \| ([\w, ]*)\|$", re.MULTILINE)
# OpenGL's own headers.
VERSION = re.compile(r"OpenGl::(Es3|Desktop)|\bis_es\b|direct_state_access|features\.version")
PAGE = re.compile(r"emscripten|import_module|export_name", re.IGNORECASE)
OUTSIDE = re.compile(r'#include [<"](quadmill_glad|glad|GL|EGL|GLFW)/')
# Namespaces of definitions; a namespace of declarations alone may be another room's.
NAMESPACE = re.compile(r"^namespace quadmill::([a-z_:]+) \{\n(?!(?:(?:class|struct) \w+;\n)+\})", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#include "([a-z_]+)/[^"]*"', re.MULTILINE)


def sources(folder):
    return [file for file in sorted(folder.rglob("*")) if file.suffix in (".cpp", ".hpp")]


def room_of(file):
    parts = file.relative_to(ROOT).parts
    return parts[1] if parts[0] == "src" else parts[0]


def arrows():
    """(from, to) -> the files that draw it."""
    found = collections.defaultdict(list)
    for folder in ("src", "demos", "include", "python"):
        for file in sources(ROOT / folder):
            for to in INCLUDE.findall(file.read_text()):
                if to in ROOMS and to != room_of(file):
                    found[room_of(file), to].append(file)
    return found


def cycle_in(rooms):
    """A cycle of rooms, or nothing."""
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        path.append(room)
        for below in rooms[room]:
            if found := visit(below):
                return found
        done.add(path.pop())
        return None

    return next((found for room in rooms if (found := visit(room))), None)


def mistakes():
    if cycle := cycle_in(ROOMS):
        yield "a cycle: " + " -> ".join(cycle)
    for room in sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir() and sources(path)):
        if room not in ROOMS:
            yield f"src/{room} is not in tests/rooms.py"
    for (room, to), files in sorted(arrows().items()):
        if to not in ROOMS.get(room, []):
            yield f"{room} may not include {to}: " + ", ".join(str(f.relative_to(ROOT)) for f in files)
    for room, below in ROOMS.items():
        for to in sorted(set(below) - {to for (source, to) in arrows() if source == room}):
            yield f"{room} does not include {to}, which tests/rooms.py and docs/design.md allow"
    table = {room: sorted(to.replace(",", " ").split()) for room, to in
             ROW.findall((ROOT / "docs" / "design.md").read_text().partition("## Rooms")[2].partition("\n## ")[0])}
    if table != {room: sorted(below) for room, below in ROOMS.items()}:
        wrong = sorted(room for room in table.keys() | ROOMS.keys()
                       if table.get(room) != sorted(ROOMS.get(room, ["?"])))
        yield f"the table of rooms in docs/design.md is wrong about: {', '.join(wrong)}"
    for folder in ("src", "include", "python"):
        for file in sources(ROOT / folder):
            if room_of(file) != "gl" and OUTSIDE.search(file.read_text()):
                yield f"{file.relative_to(ROOT)} includes OpenGL, which only src/gl may"
            asks = VERSION.search(file.read_text()) and file.name != "info_command.cpp"
            if asks and room_of(file) not in ("gl", "include"):
                yield f"{file.relative_to(ROOT)} asks for the version of OpenGL; only src/gl may, others ask Features"
            if room_of(file) not in ("gl", "web") and PAGE.search(file.read_text()):
                yield f"{file.relative_to(ROOT)} knows Emscripten, which only src/gl/web and src/web may"
    for file in sources(ROOT / "src"):
        for name in NAMESPACE.findall(file.read_text()):
            if name not in ("detail", "mpi") and name.split("::")[:2] != ["detail", room_of(file)]:
                yield f"{file.relative_to(ROOT)} has the namespace quadmill::{name}, not that of its room"


def main():
    if sys.argv[1:] == ["--draw"]:
        for (room, to), files in sorted(arrows().items(), key=lambda arrow: list(ROOMS).index(arrow[0][0])):
            print(f"{room:>8} -> {to:<8} {len(files)}")
        return 0
    found = list(mistakes())
    for line in found:
        print(line)
    print(f"{len(ROOMS)} rooms, {len(arrows())} arrows, {len(found)} mistakes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
