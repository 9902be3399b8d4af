// targets: sm_70
// What each row makes of its columns; a warp has a row. Twins:
// core/device/cpu/softmax.go, layernorm.go, rmsnorm.go, loss.go, broadcast.go.
#include "reduce.h"

// Σ x · factor
KERNEL void sum_columns(float *out, const float *x, double factor, u32 cols, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    double sum = 0.0;
    for (u32 j = lane(); j < cols; j += 32) sum += (double)x[row * cols + j];
    sum = warpSum(sum);
    if (lane() == 0) out[row] = (float)(sum * factor);
  }
}

// mean of (a−b)²
KERNEL void row_mean_square(float *out, const float *a, const float *b, u32 cols, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    double sum = 0.0;
    for (u32 j = lane(); j < cols; j += 32) {
      double d = (double)(a[row * cols + j] - b[row * cols + j]);
      sum += d * d;
    }
    sum = warpSum(sum);
    if (lane() == 0) out[row] = (float)(sum / (double)cols);
  }
}

KERNEL void log_sum_exp(float *out, const float *x, u32 cols, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    Exponentials e = exponentials(x + row * cols, cols);
    bool beyond = e.greatest == infinity() || e.greatest == -infinity();
    if (lane() == 0) out[row] = beyond ? e.greatest : e.greatest + logOf((float)e.sum);
  }
}

// dy·e^(x−lse)
KERNEL void log_sum_exp_grad(float *dx, const float *x, const float *lse, const float *dy, u32 cols, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim())
    dx[i] = expOf(x[i] - lse[i / cols]) * dy[i / cols];
}

KERNEL void softmax(float *out, const float *x, u32 cols, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    Exponentials e = exponentials(x + row * cols, cols);
    float share = (float)(1.0 / e.sum);
    for (u32 j = lane(); j < cols; j += 32) out[row * cols + j] = expOf(x[row * cols + j] - e.greatest) * share;
  }
}

// y(dy − Σ y·dy)
KERNEL void softmax_grad(float *dx, const float *y, const float *dy, u32 cols, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    double along = 0.0;
    for (u32 j = lane(); j < cols; j += 32) along += (double)y[row * cols + j] * (double)dy[row * cols + j];
    along = warpSum(along);
    for (u32 j = lane(); j < cols; j += 32) dx[row * cols + j] = (float)((double)y[row * cols + j] * ((double)dy[row * cols + j] - along));
  }
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

// group is how many rows a member has
KERNEL void layer_norm(float *out, const float *x, const float *gamma, const float *beta, double eps, u32 cols, u32 group, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    const float *from = x + row * cols;
    Moments m = momentsOf(from, cols, eps);
    float mean = (float)m.mean, inverse = (float)m.inverse;
    u32 of = row / group * cols;
    for (u32 j = lane(); j < cols; j += 32) out[row * cols + j] = (from[j] - mean) * inverse * gamma[of + j] + beta[of + j];
  }
}

// (g − mean(g) − x̂·mean(g·x̂))/√(var+ε) with g = γ·dy
KERNEL void layer_norm_dx(float *dx, const float *x, const float *gamma, const float *dy, double eps, u32 cols, u32 group, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    const float *from = x + row * cols, *slope = dy + row * cols, *scale = gamma + row / group * cols;
    Moments m = momentsOf(from, cols, eps);
    double sum = 0.0, along = 0.0, n = (double)cols;
    for (u32 j = lane(); j < cols; j += 32) {
      double g = (double)(slope[j] * scale[j]);
      sum += g;
      along += g * ((double)from[j] - m.mean);
    }
    sum = warpSum(sum) / n;
    along = warpSum(along) * m.inverse * m.inverse / n;
    for (u32 j = lane(); j < cols; j += 32) {
      double g = (double)(slope[j] * scale[j]);
      dx[row * cols + j] = (float)((g - sum - ((double)from[j] - m.mean) * along) * m.inverse);
    }
  }
}

// mean and 1/√(var+ε) of each row, side by side
KERNEL void layer_moments(double *out, const float *x, double eps, u32 cols, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    Moments m = momentsOf(x + row * cols, cols, eps);
    if (lane() == 0) {
      out[2 * row] = m.mean;
      out[2 * row + 1] = m.inverse;
    }
  }
}

// 1/√(mean(x²)+ε) of a row, in every lane
DEVICE double inverseRMS(const float *row, u32 cols, double eps) {
  double square = 0.0;
  for (u32 j = lane(); j < cols; j += 32) square += (double)row[j] * (double)row[j];
  return 1.0 / __builtin_sqrt(warpSum(square) / (double)cols + eps);
}

// group is how many rows a member has
KERNEL void rms_norm(float *out, const float *x, const float *gamma, double eps, u32 cols, u32 group, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    const float *from = x + row * cols, *scale = gamma + row / group * cols;
    float inverse = (float)inverseRMS(from, cols, eps);
    for (u32 j = lane(); j < cols; j += 32) out[row * cols + j] = from[j] * inverse * scale[j];
  }
}

// s(g − x·s²·mean(g·x)) with g = γ·dy and s = 1/√(mean(x²)+ε)
KERNEL void rms_norm_dx(float *dx, const float *x, const float *gamma, const float *dy, double eps, u32 cols, u32 group, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    const float *from = x + row * cols, *slope = dy + row * cols, *scale = gamma + row / group * cols;
    double inverse = inverseRMS(from, cols, eps), along = 0.0;
    for (u32 j = lane(); j < cols; j += 32) along += (double)(slope[j] * scale[j]) * (double)from[j];
    along = warpSum(along) * inverse * inverse / (double)cols;
    for (u32 j = lane(); j < cols; j += 32)
      dx[row * cols + j] = (float)(((double)(slope[j] * scale[j]) - (double)from[j] * along) * inverse);
  }
}

// 0 and 1/√(mean(x²)+ε) of each row, in the places of layer_moments
KERNEL void rms_moments(double *out, const float *x, double eps, u32 cols, u32 rows) {
  for (u32 row = firstRow(); row < rows; row += rowStride()) {
    double inverse = inverseRMS(x + row * cols, cols, eps);
    if (lane() == 0) {
      out[2 * row] = 0.0;
      out[2 * row + 1] = inverse;
    }
  }
}
