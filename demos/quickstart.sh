#!/usr/bin/env bash
# From a clone to a sorted file: installs the packages, builds the command, makes ten million response times, sorts them
# with the graphics pipeline, compares the result with the CPU's sort, and draws the stages of a smaller sort.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh command
echo "Building the command ..."
cmake --preset quick >/dev/null
cmake --build --preset quick
quadmill=build/quick/src/cli/quadmill
demos=build/quick/demos
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
