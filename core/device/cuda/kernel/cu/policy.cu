// targets: sm_70
// The tanh-Gaussian policy, a warp to each row. Twin: core/device/cpu/policy.go.
#include "reduce.h"

DEVICE float logStdOf(float raw) { return atMost(atLeast(raw, -20.0f), 2.0f); }

// 1 − tanh²u = 4t/(1+t)² with t = e^−2|u| keeps its digits where tanh u is next to one.
DEVICE float slopeAt(float u) {
  float t = expOf(-2.0f * absolute(u));
  return 4.0f * t / ((1.0f + t) * (1.0f + t));
}

// h [μ | raw log σ], eps standard normal: [a | log π] of n actions
KERNEL void tanh_gaussian(float *out, const float *h, const float *eps, u32 n, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    double logp = 0.0;
    for (u32 j = lane(); j < n; j += 32) {
      float logStd = logStdOf(h[row * 2 * n + n + j]), e = eps[row * n + j];
      float u = h[row * 2 * n + j] + expOf(logStd) * e;
      out[row * (n + 1) + j] = tanhOf(u);
      logp += -(double)e * (double)e * 0.5 - (double)logStd - 0.91893853320467274178 - (double)logOf(slopeAt(u) + 1e-6f);
    }
    logp = warpSum(logp);
    if (lane() == 0) out[row * (n + 1) + n] = (float)logp;
  }
}

KERNEL void tanh_gaussian_grad(float *dh, const float *h, const float *eps, const float *out, const float *dout, u32 n, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    float dlogp = dout[row * (n + 1) + n];
    for (u32 j = lane(); j < n; j += 32) {
      float raw = h[row * 2 * n + n + j], std = expOf(logStdOf(raw)), e = eps[row * n + j];
      float s = slopeAt(h[row * 2 * n + j] + std * e), a = out[row * (n + 1) + j];
      float du = dout[row * (n + 1) + j] * s + dlogp * 2.0f * a * s / (s + 1e-6f);
      dh[row * 2 * n + j] = du;
      dh[row * 2 * n + n + j] = raw >= -20.0f && raw <= 2.0f ? du * std * e - dlogp : 0.0f;
    }
  }
}
