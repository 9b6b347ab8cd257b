#!/usr/bin/env python3
"""Proves the picture of rooms in docs/design.md: every include between folders is an arrow that ROOMS allows, arrows
have no circle, only src/gl includes OpenGL, and the namespace of src/ROOM is quadmill::detail::ROOM.

    tests/rooms.py          checks; prints what is wrong, exit status 1
    tests/rooms.py --draw   prints the arrows that there are, and how many includes each is made of
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Each room and the rooms that it may include, below it.
ROOMS = {
    "cpu": [],
    "files": ["cpu"],
    "gl": ["cpu"],
    "pass": ["cpu", "gl"],
    "stream": ["cpu"],
    "sort": ["cpu", "gl", "pass"],
    "query": ["cpu", "gl", "pass", "sort"],
    "external": ["cpu", "files", "gl", "pass", "sort"],
    "sketch": ["cpu", "gl", "pass", "sort"],
    "linalg": ["cpu", "gl", "pass"],
    "mpi": ["cpu", "files", "external"],
    "lapack": ["cpu", "linalg"],
    "sql": ["cpu", "query"],
    "input": ["cpu", "files", "query", "sql"],
    "bench": ["cpu", "gl", "pass", "sort", "stream", "query", "files", "external", "sketch", "linalg", "input"],
    "show": ["cpu", "gl", "pass", "sort", "query", "files", "input"],
    "cli": ["cpu", "gl", "pass", "sort", "stream", "query", "external", "sketch", "linalg", "files", "input", "sql",
            "bench", "show", "mpi"],
    "demos": ["cpu", "gl", "pass", "sort", "query", "show", "files", "input"],
    "python": ["gl", "sort", "query", "sql", "input"],
}
# What stands on no other room's shoulders: public headers name no room at all.
OUTSIDE = re.compile(r'#include [<"](quadmill_glad|glad|GL|EGL|GLFW)/')
# Apart from public names (those of mpi.hpp have a namespace of their own), and from other rooms' that are declared only.
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


def circle_in(rooms):
    """A circle of rooms, or nothing."""
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
    if circle := circle_in(ROOMS):
        yield "a circle: " + " -> ".join(circle)
    for room in sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir() and sources(path)):
        if room not in ROOMS:
            yield f"src/{room} is a room that tests/rooms.py does not know"
    for (room, to), files in sorted(arrows().items()):
        if to not in ROOMS.get(room, []):
            yield f"{room} -> {to} is no arrow of the house: " + ", ".join(str(f.relative_to(ROOT)) for f in files)
    for folder in ("src", "include", "python"):
        for file in sources(ROOT / folder):
            if room_of(file) != "gl" and OUTSIDE.search(file.read_text()):
                yield f"{file.relative_to(ROOT)} includes OpenGL, which only src/gl may"
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
