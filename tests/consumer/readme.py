#!/usr/bin/env python3
"""Builds the program in README.md unchanged, with its CMake file, and runs it on an X server.

usage: readme.py FOLDER CMAKE_ARGUMENT...
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
page = (ROOT / "README.md").read_text()
for language, name in (("cpp", "main.cpp"), ("cmake", "CMakeLists.txt")):
    block, = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (folder / name).write_text(block)
subprocess.run(["cmake", "-S", folder, "-B", folder / "build", *sys.argv[2:]], check=True)
subprocess.run(["cmake", "--build", folder / "build"], check=True)
subprocess.run([sys.executable, ROOT / "tests/hosts/run.py", folder / "build/app"], check=True)
