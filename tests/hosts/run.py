#!/usr/bin/env python3
"""Runs a program on an X server of its own: run.py PROGRAM. Exits with its status. With the leak sanitizer, memory that
the program's own code has lost is an error, and memory that toolkits and drivers have lost is not."""
import os
import re
import subprocess
import sys
from pathlib import Path


def own_leaks(said, program):
    """The reports of leaks with a frame of the program above the function that allocates."""
    own = [str(Path(__file__).resolve().parents[2]) + "/", f"/{Path(program).name}+0x"]
    reports = re.findall(r"leak of \d+ byte.*?(?=\n\n|\Z)", said, re.DOTALL)
    return [one for one in reports
            if any(name in frame for frame in re.findall(r"^ +#[1-9].*$", one, re.MULTILINE) for name in own)]


read, write = os.pipe()
server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp",
                           "-noreset"], pass_fds=[write], stderr=subprocess.DEVNULL)
os.close(write)
try:
    with os.fdopen(read) as display:
        environment = {**os.environ, "DISPLAY": ":" + display.readline().strip()}
    environment.pop("WAYLAND_DISPLAY", None)
    environment["LSAN_OPTIONS"] = os.environ.get("LSAN_OPTIONS", "") + ":exitcode=0"
    ended = subprocess.run(sys.argv[1:], env=environment, timeout=100, stderr=subprocess.PIPE, text=True,
                           errors="replace")
finally:
    server.terminate()
    server.wait()
sys.stderr.write(ended.stderr)
sys.exit(ended.returncode or len(own_leaks(ended.stderr, sys.argv[1])))
