// targets: sm_70
// What each row makes of its columns; a warp has a row.
#include "rows.h"

#define EACH_ROW for (u32 row = firstRow(); row < rows; row += rowStride())

KERNEL void sum_columns(float *out, const float *x, double factor, u32 cols, u32 rows) {
  EACH_ROW {
    float sum = sumOfRow(x + row * cols, cols, factor);
    if (lane() == 0) out[row] = sum;
  }
}

KERNEL void row_mean_square(float *out, const float *a, const float *b, u32 cols, u32 rows) {
  EACH_ROW {
    float mean = meanSquareOfRow(a + row * cols, b + row * cols, cols);
    if (lane() == 0) out[row] = mean;
  }
}

KERNEL void log_sum_exp(float *out, const float *x, u32 cols, u32 rows) {
  EACH_ROW {
    float log = logSumExpOfRow(x + row * cols, cols);
    if (lane() == 0) out[row] = log;
  }
}

// dy·e^(x−lse)
KERNEL void log_sum_exp_grad(float *dx, const float *x, const float *lse, const float *dy, u32 cols, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim())
    dx[i] = expOf(x[i] - lse[i / cols]) * dy[i / cols];
}

KERNEL void softmax(float *out, const float *x, u32 cols, u32 rows) {
  EACH_ROW softmaxRow(out + row * cols, x + row * cols, cols);
}

KERNEL void softmax_grad(float *dx, const float *y, const float *dy, u32 cols, u32 rows) {
  EACH_ROW softmaxGradRow(dx + row * cols, y + row * cols, dy + row * cols, cols);
}

// group is how many rows a member has
KERNEL void layer_norm(float *out, const float *x, const float *gamma, const float *beta, double eps, u32 cols, u32 group, u32 rows) {
  EACH_ROW layerNormRow(out + row * cols, x + row * cols, gamma + row / group * cols, beta + row / group * cols, eps, cols);
}

KERNEL void layer_norm_dx(float *dx, const float *x, const float *gamma, const float *dy, double eps, u32 cols, u32 group, u32 rows) {
  EACH_ROW layerNormDXRow(dx + row * cols, x + row * cols, gamma + row / group * cols, dy + row * cols, eps, cols);
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

// group is how many rows a member has
KERNEL void rms_norm(float *out, const float *x, const float *gamma, double eps, u32 cols, u32 group, u32 rows) {
  EACH_ROW rmsNormRow(out + row * cols, x + row * cols, gamma + row / group * cols, eps, cols);
}

KERNEL void rms_norm_dx(float *dx, const float *x, const float *gamma, const float *dy, double eps, u32 cols, u32 group, u32 rows) {
  EACH_ROW rmsNormDXRow(dx + row * cols, x + row * cols, gamma + row / group * cols, dy + row * cols, eps, cols);
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
