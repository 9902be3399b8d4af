// targets: sm_70 sm_80
// Functions of each element. Twin: core/device/cpu/elementwise.go.
// A result may stand in the memory of an operand, so that nothing is __restrict__.
#include "cuda.h"

// out ← a + b
KERNEL void add(float *out, const float *a, const float *b, i64 n) {
  for (i64 i = firstElement(); i < n; i += elementStride()) out[i] = a[i] + b[i];
}
