#!/usr/bin/env bash
# Line coverage of rooms by their tests:  tests/coverage.sh [ROOM...]   (default: cpu files stream)
#
# Builds the tests with clang's source-based coverage (build/coverage), runs the ctest tests whose names begin with a
# room, and prints the covered lines of the rooms' sources. build/coverage/html has every line.
set -euo pipefail
cd "$(dirname "$0")/.."
rooms=("$@")
[ $# -gt 0 ] || rooms=(cpu files stream)
folder=build/coverage
flags="-fprofile-instr-generate -fcoverage-mapping"
[ -f $folder/build.ninja ] || cmake -B $folder -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" \
    -DQUADMILL_BUILD_TESTS=ON -DQUADMILL_BUILD_DEMOS=OFF ${CMAKE_ARGS:-} >/dev/null
targets=() sources=() programs=()
for room in "${rooms[@]}"; do
    [ -d "src/$room" ] || { echo "coverage: no room $room" >&2; exit 2; }
    sources+=("src/$room")
    for target in $(ninja -C $folder -t targets all | sed -n "s/^\(test_${room}[a-z_]*\): phony$/\1/p"); do
        targets+=("$target") programs+=("-object" "$folder/tests/$target")
    done
done
[ ${#targets[@]} -gt 0 ] || { echo "coverage: no tests of ${rooms[*]}" >&2; exit 2; }
programs=("${programs[@]:1}")  # llvm-cov takes the first program without -object
cmake --build $folder --target "${targets[@]}"
rm -rf $folder/profiles
LLVM_PROFILE_FILE="$PWD/$folder/profiles/%p.profraw" ctest --test-dir $folder --output-on-failure \
    -R "^($(IFS='|'; echo "${targets[*]/#test_/}"))$"
llvm-profdata-14 merge -o $folder/tests.profdata $folder/profiles/*.profraw
llvm-cov-14 report -instr-profile=$folder/tests.profdata "${programs[@]}" -use-color=false \
    -show-region-summary=false -show-branch-summary=false "${sources[@]}"
llvm-cov-14 show -instr-profile=$folder/tests.profdata "${programs[@]}" -format=html -output-dir=$folder/html \
    "${sources[@]}"
echo "every line: $folder/html/index.html"
