#!/usr/bin/env bash
# Runs clang-tidy (rules: .clang-tidy) on the rooms cpu, files, gl and pass, and on the headers that they include. First
# build with `cmake --preset release -DCMAKE_UNITY_BUILD=OFF`: the build says how each file is compiled.
# `tests/tidy.sh FOLDER...` takes others.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy >/dev/null || { echo "tidy: apt-get install clang-tidy" >&2; exit 1; }
folders=("$@")
[ $# -gt 0 ] || folders=(src/cpu src/files src/gl src/pass)
find "${folders[@]}" -name '*.cpp' -print0 |
    xargs -0 -P "$(nproc)" -n 2 clang-tidy -p build/release --quiet 2> >(grep -v 'warnings\? generated\|Suppressed\|header-filter' >&2)
