#!/usr/bin/env bash
# The page web/page in a browser: installs what is missing (Debian 12), builds the npm package, serves both on
# loopback, and prints the address. demos/web.sh [PORT]
set -euo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh web
cmake --preset web >/dev/null
cmake --build --preset web
port=${1:-8000}
echo "Open http://127.0.0.1:$port in a browser; Ctrl-C ends it."
exec python3 -m http.server --bind 127.0.0.1 --directory build/web/site "$port"
