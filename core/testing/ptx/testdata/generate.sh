#!/bin/sh
# Compiles the .cu files in this folder, or the named ones, to .ptx; a test compares the results.
# usage: generate.sh [folder for the .ptx [file.cu ...]]
set -e
cd "$(dirname "$0")"
out=${1:-.}
[ $# = 0 ] || shift
[ $# = 0 ] && set -- *.cu
make() { # file, card, suffix, flags
  clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_$2 --cuda-feature=+ptx70 -nocudainc -nocudalib -Wno-shift-op-parentheses -Wno-logical-op-parentheses $4 -S "$1" -o "$out/${1%.cu}_sm$2$3.ptx"
}
for f in "$@"; do
  make $f 80 "" -O3
  grep -q "sm_80 only" $f || make $f 70 "" -O3
  ! grep -q "// -O0 too" $f || make $f 80 _O0 "-O0 -Xclang -disable-llvm-optzns"
done
