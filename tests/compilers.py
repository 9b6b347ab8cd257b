#!/usr/bin/env python3
"""Reads the library's sources with other compilers.

tests/compilers.py FOLDER [COMPILER...]

FOLDER is a build folder. Each compiler (if none is given, each g++ and clang++ with a version in its name that is
installed) checks each source of the library by itself, with the options of that build. A warning is an error.
"""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

KNOWN = [f"g++-{i}" for i in range(11, 16)] + [f"clang++-{i}" for i in range(13, 22)]
ROOMS = "cpu stream files gl pass sort external query sketch linalg picture kernel".split()


def sources(folder):
    """Each source of the library with its folder and its options. A unity file stands for the files it includes."""
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        if not re.search(rf"/src/({'|'.join(ROOMS)})/CMakeFiles/quadmill_",
                         "/" + entry.get("output", entry["command"])):
            continue
        options = shlex.split(re.sub(r"-Winvalid-pch|-include \S+|-M[DTF]( \S+)?|-o \S+|-c \S+", "", entry["command"]))
        names = [entry["file"]]
        if names[0].endswith("_cxx.cxx"):
            with open(names[0], encoding="utf-8") as file:
                names = re.findall(r'#include "(.*\.cpp)"', file.read())
        for name in names:
            if name.endswith(".cpp"):
                found.setdefault(os.path.realpath(name), (entry["directory"], options))
    return found


def check(compiler, name, directory, options):
    """What the compiler says about a source."""
    words = [word for word in options if word != "ccache"][1:]
    if compiler.startswith("clang"):
        words.remove("-Wno-subobject-linkage")  # only g++ knows it
    done = subprocess.run([compiler, *words, "-Werror", "-fsyntax-only", name], cwd=directory, capture_output=True,
                          text=True, check=False)
    return f"{compiler}: {name}\n{done.stderr}" if done.returncode or done.stderr else ""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    compilers = sys.argv[2:] or [one for one in KNOWN if shutil.which(one)]
    found = sources(sys.argv[1])
    if not compilers or not found:
        sys.exit("no compiler or no source was found")
    faults = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for compiler in compilers:
            said = [text for text in pool.map(lambda item, by=compiler: check(by, item[0], *item[1]), found.items())
                    if text]
            print(f"{compiler}: {len(found)} sources, {len(said)} with warnings or errors", flush=True)
            print("".join(said), end="", flush=True)
            faults += len(said)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
