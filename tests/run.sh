#!/usr/bin/env bash
# Sets up what is missing, builds, and runs the whole test suite: plainly, then with address and undefined-behaviour
# sanitizers. `tests/run.sh release` or `tests/run.sh asan` runs one of them.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(release asan)
for preset in "${presets[@]}"; do
    echo "== $preset =="
    cmake --preset "$preset" -DQUADMILL_BUILD_TESTS=ON -DQUADMILL_WERROR="${QUADMILL_WERROR:-OFF}" >/dev/null
    cmake --build --preset "$preset"
    ctest --preset "$preset"
done
