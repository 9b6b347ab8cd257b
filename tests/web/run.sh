#!/usr/bin/env bash
# Builds the npm package with Emscripten and tests it: streams in Node, sorts, tables and the page in Chromium and
# Firefox, its size, its types, and an application of three bundlers. tests/web/run.sh [QUADMILL] compares saved bytes with the command's.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --preset web >/dev/null
cmake --build --preset web
package=build/web/package
node tests/web/imports_test.mjs "$package"
node --test-reporter=spec tests/web/streams_test.mjs "$package" "$@"
python3 tests/web/browser_test.py "$package" sorts_test.js large # 2^20 keys
for page in sorts_test.js table_test.js stages_test.js; do
    python3 tests/web/browser_test.py "$package" $page
    BROWSER=firefox-esr xvfb-run -a python3 tests/web/browser_test.py "$package" $page
done
node --test-reporter=spec tests/web/bundlers_test.mjs "$package" build/web/apps
