#!/usr/bin/env bash
# Runs each fuzzer on its seeds and on what it makes of them: `tests/fuzz/run.sh [SECONDS [NAME...]]`, 60 seconds each
# unless told, one on each CPU: 4 minutes for the seven on two. What it finds of interest is kept in build/asan/corpus; an
# input that fails is left in build/asan/failures: put it into tests/fuzz/seeds/NAME with the repair.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
names=("${@:2}")
[ ${#names[@]} -gt 0 ] || names=(csv sql summaries sketches matrix_market packed programs)
cmake --preset asan >/dev/null
cmake --build --preset asan --target "${names[@]/#/fuzz_}"
mkdir -p build/asan/failures
export ASAN_OPTIONS=allocator_may_return_null=1
fuzz() {
    local name=$1 seeds=("tests/fuzz/seeds/$1") log="build/asan/failures/$1.log"
    mkdir -p "build/asan/corpus/$name"
    [ "$name" != summaries ] || seeds+=(tests/stream/golden)
    [ "$name" != programs ] || export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 # a driver keeps what it likes
    local status=0
    "build/asan/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -malloc_limit_mb=4096 \
        -verbosity=0 -print_final_stats=1 -artifact_prefix="build/asan/failures/$name-" \
        "build/asan/corpus/$name" "${seeds[@]}" >"$log" 2>&1 || status=$?
    echo "== fuzz $name: $seconds s, status $status =="
    sed '/: 0$/d' "$log"
    return $status
}
running=0 failed=0
one_ends() {
    wait -n || failed=1
    running=$((running - 1))
}
for name in "${names[@]}"; do
    [ $running -lt "$(nproc)" ] || one_ends
    fuzz "$name" &
    running=$((running + 1))
done
while [ $running -gt 0 ]; do one_ends; done
exit $failed
