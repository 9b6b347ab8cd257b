#!/usr/bin/env bash
# Sets up what is missing, builds, and runs the whole test suite, then the tests of rooms without large textures once
# more with address and undefined-behaviour sanitizers. `tests/run.sh release` runs the first part. `tests/run.sh asan`
# runs everything with sanitizers, which takes twice as long as all of the above. `tests/run.sh quick` is for the first
# run and between two edits: it runs the tests of the rooms cpu, files, pass, sort and stream.
set -euo pipefail
cd "$(dirname "$0")/.."
part() { echo "== $* == ($SECONDS s since the start)"; }
build() {
    local python=ON
    [ "$1" != asan ] || python=OFF # an interpreter without sanitizers cannot load a module that has them
    [ "$1" != quick ] || python=OFF
    cmake --preset "$1" -DQUADMILL_BUILD_TESTS=ON -DQUADMILL_BENCH=ON -DQUADMILL_WERROR="${QUADMILL_WERROR:-OFF}" \
        -DQUADMILL_PYTHON=$python >/dev/null
    cmake --build --preset "$@"
}
# rooms PRESET NAME...: the tests of these alone.
rooms() {
    local preset=$1
    shift
    part "$preset: $*"
    build "$preset" --target "${@/#/test_}"
    ctest --preset "$preset" -R "^($(IFS='|'; echo "$*"))\$"
}
if [ "$*" = quick ]; then
    tests/setup.sh quick
    rooms quick cpu files pass pass_gl sort stream # the preset that demos/quickstart.sh has built
    exit
fi
tests/setup.sh
for preset in "${@:-release}"; do
    part "building $preset"
    build "$preset"
    part "testing $preset"
    ctest --preset "$preset"
done
if [ $# -eq 0 ]; then
    QUADMILL_WERROR=OFF # they were told above
    rooms asan cpu external files pass pass_gl gl query sketch sort stream
    part "fuzzers"
    tests/fuzz/run.sh 60 # each of seven readers: 4 minutes on two cores
    part "npm package"
    tests/web/run.sh build/release/src/cli/quadmill
    part "done"
fi
