#!/usr/bin/env bash
# Sets up what is missing, builds, and runs the whole test suite, then the tests of rooms without large textures once
# more with address and undefined-behaviour sanitizers. `tests/run.sh release` runs the first part; `tests/run.sh asan`
# everything with sanitizers, which takes twice as long as all of the above.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh
unity=OFF
build() {
    local python=ON
    [ "$1" != asan ] || python=OFF # an interpreter without sanitizers cannot load a module that has them
    cmake --preset "$1" -DQUADMILL_BUILD_TESTS=ON -DQUADMILL_WERROR="${QUADMILL_WERROR:-OFF}" \
        -DCMAKE_UNITY_BUILD=$unity -DQUADMILL_PYTHON=$python >/dev/null
    cmake --build --preset "$@"
}
for preset in "${@:-release}"; do
    echo "== $preset =="
    build "$preset"
    ctest --preset "$preset"
done
if [ $# -eq 0 ]; then
    echo "== asan =="
    rooms=(cpu external files pass pass_gl gl query sketch sort stream)
    # Quicker; of warnings, a file on its own has told above.
    unity=ON QUADMILL_WERROR=OFF
    build asan --target "${rooms[@]/#/test_}"
    ctest --preset asan -R "^($(IFS='|'; echo "${rooms[*]}"))\$"
fi
