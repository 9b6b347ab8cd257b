#!/usr/bin/env bash
# Mines a log while it grows: sets up what is missing, builds, lets a make-believe web server write a day of two million
# response times within 20 seconds, follows them with `tail -f`, draws the quantiles and checks the last ones.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/setup.sh
echo "Building ..."
cmake --preset release >/dev/null
cmake --build --preset release --target quadmill_cli latencies >/dev/null
quadmill=$PWD/build/release/src/cli/quadmill
latencies=$PWD/build/release/demos/latencies
demos=$PWD/demos
mkdir -p build/stream
cd build/stream
rm -f access.log answers.jsonl stream.svg

window=100000 eps=0.0002
# With each quantile those eps below and above it, between which the exact one certainly lies.
phi=0.4998,0.5,0.5002,0.8998,0.9,0.9002,0.9898,0.99,0.9902,0.9988,0.999,0.9992

# If the server ends, `tail` ends, and then everything that reads from it.
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

: >access.log
"$latencies" log 2000000 --lines-per-second 100000 >>access.log &
server=$!
follow() {
    tail -f -n +1 -s 0.1 --pid="$server" access.log |
        "$quadmill" quantiles --text - --sliding "$window" --every 20000 --eps "$eps" --phi "$phi" --json |
        tee answers.jsonl | "$demos/stream.py" show
}
echo
echo "Quantiles of the last $window requests, while build/stream/access.log grows:"
echo
# In the background, because a shell in `wait` reacts to signals immediately.
follow &
wait $!
wait "$server"

"$latencies" plot answers.jsonl stream.svg
echo
echo "The picture of the whole day: build/stream/stream.svg"
echo
echo "The last $window requests next to a sort of them (requests that were cut off are not values): first from"
echo "the values themselves, so the answers are exact; then from a summary, with an allowed error of 0.5 %:"
grep -v nan access.log | tail -n "$window" | "$quadmill" sort --text >sorted.txt
"$quadmill" quantiles --text access.log --sliding "$window" --eps 0.005 --phi 0.5,0.9,0.99,0.999 --json >coarse.jsonl
for answers in answers.jsonl coarse.jsonl; do
    echo
    "$demos/stream.py" check sorted.txt <"$answers"
done
echo
echo "Whole milliseconds that at least 5 % of all requests took, with bounds of their counts:"
echo
awk '{ print /^[0-9]/ ? int($1 + 0.5) : $1 }' access.log | "$quadmill" frequent --text - --support 0.05 --eps 0.001
