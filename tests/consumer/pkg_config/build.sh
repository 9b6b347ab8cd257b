#!/bin/sh
# build.sh COMPILER PROGRAM [--static]: the installed library with no build system, through pkg-config alone.
set -eu
flags=$(pkg-config --cflags --libs ${3-} quadmill)
"$1" -std=c++20 -o "$2" "$(dirname "$0")/../sort_floats.cpp" $flags
