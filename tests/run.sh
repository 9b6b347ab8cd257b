#!/usr/bin/env bash
# Sets up what is missing, builds, and runs the whole test suite, then the library's tests once more with address and
# undefined-behaviour sanitizers. `tests/run.sh release` or `tests/run.sh asan` runs one of them; the command and the
# demos under sanitizers take as long again: cmake --preset asan -DQUADMILL_BUILD_TESTS=ON.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(release asan)
for preset in "${presets[@]}"; do
    echo "== $preset =="
    all=ON
    [ "$preset" = asan ] && all=OFF
    cmake --preset "$preset" -DQUADMILL_BUILD_TESTS=ON -DQUADMILL_BUILD_CLI=$all -DQUADMILL_BUILD_DEMOS=$all \
        -DQUADMILL_WERROR="${QUADMILL_WERROR:-OFF}" >/dev/null
    cmake --build --preset "$preset"
    ctest --preset "$preset"
done
