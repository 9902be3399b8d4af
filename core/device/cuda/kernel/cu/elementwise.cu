// targets: sm_70
// Functions of each element. Twins: core/device/cpu/elementwise.go, function.go.
// A result may stand in the memory of an operand, so that nothing is __restrict__.
#include "elements.h"

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

template <typename F> DEVICE void each(i64 n, F f) {
  for (i64 i = firstElement(); i < n; i += elementStride()) f(i);
}

#define QUADS1(name, function) \
  KERNEL void name(float *out, const float *x, i64 n) { quads1(out, x, n, [](float x) { return function; }); }
#define QUADS2(name, function) \
  KERNEL void name(float *out, const float *p, const float *q, i64 n) { quads2(out, p, q, n, [](float a, float b) { return function; }); }
#define EACH1(name, function) \
  KERNEL void name(float *out, const float *p, i64 n) { each(n, [=](i64 i) { float x = p[i]; out[i] = function; }); }
#define EACH2(name, function) \
  KERNEL void name(float *out, const float *p, const float *q, i64 n) { each(n, [=](i64 i) { float a = p[i], b = q[i]; out[i] = function; }); }

UNARY_WIDE(QUADS1)
UNARY_OTHER(EACH1)
BINARY_WIDE(QUADS2)
BINARY_OTHER(EACH2)

KERNEL void scale(float *out, const float *x, float factor, i64 n) {
  quads1(out, x, n, [=](float x) { return x * factor; });
}

KERNEL void shift(float *out, const float *x, float by, i64 n) {
  quads1(out, x, n, [=](float x) { return x + by; });
}

KERNEL void clamp(float *out, const float *x, float low, float high, i64 n) {
  each(n, [=](i64 i) { out[i] = clampOf(x[i], low, high); });
}

KERNEL void clamp_grad(float *out, const float *dy, const float *x, float low, float high, i64 n) {
  each(n, [=](i64 i) { out[i] = clampGrad(dy[i], x[i], low, high); });
}

KERNEL void keep(float *out, const float *dy, const float *a, const float *b, u32 equal, i64 n) {
  each(n, [=](i64 i) { out[i] = keepOf(dy[i], a[i], b[i], equal); });
}

// r + γ(1−d)(q − α·log π)
KERNEL void td_target(float *out, const float *r, const float *d, const float *q, const float *logp, const float *gamma, const float *alpha, i64 n) {
  float g = *gamma, a = *alpha;
  each(n, [=](i64 i) { out[i] = targetOf(r[i], d[i], q[i], logp[i], g, a); });
}
