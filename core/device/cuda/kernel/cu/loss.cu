// targets: sm_70
// Losses: sums over all elements in float64, and their gradients. Twins:
// core/device/cpu/loss.go, rowloss.go.
//
// A sum is one block's where it is small, else one of each block (partial), which
// sum_end adds in order.
#include "sums.h"

// SUMS are launched with blocks of 1024 threads, for which the bound leaves 64 registers
// each: without it the driver's compiler may take more, and the launch fails.
#define SUMS KERNEL __launch_bounds__(1024)

// Σ term(i)/norm
template <typename F> DEVICE void total(float *out, double *partial, double norm, u32 n, F term) {
  totalOf(out, partial, norm, n, blockX(), gridX(), term);
}

KERNEL __launch_bounds__(256) void sum_end(float *out, const double *partial, u32 count, double norm) {
  __shared__ double sums[32];
  double sum = 0.0;
  for (u32 i = threadX(); i < count; i += blockDim()) sum += partial[i];
  sum = blockSum(sum, sums);
  if (threadX() == 0) *out = (float)(sum / norm);
}

SUMS void sum(float *out, double *partial, const float *x, double norm, u32 n) {
  total(out, partial, norm, n, [=](u32 i) { return (double)x[i]; });
}

template <typename F> DEVICE void lossSum(float *out, double *partial, Operands o, double norm, u32 n, F value) {
  total(out, partial, norm, n, [=](u32 i) { return (double)o.weight(i) * value(o.p[i], o.target(i)); });
}

// norm is that of the loss; dloss is on the device
template <typename F> DEVICE void lossSlope(float *dp, Operands o, const float *dloss, double norm, u32 n, F slope) {
  float scale = (float)((double)*dloss / norm);
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim())
    dp[i] = scale * o.weight(i) * slope(o.p[i], o.target(i));
}

#define OPERANDS const float *p, const float *t, const float *w, u32 cols, u32 targets, u32 weights
#define GIVEN Operands{p, t, w, cols, targets, weights}

SUMS void squared_error(float *out, double *partial, OPERANDS, double norm, u32 n) {
  Operands o = GIVEN;
  total(out, partial, norm, n, [=](u32 i) { return squaredError(o, i); });
}
KERNEL void squared_error_grad(float *dp, OPERANDS, const float *dloss, double norm, u32 n) {
  lossSlope(dp, GIVEN, dloss, norm, n, squaredSlope);
}

SUMS void bce(float *out, double *partial, OPERANDS, double norm, u32 n) {
  lossSum(out, partial, GIVEN, norm, n, [](float z, float t) { return (double)softplusOf(z) - (double)t * (double)z; });
}
KERNEL void bce_grad(float *dp, OPERANDS, const float *dloss, double norm, u32 n) {
  lossSlope(dp, GIVEN, dloss, norm, n, bceSlope);
}

// Σ α·log π − q
SUMS void entropy_loss(float *out, double *partial, const float *logp, const float *q, const float *alpha, double norm, u32 n) {
  double a = (double)*alpha;
  total(out, partial, norm, n, [=](u32 i) { return entropyLoss(logp, q, a, i); });
}

// ½Σ(μ² + σ² − ln σ² − 1) of rows [μ | ln σ²]
SUMS void gaussian_kl(float *out, double *partial, const float *h, u32 width, double norm, u32 n) {
  total(out, partial, norm, n, [=](u32 i) {
    double x = (double)h[i];
    return 0.5 * (i % width < width / 2 ? x * x : (double)expm1Of(h[i]) - x);
  });
}
KERNEL void gaussian_kl_grad(float *dh, const float *h, const float *dloss, u32 width, double norm, u32 n) {
  float scale = (float)((double)*dloss / norm);
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim())
    dh[i] = scale * (i % width < width / 2 ? h[i] : expm1Of(h[i]) * 0.5f);
}

KERNEL void add_scalars(float *out, const float *a, const float *b) {
  if (threadX() == 0) *out = *a + *b;
}

// Rows of logits z against rows of probabilities t: −t·ln softmax(z).

SUMS void cross_entropy(float *out, double *partial, OPERANDS, double norm, u32 rows) {
  __shared__ double sums[32];
  double sum = 0.0;
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    u32 at = row * cols;
    Exponentials e = exponentials(p + at, cols);
    double lse = (double)e.greatest + (double)logOf((float)e.sum), own = 0.0;
    if (e.greatest == infinity() || e.greatest == -infinity()) lse = (double)e.greatest;
    for (u32 j = lane(); j < cols; j += 32) {
      float q = t[(at + j) % targets];
      if (q != 0.0f) own += (double)q * (lse - (double)p[at + j]); // 0·ln 0 is 0
    }
    sum += (double)GIVEN.weight(at) * own;
  }
  sum = blockSum(sum, sums);
  if (threadX() != 0) return;
  if (gridX() == 1) *out = (float)(sum / norm);
  else partial[blockX()] = sum;
}

// w·(softmax(z)·Σt − t)/norm
KERNEL void cross_entropy_grad(float *dz, OPERANDS, const float *dloss, double norm, u32 rows) {
  float scale = (float)((double)*dloss / norm);
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    u32 at = row * cols;
    Exponentials e = exponentials(p + at, cols);
    double all = 0.0;
    for (u32 j = lane(); j < cols; j += 32) all += (double)t[(at + j) % targets];
    float share = (float)(warpSum(all) / e.sum), factor = scale * GIVEN.weight(at);
    for (u32 j = lane(); j < cols; j += 32) dz[at + j] = factor * (expOf(p[at + j] - e.greatest) * share - t[(at + j) % targets]);
  }
}
