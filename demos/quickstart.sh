#!/usr/bin/env bash
# From nothing to a sorted file: sets up what is missing, builds, makes ten million response times, sorts them with the
# graphics pipeline, checks the result against the CPU's sort and draws the stages of a smaller sort.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh
echo "Building ..."
cmake --preset release >/dev/null
cmake --build --preset release --target quadmill_cli latencies >/dev/null
quadmill=build/release/src/cli/quadmill
demos=build/release/demos
out=build/quickstart
mkdir -p "$out"

echo
"$quadmill" info
echo
echo "Making 10,000,000 response times in milliseconds: $out/latencies.f32"
"$demos/latencies" make 10000000 "$out/latencies.f32"
echo "Sorting them by MIN and MAX blending (a few seconds on a CPU renderer) ..."
"$quadmill" sort "$out/latencies.f32" -o "$out/sorted.f32" --engine pbsn --profile --stats
echo
echo "Sorting them on the CPU, to compare ..."
"$quadmill" sort "$out/latencies.f32" -o "$out/expected.f32" --engine cpu --stats
cmp "$out/sorted.f32" "$out/expected.f32"
echo "Both files are the same, bit for bit."
echo
"$demos/latencies" report "$out/sorted.f32"
echo
"$quadmill" show sort -o "$out/stages.png"
echo "The picture of a sort, stage by stage: $out/stages.png"
