// Sums that kernels of one instruction (head.cu, loss.cu) and the launch of several (sums.cu) share, so that they give the same bits.
#pragma once
#include "elements.h"
#include "reduce.h"

// A block takes 32 columns of x [rows, cols], from 32·tile on, and rows begin to end, a warp every 32nd of these, each times its
// weight where there are weights; then the warps' sums are added in order.
DEVICE void sumColumns(float *sum, const float *x, const float *weight, int cols, int tile, int begin, int end) {
  __shared__ float part[32][32];
  int lane = threadX() % 32, group = threadX() / 32, col = tile * 32 + lane;
  float s = 0;
  if (col < cols) {
    x += col;
    if (weight) {
      UNROLL_BY(8) for (int r = begin + group; r < end; r += 32) s = fma(weight[r], x[(i64)r * cols], s);
    } else {
      UNROLL_BY(8) for (int r = begin + group; r < end; r += 32) s += x[(i64)r * cols];
    }
  }
  part[group][lane] = s;
  syncThreads();
  if (group != 0 || col >= cols) return;
  UNROLL for (int g = 1; g < 32; g++) s += part[g][lane];
  sum[col] = s;
}

// Σ term(i)/norm over elements block, block + blocks, …: the whole sum if there is one block.
template <typename F> DEVICE void totalOf(float *out, double *partial, double norm, u32 n, u32 block, u32 blocks, F term) {
  __shared__ double sums[32];
  double sum = 0.0;
  for (u32 i = block * blockDim() + threadX(); i < n; i += blocks * blockDim()) sum += term(i);
  sum = blockSum(sum, sums);
  if (threadX() != 0) return;
  if (blocks == 1) *out = (float)(sum / norm);
  else partial[block] = sum;
}

// What a loss reads: targets, which may serve all members, and weights of rows (or
// none), which may too.
struct Operands {
  const float *p, *t, *w;
  u32 cols, targets, weights;
  __device__ float target(u32 i) const { return t[i < targets ? i : i % targets]; }
  __device__ float weight(u32 i) const { return w ? w[i / cols % weights] : 1.0f; }
};

DEVICE double squaredError(const Operands &o, u32 i) {
  double d = (double)(o.p[i] - o.target(i));
  return (double)o.weight(i) * (d * d);
}
// α·log π − q
DEVICE double entropyLoss(const float *logp, const float *q, double alpha, u32 i) { return alpha * (double)logp[i] - (double)q[i]; }
