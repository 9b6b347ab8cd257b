#!/bin/sh
# build.sh PACKAGE COMPILER PROGRAM SOURCE [OPTION...]: the installed library with no build system, through pkg-config
# alone, which need not be told whether the library is static.
set -eu
flags=$(pkg-config --cflags --libs "$1")
compiler=$2 program=$3 source=$4
shift 4
"$compiler" -std=c++20 "$@" -o "$program" "$source" $flags
