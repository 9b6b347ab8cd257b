#!/usr/bin/env python3
"""clang-tidy over every header at once: one file that includes all headers of the library and of its tools is checked,
as .clang-tidy says, with the flags of the command. tidy.py BUILD"""

import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(sys.argv[1]).resolve()


def flags():
    """Those of a file of the command, which includes from every room."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "quadmill_cli.dir" in entry["command"]:
            words = shlex.split(entry["command"])
            kept = [word for word in words if word.startswith(("-I", "-D", "-std="))]
            kept += [word for i, flag in enumerate(words) if flag == "-isystem" for word in (flag, words[i + 1])]
            return kept
    sys.exit("tidy.py: the command is not among what is built; configure with -DQUADMILL_BUILD_TESTS=ON")


def main():
    headers = [h.relative_to(root / "include") for h in sorted((root / "include/quadmill").glob("*.hpp"))]
    headers += [h.relative_to(root / "src") for h in sorted((root / "src").glob("**/*.hpp"))]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "headers.cpp"
        source.write_text("".join(f'#include "{header}"\n' for header in headers))
        command = ["clang-tidy", "--quiet", f"--config-file={root / '.clang-tidy'}", str(source), "--", *flags()]
        result = subprocess.run(command, capture_output=True, text=True, cwd=root)
    print(result.stdout, end="")
    print(f"{len(headers)} headers checked")
    sys.exit(result.returncode)


main()
