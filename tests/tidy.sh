#!/usr/bin/env bash
# clang-tidy (its rules are in .clang-tidy) over the rooms that all others stand on, and the headers that they include.
# After `cmake --preset release -DCMAKE_UNITY_BUILD=OFF` and a build, which tells how each file is compiled.
# `tests/tidy.sh FOLDER...` takes others.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy >/dev/null || { echo "tidy: apt-get install clang-tidy" >&2; exit 1; }
folders=("$@")
[ $# -gt 0 ] || folders=(src/cpu src/files src/gl src/pass)
find "${folders[@]}" -name '*.cpp' -print0 |
    xargs -0 -P "$(nproc)" -n 2 clang-tidy -p build/release --quiet 2> >(grep -v 'warnings\? generated\|Suppressed\|header-filter' >&2)
