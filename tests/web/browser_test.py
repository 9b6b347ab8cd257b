"""Runs tests of the npm package in a browser, with WebGL2 on a software renderer.
browser_test.py PACKAGE PAGE.js [QUERY]: a test of this folder; browser_test.py --site FOLDER: the page of a folder.
BROWSER (default: chromium) and CHROMIUM_FLAGS say which browser and how."""
import http.server
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

PAGE = b'<!doctype html><meta charset="utf-8"><title>test</title><script type="module" src="/tests/%s"></script>'
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm",
         ".json": "application/json"}
FLAGS = "--use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"


class Run:
    """What the page has said."""

    def __init__(self):
        self.lines, self.done = [], threading.Event()

    def say(self, line):
        if line == "DONE":
            self.done.set()
        else:
            self.lines.append(line)
            print(line, flush=True)


def server_of(run, roots, script):
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def answer(self, content, kind="text/plain", status=200):
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self):
            parts = self.path.split("?")[0].split("/")[1:]
            if parts == [""] and script:
                return self.answer(PAGE % script.encode(), "text/html")
            root = roots[parts.pop(0)] if parts[0] and parts[0] in roots else roots.get("", Path("/nonexistent"))
            file = root / "index.html" if parts == [""] else root.joinpath(*parts)
            if not file.is_file() or ".." in parts:
                return self.answer(b"", status=404)
            return self.answer(file.read_bytes(), TYPES.get(file.suffix, "application/octet-stream"))

        def do_POST(self):
            run.say(self.rfile.read(int(self.headers["content-length"])).decode())
            self.answer(b"")

    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def command(browser, profile):
    """How that browser opens a page with WebGL2 on a software renderer. Firefox needs a display (xvfb-run)."""
    if "firefox" in browser:
        Path(profile, "user.js").write_text('user_pref("webgl.force-enabled", true);\n')
        return [browser, "--no-remote", "--profile", profile]
    flags = os.environ.get("CHROMIUM_FLAGS", FLAGS).split()
    return [browser, "--headless", "--no-sandbox", "--ignore-gpu-blocklist", "--disable-gpu-sandbox", "--no-first-run",
            "--enable-logging=stderr", f"--user-data-dir={profile}", *flags]


def main(package, script, query=""):
    run = Run()
    if package == "--site":
        roots, script = {"": Path(script)}, ""
    else:
        here = Path(__file__).parent
        roots = {"package": Path(package), "tests": here, "page": Path(package).with_name("site")}
    server = server_of(run, roots, script)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # A browser's helpers write into the profile after it was killed, and Firefox's sandbox knows no containers.
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        sandbox = {f"MOZ_DISABLE_{part}_SANDBOX": "1" for part in ("CONTENT", "GPU", "RDD", "SOCKET_PROCESS")}
        browser = subprocess.Popen(
            [*command(os.environ.get("BROWSER", "chromium"), profile),
             f"http://127.0.0.1:{server.server_port}/?{query}"],
            stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
            env={**os.environ, **sandbox, "HOME": profile})
        ended = run.done.wait(float(os.environ.get("LIMIT", "60" if package == "--site" else "500")))
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()
        if not ended:
            errors.seek(0)
            said = errors.read().decode(errors="replace")
            console = "\n".join(line for line in said.splitlines() if ":CONSOLE" in line)  # Chromium's, with exceptions
            sys.exit("the page did not say DONE in time; the browser said: " + (console or said)[-1500:])
    summary = run.lines[-1] if run.lines else "nothing"
    if not summary.endswith(" 0 failed") or summary.startswith("0 passed"):
        sys.exit(f"failed: {summary}")


main(*sys.argv[1:])
