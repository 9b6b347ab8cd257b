#!/bin/sh
# What demos/stream.sh does, in a second.  stream_test.sh QUADMILL LATENCIES STREAM_PY
set -eu
quadmill=$1 latencies=$2 stream=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fail() {
    echo "stream_test: $1" >&2
    exit 1
}
# Its arguments are a wrong call: status 2, and the usage.
misused() {
    status=0
    "$latencies" "$@" >out 2>err || status=$?
    [ "$status" = 2 ] && grep -q '^usage: latencies' err && ! [ -s out ] || fail "took: $*"
}

"$latencies" log 200000 --seed 7 >log
[ "$(wc -l <log)" = 200000 ] || fail "the log has not 200000 lines"
grep -q inf log && grep -q nan log || fail "no time-outs, or none cut off"
"$latencies" log 1000 --lines-per-second 10000 --seed 7 >slow # in a tenth of a second
"$latencies" log 1000 --seed 7 | cmp - slow

"$quadmill" quantiles --text log --sliding 20000 --every 4000 --eps 0.0002 --json \
    --phi 0.4998,0.5,0.5002,0.9,0.99,0.9988,0.999,0.9992 >answers
"$latencies" plot answers picture.svg
[ "$(grep -c '<polyline' picture.svg)" = 4 ] || fail "not a line for each quantile"
[ "$(grep -c '<polygon' picture.svg)" = 2 ] || fail "not a band for each one with neighbours"
grep -q '<path' picture.svg || fail "infinite values have no mark"
python3 -c 'import sys, xml.dom.minidom as xml; xml.parse(sys.argv[1])' picture.svg
[ "$("$stream" show <answers | wc -l)" = 6 ] || fail "shows not every tenth answer"
grep -v nan log | tail -n 20000 | "$quadmill" sort --text >sorted
"$stream" check sorted <answers

misused
misused frobnicate
misused make ten file
misused make 10
misused log
misused log -5
misused log 10 --seed
misused log 10 --seed x
misused log 10 --lines-per-second 0
misused log 10 --frobnicate 1
misused plot answers
! "$latencies" plot missing out.svg 2>err && grep -q 'cannot read missing' err || fail "missing answers are not an error"
echo '{' >bad
! "$latencies" plot bad out.svg 2>err && grep -q 'line 1' err && ! [ -e out.svg ] || fail "bad answers are not an error"
status=0
"$latencies" make 9999999999999999999 many 2>err || status=$?
[ "$status" = 1 ] && grep -q '^latencies: ' err || fail "more values than fit into memory are not an error"
! "$latencies" log 100000 >/dev/full 2>err && grep -q 'cannot write' err || fail "a full device is not an error"
