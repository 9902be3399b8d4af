// What a warp makes of a row: for kernels of one instruction (rows.cu) and for those of a whole chain (chain.cu), which so give
// the same bits. Twins: core/device/cpu/softmax.go, layernorm.go, rmsnorm.go, loss.go, broadcast.go.
#pragma once
#include "reduce.h"

// Σ x · factor
DEVICE float sumOfRow(const float *x, u32 cols, double factor) {
  double sum = 0.0;
  for (u32 j = lane(); j < cols; j += 32) sum += (double)x[j];
  return (float)(warpSum(sum) * factor);
}

// mean of (a−b)²
DEVICE float meanSquareOfRow(const float *a, const float *b, u32 cols) {
  double sum = 0.0;
  for (u32 j = lane(); j < cols; j += 32) {
    double d = (double)(a[j] - b[j]);
    sum += d * d;
  }
  return (float)(warpSum(sum) / (double)cols);
}

DEVICE float logSumExpOfRow(const float *x, u32 cols) {
  Exponentials e = exponentials(x, cols);
  bool beyond = e.greatest == infinity() || e.greatest == -infinity();
  return beyond ? e.greatest : e.greatest + logOf((float)e.sum);
}

DEVICE void softmaxRow(float *out, const float *x, u32 cols) {
  Exponentials e = exponentials(x, cols);
  float share = (float)(1.0 / e.sum);
  for (u32 j = lane(); j < cols; j += 32) out[j] = expOf(x[j] - e.greatest) * share;
}

// y(dy − Σ y·dy)
DEVICE void softmaxGradRow(float *dx, const float *y, const float *dy, u32 cols) {
  double along = 0.0;
  for (u32 j = lane(); j < cols; j += 32) along += (double)y[j] * (double)dy[j];
  along = warpSum(along);
  for (u32 j = lane(); j < cols; j += 32) dx[j] = (float)((double)y[j] * ((double)dy[j] - along));
}

// The mean of a row and 1/√(var+ε), in every lane.
struct Moments { double mean, inverse; };
DEVICE Moments momentsOf(const float *row, u32 cols, double eps) {
  double sum = 0.0, square = 0.0;
  for (u32 j = lane(); j < cols; j += 32) sum += (double)row[j];
  double mean = warpSum(sum) / (double)cols;
  for (u32 j = lane(); j < cols; j += 32) {
    double d = (double)row[j] - mean;
    square += d * d;
  }
  return Moments{mean, 1.0 / __builtin_sqrt(warpSum(square) / (double)cols + eps)};
}

DEVICE void layerNormRow(float *out, const float *x, const float *gamma, const float *beta, double eps, u32 cols) {
  Moments m = momentsOf(x, cols, eps);
  float mean = (float)m.mean, inverse = (float)m.inverse;
  for (u32 j = lane(); j < cols; j += 32) out[j] = (x[j] - mean) * inverse * gamma[j] + beta[j];
}

// (g − mean(g) − x̂·mean(g·x̂))/√(var+ε) with g = γ·dy
DEVICE void layerNormDXRow(float *dx, const float *x, const float *gamma, const float *dy, double eps, u32 cols) {
  Moments m = momentsOf(x, cols, eps);
  double sum = 0.0, along = 0.0, n = (double)cols;
  for (u32 j = lane(); j < cols; j += 32) {
    double g = (double)(dy[j] * gamma[j]);
    sum += g;
    along += g * ((double)x[j] - m.mean);
  }
  sum = warpSum(sum) / n;
  along = warpSum(along) * m.inverse * m.inverse / n;
  for (u32 j = lane(); j < cols; j += 32) {
    double g = (double)(dy[j] * gamma[j]);
    dx[j] = (float)((g - sum - ((double)x[j] - m.mean) * along) * m.inverse);
  }
}

// 1/√(mean(x²)+ε) of a row, in every lane
DEVICE double inverseRMS(const float *row, u32 cols, double eps) {
  double square = 0.0;
  for (u32 j = lane(); j < cols; j += 32) square += (double)row[j] * (double)row[j];
  return 1.0 / __builtin_sqrt(warpSum(square) / (double)cols + eps);
}

DEVICE void rmsNormRow(float *out, const float *x, const float *gamma, double eps, u32 cols) {
  float inverse = (float)inverseRMS(x, cols, eps);
  for (u32 j = lane(); j < cols; j += 32) out[j] = x[j] * inverse * gamma[j];
}

// s(g − x·s²·mean(g·x)) with g = γ·dy and s = 1/√(mean(x²)+ε)
DEVICE void rmsNormDXRow(float *dx, const float *x, const float *gamma, const float *dy, double eps, u32 cols) {
  double inverse = inverseRMS(x, cols, eps), along = 0.0;
  for (u32 j = lane(); j < cols; j += 32) along += (double)(dy[j] * gamma[j]) * (double)x[j];
  along = warpSum(along) * inverse * inverse / (double)cols;
  for (u32 j = lane(); j < cols; j += 32) dx[j] = (float)(((double)(dy[j] * gamma[j]) - (double)x[j] * along) * inverse);
}

// x·w of k numbers, in every lane: lane l adds the elements (wide: the vectors) l, l+32, …, then the lanes' sums meet pairwise.
DEVICE float dotOfRow(const float *x, const float *w, int k, bool wide) {
  int lane = threadX() % 32;
  float sum = 0;
  if (wide) {
    float4 sums = {0, 0, 0, 0};
    for (int i = lane * 4; i < k; i += 128) {
      float4 a = *(const float4 *)(x + i), c = *(const float4 *)(w + i);
      UNROLL for (int j = 0; j < 4; j++) sums[j] = fma(a[j], c[j], sums[j]);
    }
    sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  } else {
    for (int i = lane; i < k; i += 32) sum = fma(x[i], w[i], sum);
  }
  UNROLL for (int d = 16; d > 0; d /= 2) sum += shuffleXor(sum, d);
  return sum;
}
