// The tanh-Gaussian policy; a warp has a row.
#pragma once
#include "reduce.h"

DEVICE float logStdOf(float raw) { return atMost(atLeast(raw, -20.0f), 2.0f); }

// 1 − tanh²u = 4t/(1+t)² with t = e^−2|u| keeps its digits where tanh u is next to one.
DEVICE float slopeAt(float u) {
  float t = expOf(-2.0f * absolute(u));
  return 4.0f * t / ((1.0f + t) * (1.0f + t));
}

// One row of n actions: h [μ | raw log σ], eps standard normal, out [a | log π].
DEVICE void sampleRow(float *out, const float *h, const float *eps, u32 n) {
  double logp = 0.0;
  for (u32 j = lane(); j < n; j += 32) {
    float logStd = logStdOf(h[n + j]), e = eps[j];
    float u = h[j] + expOf(logStd) * e;
    out[j] = tanhOf(u);
    logp += -(double)e * (double)e * 0.5 - (double)logStd - 0.91893853320467274178 - (double)logOf(slopeAt(u) + 1e-6f);
  }
  logp = warpSum(logp);
  if (lane() == 0) out[n] = (float)logp;
}

// Element j of its gradient with respect to μ and to raw log σ.
DEVICE void sampleGrad(float *dh, const float *h, const float *eps, const float *out, const float *dout, u32 n, u32 j) {
  float raw = h[n + j], std = expOf(logStdOf(raw)), e = eps[j], dlogp = dout[n];
  float s = slopeAt(h[j] + std * e), a = out[j];
  float du = dout[j] * s + dlogp * 2.0f * a * s / (s + 1e-6f);
  dh[j] = du;
  dh[n + j] = raw >= -20.0f && raw <= 2.0f ? du * std * e - dlogp : 0.0f;
}
