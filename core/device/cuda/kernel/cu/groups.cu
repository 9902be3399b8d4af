// targets: sm_70
// Distributions over groups of columns, and over bins; a gated recurrent update. Twins:
// core/device/cpu/groups.go, bins.go, gated.go.
//
// Counts are below 2³¹, so that indices are divided in 32 bits.
#include "elements.h"
#include "reduce.h"

// (1−mix)·softmax + mix/classes of each group of columns; a thread has a group
KERNEL void group_softmax(float *out, const float *x, double mix, u32 classes, u32 groups) {
  float even = (float)(mix / (double)classes);
  for (u32 i = blockX() * blockDim() + threadX(); i < groups; i += gridX() * blockDim()) {
    const float *from = x + i * classes;
    float *to = out + i * classes, top = -infinity();
    for (u32 j = 0; j < classes; j++) top = greatest(top, from[j]);
    double sum = 0.0;
    for (u32 j = 0; j < classes; j++) sum += (double)expOf(from[j] - top);
    float share = (float)((1.0 - mix) / sum);
    for (u32 j = 0; j < classes; j++) to[j] = expOf(from[j] - top) * share + even;
  }
}

// q(dy − Σ q·dy/(1−mix)) with q = y − mix/classes
KERNEL void group_softmax_grad(float *dx, const float *y, const float *dy, double mix, u32 classes, u32 groups) {
  double even = mix / (double)classes;
  for (u32 i = blockX() * blockDim() + threadX(); i < groups; i += gridX() * blockDim()) {
    const float *p = y + i * classes, *slope = dy + i * classes;
    double along = 0.0;
    for (u32 j = 0; j < classes; j++) along += ((double)p[j] - even) * (double)slope[j];
    along /= 1.0 - mix;
    for (u32 j = 0; j < classes; j++) dx[i * classes + j] = (float)(((double)p[j] - even) * ((double)slope[j] - along));
  }
}

// a class of each group by the number u of the group (core/op GroupSample); the sums are in
// float32 from left to right on every device
KERNEL void group_sample(float *out, const float *p, const float *u, u32 classes, u32 groups) {
  for (u32 i = blockX() * blockDim() + threadX(); i < groups; i += gridX() * blockDim()) {
    const float *from = p + i * classes;
    float sum = 0.0f, at = u[i];
    u32 drawn = classes, last = classes - 1;
    for (u32 j = 0; j < classes; j++) {
      sum += from[j];
      if (from[j] > 0.0f) last = j;
      if (drawn == classes && at < sum) drawn = j;
    }
    if (drawn == classes) drawn = last;
    bool finite = (sum - sum) + (at - at) == 0.0f;
    for (u32 j = 0; j < classes; j++) out[i * classes + j] = !finite ? quietNaN() : j == drawn ? 1.0f : 0.0f;
  }
}

// each number over the two nearest of ascending bins (core/op TwoHotAt)
KERNEL void two_hot_at(float *out, const float *x, const float *bins, u32 count, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 j = i % count;
    float v = x[i / count], own = bins[j], result = 0.0f;
    if (v != v) { // NaN stays visible
      result = j == 0 ? v : 0.0f;
    } else if (own <= v) {
      double next = j + 1 < count ? (double)bins[j + 1] : 0.0;
      if (j + 1 == count) result = 1.0f;
      else if (v < bins[j + 1]) result = (float)((next - (double)v) / (next - (double)own));
    } else if (j == 0) {
      result = 1.0f;
    } else if (bins[j - 1] <= v) {
      double before = (double)bins[j - 1];
      result = (float)(((double)v - before) / ((double)own - before));
    }
    out[i] = result;
  }
}

// Σ softmax(z)·bins, bins of equal distance from the middle first added to each other; a warp
// has a row
KERNEL void bin_mean(float *out, const float *z, const float *bins, u32 count, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    const float *from = z + row * count;
    Exponentials e = exponentials(from, count);
    double sum = 0.0;
    for (u32 k = lane(); k < (count + 1) / 2; k += 32) {
      u32 low = (count - 1) / 2 - k, high = count / 2 + k;
      double pair = (double)expOf(from[high] - e.greatest) * (double)bins[high];
      if (low != high) pair += (double)expOf(from[low] - e.greatest) * (double)bins[low];
      sum += pair;
    }
    sum = warpSum(sum);
    if (lane() == 0) out[row] = (float)(sum / e.sum);
  }
}

// Element i of a state h: σ(r), tanh(σ(r)·c) and σ(u−1) of the row [r | c | u] of y.
struct Gates { float reset, candidate, update, c; u32 at; };
DEVICE Gates gatesOf(const float *y, u32 cols, u32 i) {
  u32 at = i / cols * 3 * cols + i % cols;
  float reset = sigmoidOf(y[at]), c = y[at + cols];
  return Gates{reset, tanhOf(reset * c), sigmoidOf(y[at + 2 * cols] - 1.0f), c, at};
}

// h + u(t − h)
KERNEL void gated_update(float *out, const float *y, const float *h, u32 cols, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    Gates g = gatesOf(y, cols, i);
    out[i] = h[i] + g.update * (g.candidate - h[i]);
  }
}

KERNEL void gated_update_grad(float *dy, const float *y, const float *h, const float *dout, u32 cols, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    Gates g = gatesOf(y, cols, i);
    float of = dout[i] * g.update * fma(-g.candidate, g.candidate, 1.0f);
    dy[g.at] = of * g.c * fma(-g.reset, g.reset, g.reset);
    dy[g.at + cols] = of * g.reset;
    dy[g.at + 2 * cols] = dout[i] * (g.candidate - h[i]) * fma(-g.update, g.update, g.update);
  }
}

KERNEL void gated_update_keep(float *dh, const float *y, const float *dout, u32 cols, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim())
    dh[i] = fma(-dout[i], gatesOf(y, cols, i).update, dout[i]);
}
