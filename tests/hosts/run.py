#!/usr/bin/env python3
"""Runs a program on an X server of its own: run.py PROGRAM. Exits with its status."""
import os
import subprocess
import sys

read, write = os.pipe()
server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp",
                           "-noreset"], pass_fds=[write], stderr=subprocess.DEVNULL)
os.close(write)
try:
    with os.fdopen(read) as display:
        environment = {**os.environ, "DISPLAY": ":" + display.readline().strip()}
    environment.pop("WAYLAND_DISPLAY", None)
    environment.setdefault("ASAN_OPTIONS", "detect_leaks=0")  # toolkits and drivers leak
    status = subprocess.run(sys.argv[1:], env=environment, timeout=100).returncode
finally:
    server.terminate()
    server.wait()
sys.exit(status)
