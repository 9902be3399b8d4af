// targets: sm_70
// Functions of each element. Twins: core/device/cpu/elementwise.go, function.go.
// A result may stand in the memory of an operand, so that nothing is __restrict__.
#include "math.h"

// What wide layers do goes in fours, which a GPU's memory wants: n elements of
// arrays that all begin at a multiple of 16 bytes, the rest and others one by one.
DEVICE bool inFours(const float *a, const float *b, const float *c) { return (((u64)a | (u64)b | (u64)c) & 15) == 0; }

template <typename F> DEVICE void quads1(float *out, const float *x, i64 n, F f) {
  i64 quads = inFours(out, x, x) ? n / 4 : 0;
  for (i64 i = firstElement(); i < quads; i += elementStride()) {
    float4 v = ((const float4 *)x)[i];
    ((float4 *)out)[i] = float4{f(v.x), f(v.y), f(v.z), f(v.w)};
  }
  for (i64 i = 4 * quads + firstElement(); i < n; i += elementStride()) out[i] = f(x[i]);
}

template <typename F> DEVICE void quads2(float *out, const float *a, const float *b, i64 n, F f) {
  i64 quads = inFours(out, a, b) ? n / 4 : 0;
  for (i64 i = firstElement(); i < quads; i += elementStride()) {
    float4 v = ((const float4 *)a)[i], w = ((const float4 *)b)[i];
    ((float4 *)out)[i] = float4{f(v.x, w.x), f(v.y, w.y), f(v.z, w.z), f(v.w, w.w)};
  }
  for (i64 i = 4 * quads + firstElement(); i < n; i += elementStride()) out[i] = f(a[i], b[i]);
}

#define QUADS1(name, function) \
  KERNEL void name(float *out, const float *x, i64 n) { quads1(out, x, n, [](float x) { return function; }); }
#define QUADS2(name, a, b, function) \
  KERNEL void name(float *out, const float *p, const float *q, i64 n) { quads2(out, p, q, n, [](float a, float b) { return function; }); }
#define EACH1(name, function) \
  KERNEL void name(float *out, const float *p, i64 n) { \
    for (i64 i = firstElement(); i < n; i += elementStride()) { float x = p[i]; out[i] = function; } \
  }
#define EACH2(name, a, b, function) \
  KERNEL void name(float *out, const float *p, const float *q, i64 n) { \
    for (i64 i = firstElement(); i < n; i += elementStride()) { float a = p[i], b = q[i]; out[i] = function; } \
  }

QUADS1(relu, x > 0.0f || x != x ? x : 0.0f)
QUADS1(silu, siluOf(x))
QUADS1(mish, mishOf(x))
QUADS1(elu, eluOf(x))
EACH1(tanh, tanhOf(x))
EACH1(exp, expOf(x))
EACH1(log, logOf(x))
EACH1(square, x * x)
EACH1(sqrt, squareRoot(x))
EACH1(softplus, softplusOf(x))
EACH1(sigmoid, sigmoidOf(x))
EACH1(symlog, withSign(log1pOf(absolute(x)), x))
EACH1(symexp, withSign(expm1Of(absolute(x)), x))
EACH1(signed_sqrt, withSign(squareRoot(absolute(x)), x))

QUADS2(add, a, b, a + b)
QUADS2(sub, a, b, a - b)
QUADS2(mul, a, b, a * b)
EACH2(div, a, b, a / b)
EACH2(minimum, a, b, least(a, b))
EACH2(maximum, a, b, greatest(a, b))

QUADS2(relu_grad, dy, y, y > 0.0f ? dy : 0.0f)
QUADS2(silu_grad, dy, z, dy * siluSlope(z))
QUADS2(mish_grad, dy, z, dy * mishSlope(z))
EACH2(tanh_grad, dy, y, dy * fma(-y, y, 1.0f))
EACH2(sigmoid_grad, dy, y, dy * fma(-y, y, y))
EACH2(symlog_grad, dy, x, dy / (1.0f + absolute(x)))

DEVICE float eluGrad(float dy, float z) {
  float t, p = exponent(atMost(atLeast(z, -110.0f), 0.0f), &t);
  return z > 0.0f ? dy : dy * p * t;
}
QUADS2(elu_grad, dy, z, eluGrad(dy, z))

DEVICE float softplusGrad(float dy, float x) {
  float t, y = logistic(x, &t);
  return dy * y * t;
}
EACH2(softplus_grad, dy, x, softplusGrad(dy, x))

DEVICE float symexpGrad(float dy, float x) {
  float t, p = exponent(atMost(absolute(x), 89.0f), &t);
  return dy * p * t;
}
EACH2(symexp_grad, dy, x, symexpGrad(dy, x))

KERNEL void scale(float *out, const float *x, float factor, i64 n) {
  quads1(out, x, n, [=](float x) { return x * factor; });
}

KERNEL void clamp(float *out, const float *x, float low, float high, i64 n) {
  for (i64 i = firstElement(); i < n; i += elementStride()) out[i] = atMost(atLeast(x[i], low), high);
}

KERNEL void clamp_grad(float *out, const float *dy, const float *x, float low, float high, i64 n) {
  for (i64 i = firstElement(); i < n; i += elementStride()) out[i] = x[i] >= low && x[i] <= high ? dy[i] : 0.0f;
}

// dy where a < b, and where a = b if equal is 1
KERNEL void keep(float *out, const float *dy, const float *a, const float *b, u32 equal, i64 n) {
  for (i64 i = firstElement(); i < n; i += elementStride()) out[i] = a[i] < b[i] || (equal && a[i] == b[i]) ? dy[i] : 0.0f;
}

KERNEL void where(float *out, const float *condition, const float *a, const float *b, i64 n) {
  for (i64 i = firstElement(); i < n; i += elementStride()) out[i] = condition[i] > 0.0f ? a[i] : b[i];
}

// dy where the condition holds (side 0) or does not (side 1)
KERNEL void where_grad(float *out, const float *condition, const float *dy, u32 side, i64 n) {
  for (i64 i = firstElement(); i < n; i += elementStride()) out[i] = (condition[i] > 0.0f) == (side == 0) ? dy[i] : 0.0f;
}

// x/(1−rate) where u ≥ rate, else 0; rate is live
KERNEL void dropout(float *out, const float *x, const float *u, const float *rate, i64 n) {
  float p = *rate, factor = 1.0f / (1.0f - p);
  for (i64 i = firstElement(); i < n; i += elementStride()) out[i] = u[i] >= p ? x[i] * factor : 0.0f;
}

// r + γ(1−d)(q − α·log π)
KERNEL void td_target(float *out, const float *r, const float *d, const float *q, const float *logp, const float *gamma, const float *alpha, i64 n) {
  float g = *gamma, a = *alpha;
  for (i64 i = firstElement(); i < n; i += elementStride()) out[i] = r[i] + g * (1.0f - d[i]) * (q[i] - a * logp[i]);
}
