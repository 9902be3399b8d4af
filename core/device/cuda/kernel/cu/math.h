// Functions of float32 numbers, by the polynomials of the CPU's kernels
// (core/device/cpu/kernel), operation for operation: what differs from them is the
// few bits that their families differ by among each other. NaN stays NaN.
#pragma once
#include "cuda.h"

DEVICE float infinity() { return floatOf(0x7f800000); }
DEVICE float quietNaN() { return floatOf(0x7fc00000); }
DEVICE double bitsToDouble(u64 x) { return __builtin_bit_cast(double, x); }
DEVICE u64 doubleToBits(double x) { return __builtin_bit_cast(u64, x); }

DEVICE float absolute(float x) { return floatOf(bitsOf(x) & 0x7fffffff); }
DEVICE float withSign(float magnitude, float of) { return floatOf(bitsOf(magnitude) | (bitsOf(of) & 0x80000000)); }
DEVICE float squareRoot(float x) { return __builtin_sqrtf(x); }

// bounds that keep NaN, which a hardware maximum would drop
DEVICE float atLeast(float x, float low) { return x < low ? low : x; }
DEVICE float atMost(float x, float high) { return x > high ? high : x; }

// least and greatest of two numbers as Go has them: NaN in one is NaN in the
// result, and −0 is below 0.
DEVICE float least(float a, float b) {
  if (a == b) return floatOf(bitsOf(a) | bitsOf(b));
  return a != a || a < b ? a : b;
}
DEVICE float greatest(float a, float b) {
  if (a == b) return floatOf(bitsOf(a) & bitsOf(b));
  return a != a || a > b ? a : b;
}

// e^r − 1 and n of x = n·ln 2 + r, |r| ≤ ln 2/2: the polynomial of Cephes' expf.
DEVICE float reduced(float x, float *n) {
  *n = __builtin_rintf(x * 1.44269504088896341f);
  float r = fma(-*n, 0.693147182464599609375f, x);
  r = fma(-*n, -1.904654323148236017e-09f, r);
  float q = fma(1.9875691500e-4f, r, 1.3981999507e-3f);
  q = fma(q, r, 8.3334519073e-3f);
  q = fma(q, r, 4.1665795894e-2f);
  q = fma(q, r, 1.6666665459e-1f);
  q = fma(q, r, 5.0000001201e-1f);
  return fma(r * r, q, r);
}

// 2ⁿ for n in [−126, 127].
DEVICE float powerOf2(int n) { return floatOf((u32)(n + 127) << 23); }

// e^x = p·t, both normal numbers, for x in [−110, 89]: two factors, since 2ⁿ alone
// leaves the range of float32 where e^x does not.
DEVICE float exponent(float x, float *t) {
  float n, p = reduced(x, &n) + 1.0f;
  int whole = (int)n, half = whole >> 1;
  *t = powerOf2(whole - half);
  return p * powerOf2(half);
}

// e^x − 1 for x in [−20, 20], good to the last bits near 0.
DEVICE float expm1Near(float x) {
  float n, p = reduced(x, &n), scale = powerOf2((int)n);
  return fma(scale, p, scale - 1.0f);
}

DEVICE float minusAbs(float x) { return atLeast(floatOf(bitsOf(x) | 0x80000000), -110.0f); }
// factors that keep −Inf·0 out
DEVICE float leftBounded(float x) { return atLeast(x, -150.0f); }
DEVICE float bounded(float x) { return atMost(leftBounded(x), 150.0f); }

DEVICE float expOf(float x) {
  float t, p = exponent(atMost(atLeast(x, -104.0f), 89.0f), &t);
  return p * t;
}

// e^x − 1 for any x.
DEVICE float expm1Of(float x) { return x > 20.0f ? expOf(x) - 1.0f : expm1Near(atLeast(x, -20.0f)); }

// ln(1+f) + k·ln 2 for √½ ≤ 1+f < √2 (FreeBSD's e_logf.c).
DEVICE float log1pNear(float f, float k) {
  float s = f / (f + 2.0f), z = s * s;
  float r = fma(0.24279078841f, z, 0.28498786688f);
  r = fma(r, z, 0.40000972152f);
  r = fma(r, z, 0.66666662693f) * z;
  float h = f * f * 0.5f;
  float y = fma(s, r + h, k * 9.0580006145e-06f);
  return fma(k, 6.9313812256e-01f, y - h + f);
}

// the two parts of a positive normal number x·2ᵏ with √½ ≤ x < √2, less one.
DEVICE float mantissa(float x, float *k) {
  u32 i = bitsOf(x) + (0x3f800000 - 0x3f3504f3);
  *k = (float)((int)(i >> 23) - 127);
  return floatOf((i & 0x007fffff) + 0x3f3504f3) - 1.0f;
}

DEVICE float logOf(float x) {
  bool tiny = x < 1.17549435e-38f;
  float k, f = mantissa(tiny ? x * 33554432.0f : x, &k);
  float y = log1pNear(f, tiny ? k - 25.0f : k);
  if (!(x > 0.0f)) y = x < 0.0f ? quietNaN() : -infinity();
  return x < infinity() ? y : x + x;
}

DEVICE float tanhOf(float x) {
  float a = atMost(absolute(x), 10.0f), e = expm1Near(a + a);
  return withSign(e / (e + 2.0f), x);
}

// σ(x) as y·t.
DEVICE float logistic(float x, float *t) {
  float p = exponent(minusAbs(x), t), e = p * *t;
  if (x < 0.0f) return p / (e + 1.0f);
  *t = 1.0f;
  return 1.0f / (e + 1.0f);
}

DEVICE float sigmoidOf(float x) {
  float t, y = logistic(x, &t);
  return y * t;
}

DEVICE float softplusOf(float x) {
  float t, p = exponent(minusAbs(x), &t), e = p * t;
  bool small = e < 0.41421356f;
  float y = log1pNear(small ? e : (e - 1.0f) * 0.5f, small ? 0.0f : 1.0f);
  return y + atLeast(x, 0.0f);
}

DEVICE float siluOf(float x) {
  float t, y = logistic(x, &t);
  return y * leftBounded(x) * t;
}

// σ·(1 + x·τ), τ = 1−σ without cancellation.
DEVICE float siluSlope(float x) {
  float t, e = exponent(minusAbs(x), &t) * t;
  float inverse = 1.0f / (e + 1.0f), low = e * inverse;
  float sigma = x < 0.0f ? low : inverse, tau = x < 0.0f ? inverse : low;
  return fma(sigma, tau * bounded(x), sigma);
}

// tanh(ln(1+eˣ)) = n/d with e = e^−|x| = p·t: right of 0 (1+2e)/(1+2e+2e²), left
// e(2+e)/(2+e(2+e)), where n lacks the factor e.
struct MishParts { float p, t, e, n, d; };
DEVICE MishParts mishParts(float x) {
  MishParts m;
  m.p = exponent(minusAbs(x), &m.t);
  m.e = m.p * m.t;
  float more = m.e + 2.0f, right = fma(m.e, 2.0f, 1.0f);
  bool left = x < 0.0f;
  m.n = left ? more : right;
  m.d = fma(m.e, left ? more : m.e + m.e, left ? 2.0f : right);
  return m;
}

DEVICE float mishOf(float x) {
  MishParts m = mishParts(x);
  float y = m.n / m.d;
  return x < 0.0f ? y * m.p * leftBounded(x) * m.t : y * leftBounded(x);
}

// T + x·T′, T = n/d, T′ = 4·s·(1+e)/d², s = e² right of 0, e left.
DEVICE float mishSlope(float x) {
  MishParts m = mishParts(x);
  float inverse = 1.0f / m.d;
  float n = x < 0.0f ? m.n * m.e : m.n;
  float s = x < 0.0f ? m.e : m.e * m.e;
  s = s * (m.e + 1.0f) * (inverse * 4.0f);
  return fma(s, bounded(x), n) * inverse;
}

DEVICE float eluOf(float x) {
  float e = expm1Near(atMost(atLeast(x, -20.0f), 0.0f));
  return x > 0.0f ? x : e;
}

// sine and cosine of x turns, x in [−½, ½], in float64: Cephes' series (sin.c)
// within an eighth of a turn.
DEVICE double add2(double a, double x, double b) { return a * x + b; }
DEVICE double sineSeries(double z, double zz) {
  double s = add2(1.58962301576546568060e-10, zz, -2.50507477628578072866e-8);
  s = add2(add2(add2(add2(s, zz, 2.75573136213857245213e-6), zz, -1.98412698295895385996e-4), zz, 8.33333333332211858878e-3), zz, -1.66666666666666307295e-1);
  return z + z * (zz * s);
}
DEVICE double cosineSeries(double zz) {
  double c = add2(-1.13585365213876817300e-11, zz, 2.08757008419747316778e-9);
  c = add2(add2(add2(add2(c, zz, -2.75573141792967388112e-7), zz, 2.48015872888517045348e-5), zz, -1.38888888888730564116e-3), zz, 4.16666666666665929218e-2);
  return 1.0 - 0.5 * zz + zz * zz * c;
}

// sin and cos at z beyond quarter quarters of a turn
DEVICE void sincosAt(double z, u32 quarter, double *sin, double *cos) {
  double zz = z * z, s = sineSeries(z, zz), c = cosineSeries(zz);
  bool swap = quarter & 1;
  double a = swap ? c : s, b = swap ? s : c;
  *sin = quarter & 2 ? -a : a;
  *cos = (quarter ^ (quarter >> 1)) & 1 ? -b : b;
}
