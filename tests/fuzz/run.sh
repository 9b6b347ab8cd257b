#!/usr/bin/env bash
# Runs each fuzzer on its seeds and on what it makes of them: `tests/fuzz/run.sh [SECONDS [NAME...]]`, 8 seconds each
# unless told, which is 56 for the seven. What it finds of interest is kept in build/asan/corpus; an input that fails is
# left in build/asan/failures: put it into tests/fuzz/seeds/NAME with the repair.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-8}
names=("${@:2}")
[ ${#names[@]} -gt 0 ] || names=(csv sql summaries sketches matrix_market packed programs)
cmake --preset asan >/dev/null
cmake --build --preset asan --target "${names[@]/#/fuzz_}"
mkdir -p build/asan/failures
export ASAN_OPTIONS=allocator_may_return_null=1
for name in "${names[@]}"; do
    echo "== fuzz $name: $seconds s =="
    mkdir -p "build/asan/corpus/$name"
    seeds=("tests/fuzz/seeds/$name")
    [ "$name" != summaries ] || seeds+=(tests/stream/golden)
    [ "$name" != programs ] || export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 # a driver keeps what it likes
    "build/asan/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -malloc_limit_mb=4096 \
        -verbosity=0 -print_final_stats=1 -artifact_prefix="build/asan/failures/$name-" \
        "build/asan/corpus/$name" "${seeds[@]}" 2>&1 | grep -v ': 0$'
done
