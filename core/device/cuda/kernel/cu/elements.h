// What single elements become: for kernels of one instruction (elementwise.cu) and for
// those of a whole chain (chain.cu), which so give the same bits.
#pragma once
#include "math.h"

DEVICE float eluGrad(float dy, float z) {
  float t, p = exponent(atMost(atLeast(z, -110.0f), 0.0f), &t);
  return z > 0.0f ? dy : dy * p * t;
}

DEVICE float softplusGrad(float dy, float x) {
  float t, y = logistic(x, &t);
  return dy * y * t;
}

// Functions of x; those of wide layers go in fours (elementwise.cu).
#define UNARY_WIDE(F) \
  F(relu, x > 0.0f || x != x ? x : 0.0f) \
  F(silu, siluOf(x)) \
  F(mish, mishOf(x)) \
  F(elu, eluOf(x))
#define UNARY_OTHER(F) \
  F(tanh, tanhOf(x)) \
  F(exp, expOf(x)) \
  F(log, logOf(x)) \
  F(square, x * x) \
  F(sqrt, squareRoot(x)) \
  F(softplus, softplusOf(x)) \
  F(sigmoid, sigmoidOf(x)) \
  F(signed_sqrt, withSign(squareRoot(absolute(x)), x))

// Functions of a and b: of two operands, or of a gradient and what its function read
// or made.
#define BINARY_WIDE(F) \
  F(add, a + b) \
  F(sub, a - b) \
  F(mul, a * b) \
  F(relu_grad, b > 0.0f ? a : 0.0f) \
  F(silu_grad, a * siluSlope(b)) \
  F(mish_grad, a * mishSlope(b)) \
  F(elu_grad, eluGrad(a, b))
#define BINARY_OTHER(F) \
  F(div, a / b) \
  F(minimum, least(a, b)) \
  F(maximum, greatest(a, b)) \
  F(tanh_grad, a * fma(-b, b, 1.0f)) \
  F(sigmoid_grad, a * fma(-b, b, b)) \
  F(softplus_grad, softplusGrad(a, b))

DEVICE float clampOf(float x, float low, float high) { return atMost(atLeast(x, low), high); }
DEVICE float clampGrad(float dy, float x, float low, float high) { return x >= low && x <= high ? dy : 0.0f; }
// dy where a < b, and where a = b if equal is 1
DEVICE float keepOf(float dy, float a, float b, u32 equal) { return a < b || (equal && a == b) ? dy : 0.0f; }
DEVICE float targetOf(float r, float d, float q, float logp, float gamma, float alpha) {
  return r + gamma * (1.0f - d) * (q - alpha * logp);
}
// (x − mean)·γ/√(var+ε) + β
DEVICE float batchNorm(float x, float gamma, float beta, float mean, float variance) {
  return (x - mean) * (gamma / squareRoot(variance + 1e-5f)) + beta;
}

// slopes of losses in p
DEVICE float squaredSlope(float p, float t) { return 2.0f * (p - t); }
DEVICE float bceSlope(float z, float t) { return sigmoidOf(z) - t; }

// Column j of [t | sin 2πtw | cos 2πtw]. t·w is exact in float64, and so is what is
// left of it beyond whole quarters of a turn.
DEVICE float fourierOf(float t, const float *w, u32 frequencies, u32 j) {
  if (j == 0) return t;
  bool cosine = j > frequencies;
  double turns = (double)t * (double)w[j - 1 - (cosine ? frequencies : 0)], sin, cos;
  double quarters = __builtin_rint(turns * 4.0);
  double whole = __builtin_floor(quarters * 0.25) * 4.0; // of four quarters each
  sincosAt((turns * 4.0 - quarters) * 1.57079632679489661923, (u32)(quarters - whole), &sin, &cos);
  return (float)(cosine ? cos : sin);
}

// Column j of EDM's training example (core/op EDMNoised): [c_in(x+σn) | target | ln σ/4]
// with σ = exp(pMean + pStd·z) and the data's spread of each of d coordinates; x and n
// are rows. The target (x − c_skip(x+σn))/c_out is without the cancellation at small σ,
// since x − c_skip·x = x·σ²/(σ²+σ_d²).
DEVICE float noisedOf(const float *x, const float *n, float z, const float *spread, double pMean, double pStd, u32 d, u32 j) {
  double logSigma = pMean + pStd * (double)z;
  if (j == 2 * d) return (float)(logSigma * 0.25);
  bool target = j >= d;
  if (target) j -= d;
  float sigma = expOf((float)logSigma), of = spread[j], root = squareRoot(fma(sigma, sigma, of * of));
  return target ? x[j] * (sigma / (of * root)) - n[j] * (of / root) : (x[j] + sigma * n[j]) / root;
}

// The row that an index names, −1 where it names none of rows.
DEVICE i64 named(float index, u32 rows) { return index >= 0.0f && index < (float)rows ? (i64)index : -1; }

// Element i of the least of q's members. A member has n elements.
DEVICE float minMembers(const float *q, u32 members, u32 n, u32 i) {
  float result = q[i];
  for (u32 e = 1; e < members; e++) result = least(result, q[(u64)e * n + i]);
  return result;
}

// The member that the gradient of the minimum goes to: the first that is equal to it;
// members where none is.
DEVICE u32 firstMinimum(const float *q, float minimum, u32 members, u32 n, u32 i) {
  u32 e = 0;
  while (e < members && q[(u64)e * n + i] != minimum) e++;
  return e;
}

// Σ over members of element i, divided
DEVICE float memberSum(const float *x, u32 members, float divisor, u32 n, u32 i) {
  float sum = x[i];
  for (u32 e = 1; e < members; e++) sum += x[(u64)e * n + i];
  return sum / divisor;
}
