// targets: sm_70
// Sums over the rows of columns: statistics, batch norm, gradients of γ. Twins:
// core/device/cpu/norm.go, layernorm.go.
//
// A block has 32 columns of a member, one to each lane of its 32 warps, which take
// the rows in turn. Where there are many rows, blocks share them in parts; a last
// kernel then puts the parts together in order. Grid: columns/32 × members × parts.
#include "elements.h"
#include "reduce.h"

struct Place {
  u32 column, member, part, parts, from, to; // rows of the part
  bool inside;
};
DEVICE Place place(u32 rows, u32 cols) {
  Place p;
  p.column = blockX() * 32 + threadX() % 32;
  p.inside = p.column < cols;
  p.member = blockY();
  p.part = blockZ();
  p.parts = __nvvm_read_ptx_sreg_nctaid_z();
  p.from = (u32)((u64)rows * p.part / p.parts);
  p.to = (u32)((u64)rows * (p.part + 1) / p.parts);
  return p;
}

// The sum of a column's numbers over the block's 32 warps, in every one of them.
DEVICE double columnSum(double x, double (&sums)[32][32]) {
  u32 column = threadX() % 32, warp = threadX() / 32;
  syncThreads();
  sums[warp][column] = x;
  for (u32 half = 16; half; half /= 2) {
    syncThreads();
    if (warp < half) sums[warp][column] += sums[warp + half][column];
  }
  syncThreads();
  return sums[0][column];
}

// Mean and Σ(x−mean)² of some rows of a column.
struct Deviations { double rows, mean, square; };

// in two passes, since the variance of numbers far from zero needs the mean first
DEVICE Deviations deviations(const float *x, u32 rows, u32 cols, Place p, double (&sums)[32][32]) {
  const float *column = x + ((u64)p.member * rows + p.from) * cols + p.column;
  u32 n = p.to - p.from;
  double sum = 0.0, square = 0.0;
  for (u32 i = threadX() / 32; p.inside && i < n; i += 32) sum += (double)column[(u64)i * cols];
  double mean = n ? columnSum(sum, sums) / (double)n : 0.0;
  for (u32 i = threadX() / 32; p.inside && i < n; i += 32) {
    double d = (double)column[(u64)i * cols] - mean;
    square += d * d;
  }
  return Deviations{(double)n, mean, columnSum(square, sums)};
}

// both together (Chan, Golub and LeVeque 1979)
DEVICE Deviations together(Deviations a, Deviations b) {
  double n = a.rows + b.rows, apart = b.mean - a.mean;
  if (n == 0.0) return a;
  return Deviations{n, a.mean + apart * b.rows / n, a.square + b.square + apart * apart * a.rows * b.rows / n};
}

// where the parts' numbers of a member's column stand: per to each
DEVICE double *partOf(double *partial, u32 per, u32 part, u32 parts, u32 member, u32 column, u32 cols) {
  return partial + ((u64)(member * parts + part) * cols + column) * per;
}

// Statistics [3,C]: mean, variance, unbiased variance.
DEVICE void writeStats(float *out, Deviations d, u32 column, u32 member, u32 cols) {
  float *to = out + (u64)member * 3 * cols + column;
  to[0] = (float)d.mean;
  to[cols] = (float)(d.square / d.rows);
  to[2 * cols] = (float)(d.square / (d.rows - 1.0));
}

KERNEL __launch_bounds__(1024) void column_stats(float *out, double *partial, const float *x, u32 rows, u32 cols) {
  __shared__ double sums[32][32];
  Place p = place(rows, cols);
  Deviations d = deviations(x, rows, cols, p, sums);
  if (threadX() >= 32 || !p.inside) return;
  if (p.parts > 1) {
    double *to = partOf(partial, 2, p.part, p.parts, p.member, p.column, cols);
    to[0] = d.mean;
    to[1] = d.square;
  } else {
    writeStats(out, d, p.column, p.member, cols);
  }
}

// a thread for each of members·cols columns
KERNEL void column_stats_end(float *out, double *partial, u32 rows, u32 cols, u32 parts, u32 n) {
  u32 i = blockX() * blockDim() + threadX();
  if (i >= n) return;
  u32 member = i / cols, column = i % cols;
  Deviations d = {0.0, 0.0, 0.0};
  for (u32 part = 0; part < parts; part++) {
    double *from = partOf(partial, 2, part, parts, member, column, cols);
    double of = (double)((u64)rows * (part + 1) / parts - (u64)rows * part / parts);
    d = together(d, Deviations{of, from[0], from[1]});
  }
  writeStats(out, d, column, member, cols);
}

// γ(x−mean)/√(var+ε) + β by the row variance of the statistics; member is rows·cols
KERNEL void batch_norm(float *out, const float *x, const float *gamma, const float *beta, const float *stats, u32 variance, u32 cols, u32 member, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 e = i / member, j = i % cols;
    const float *of = stats + (u64)e * 3 * cols + j;
    out[i] = batchNorm(x[i], gamma[e * cols + j], beta[e * cols + j], of[0], of[variance * cols]);
  }
}

// What the gradient of batch norm needs of each column, [members][cols][3]:
// γ/√(v+ε), mean(dy), mean(dy·x̂)/√(v+ε).
DEVICE void writeTerms(double *terms, const float *gamma, const float *stats, double sum, double along, u32 rows, u32 column, u32 member, u32 cols) {
  double inverse = 1.0 / __builtin_sqrt((double)stats[(u64)member * 3 * cols + cols + column] + 1e-5);
  double *to = terms + (u64)(member * cols + column) * 3;
  to[0] = (double)gamma[member * cols + column] * inverse;
  to[1] = sum / (double)rows;
  to[2] = along * inverse * inverse / (double)rows;
}

KERNEL __launch_bounds__(1024) void batch_norm_terms(double *terms, double *partial, const float *x, const float *gamma, const float *stats, const float *dy, u32 rows, u32 cols) {
  __shared__ double sums[32][32];
  Place p = place(rows, cols);
  u64 at = ((u64)p.member * rows + p.from) * cols + p.column;
  double mean = p.inside ? (double)stats[(u64)p.member * 3 * cols + p.column] : 0.0, sum = 0.0, along = 0.0;
  for (u32 i = threadX() / 32; p.inside && i < p.to - p.from; i += 32) {
    double slope = (double)dy[at + (u64)i * cols];
    sum += slope;
    along += slope * ((double)x[at + (u64)i * cols] - mean);
  }
  sum = columnSum(sum, sums);
  along = columnSum(along, sums);
  if (threadX() >= 32 || !p.inside) return;
  if (p.parts == 1) {
    writeTerms(terms, gamma, stats, sum, along, rows, p.column, p.member, cols);
    return;
  }
  double *to = partOf(partial, 2, p.part, p.parts, p.member, p.column, cols);
  to[0] = sum;
  to[1] = along;
}

KERNEL void batch_norm_terms_end(double *terms, double *partial, const float *gamma, const float *stats, u32 rows, u32 cols, u32 parts, u32 n) {
  u32 i = blockX() * blockDim() + threadX();
  if (i >= n) return;
  double sum = 0.0, along = 0.0;
  for (u32 part = 0; part < parts; part++) {
    double *from = partOf(partial, 2, part, parts, i / cols, i % cols, cols);
    sum += from[0];
    along += from[1];
  }
  writeTerms(terms, gamma, stats, sum, along, rows, i % cols, i / cols, cols);
}

// In float64: the sum over rows of the result is zero but for rounding, and the bias
// of a layer below receives that sum.
KERNEL void batch_norm_dx(float *dx, const float *x, const float *stats, const float *dy, const double *terms, u32 cols, u32 member, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 e = i / member, j = i % cols;
    const double *of = terms + (u64)(e * cols + j) * 3;
    double centred = (double)x[i] - (double)stats[(u64)e * 3 * cols + j];
    dx[i] = (float)(of[0] * ((double)dy[i] - of[1] - centred * of[2]));
  }
}

// Σ dy·x̂ over rows, x̂ by the statistics of the batch
KERNEL __launch_bounds__(1024) void batch_norm_dgamma(float *out, double *partial, const float *x, const float *stats, const float *dy, u32 rows, u32 cols) {
  __shared__ double sums[32][32];
  Place p = place(rows, cols);
  u64 at = ((u64)p.member * rows + p.from) * cols + p.column, of = (u64)p.member * 3 * cols + p.column;
  double mean = p.inside ? (double)stats[of] : 0.0, sum = 0.0;
  for (u32 i = threadX() / 32; p.inside && i < p.to - p.from; i += 32)
    sum += (double)dy[at + (u64)i * cols] * ((double)x[at + (u64)i * cols] - mean);
  sum = columnSum(sum, sums);
  if (threadX() >= 32 || !p.inside) return;
  sum /= __builtin_sqrt((double)stats[of + cols] + 1e-5);
  if (p.parts == 1) out[p.member * cols + p.column] = (float)sum;
  else *partOf(partial, 1, p.part, p.parts, p.member, p.column, cols) = sum;
}

// Likewise, x̂ by the moments of each row: mean and 1/√(var+ε)
KERNEL __launch_bounds__(1024) void layer_norm_dgamma(float *out, double *partial, const float *x, const float *dy, const double *moments, u32 rows, u32 cols) {
  __shared__ double sums[32][32];
  Place p = place(rows, cols);
  u64 row = (u64)p.member * rows + p.from, at = row * cols + p.column;
  double sum = 0.0;
  for (u32 i = threadX() / 32; p.inside && i < p.to - p.from; i += 32)
    sum += (double)dy[at + (u64)i * cols] * ((double)x[at + (u64)i * cols] - moments[2 * (row + i)]) * moments[2 * (row + i) + 1];
  sum = columnSum(sum, sums);
  if (threadX() >= 32 || !p.inside) return;
  if (p.parts == 1) out[p.member * cols + p.column] = (float)sum;
  else *partOf(partial, 1, p.part, p.parts, p.member, p.column, cols) = sum;
}

KERNEL void column_sum_end(float *out, double *partial, u32 cols, u32 parts, u32 n) {
  u32 i = blockX() * blockDim() + threadX();
  if (i >= n) return;
  double sum = 0.0;
  for (u32 part = 0; part < parts; part++) sum += *partOf(partial, 1, part, parts, i / cols, i % cols, cols);
  out[i] = (float)sum;
}
