// targets: sm_70
// The tanh-Gaussian policy, a warp to each row. Twin: core/device/cpu/policy.go.
#include "policy.h"

KERNEL void tanh_gaussian(float *out, const float *h, const float *eps, u32 n, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) sampleRow(out + row * (n + 1), h + row * 2 * n, eps + row * n, n);
}

KERNEL void tanh_gaussian_grad(float *dh, const float *h, const float *eps, const float *out, const float *dout, u32 n, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride())
    for (u32 j = lane(); j < n; j += 32) sampleGrad(dh + row * 2 * n, h + row * 2 * n, eps + row * n, out + row * (n + 1), dout + row * (n + 1), n, j);
}
