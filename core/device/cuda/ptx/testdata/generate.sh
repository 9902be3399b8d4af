#!/bin/sh
# Makes *.ptx of *.cu in this folder; a test compares them.
set -e
cd "$(dirname "$0")"
out=${1:-.}
for f in *.cu; do
  for sm in 70 80; do
    grep -q "sm_80 only" "$f" && [ $sm = 70 ] && continue
    clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_$sm --cuda-feature=+ptx70 -nocudainc -nocudalib -O3 -S "$f" -o "$out/${f%.cu}_sm$sm.ptx"
  done
done
