// targets: sm_70
// A chain of instructions in one launch, where each row of every result needs no other
// row of what the chain writes: a block takes some rows through all of them.
//
// A step is a line of a table of 64-bit words. Elements are computed as by the kernels
// of single instructions, from the same functions, to the same bits.
#include "elements.h"
#include "policy.h"
#include "random.h"
#include "rows.h"

#define NAME(name, function) step_##name,
// chain.go has these in the same order.
enum Step {
  UNARY_WIDE(NAME) UNARY_OTHER(NAME) BINARY_WIDE(NAME) BINARY_OTHER(NAME)
  step_scale, step_shift, step_clamp, step_clamp_grad, step_keep, step_td_target,
  step_col_scale, step_col_add, step_repeat, step_spread, step_constant, step_sum_members, step_min_members,
  step_min_members_grad, step_concat, step_slice, step_pad, step_squared_error_grad, step_bce_grad,
  step_batch_norm, step_gather, step_fourier, step_edm_noised, step_fill_normal, step_fill_uniform,
  step_outer_product, step_log_sum_exp_grad, step_tanh_gaussian_grad,
  step_tanh_gaussian, step_row_dot, step_sum_columns, step_row_mean_square, step_log_sum_exp, step_softmax, step_softmax_grad,
  step_layer_norm, step_layer_norm_dx, step_rms_norm, step_rms_norm_dx,
  step_warps = step_tanh_gaussian, // from here on warps have rows
};

// A line of the table: code, members and columns of the result, its address, how many
// operands; numbers a and b; two floats; then of each operand its address, and its
// columns with bit 32 where it has members of its own.
enum Word { w_code, w_members, w_cols, w_out, w_count, w_a, w_b, w_f, w_g, w_operands, w_width = w_operands + 2 * 6 };
const u32 most = 16; // steps in a launch

struct Line {
  const u64 *w;
  u32 rows; // of a member
  __device__ u32 number(u32 k) const { return (u32)w[k]; }
  __device__ double real(u32 k) const { return bitsToDouble(w[k]); }
  // an operand as it stands: numbers that serve all rows, or absent
  __device__ float *whole(u32 k) const { return (float *)w[w_operands + 2 * k]; }
  __device__ u32 cols(u32 k) const { return (u32)w[w_operands + 2 * k + 1]; }
  // where row r of member e of an operand begins
  __device__ const float *row(u32 k, u32 e, u32 r) const {
    u32 own = (u32)(w[w_operands + 2 * k + 1] >> 32);
    return whole(k) + (u64)((own ? e * rows : 0) + r) * cols(k);
  }
  // an element of an operand, whose single column serves all
  __device__ float at(u32 k, u32 e, u32 r, u32 j) const { return row(k, e, r)[cols(k) == 1 ? 0 : j]; }
};

DEVICE float item(Line l, u32 e, u32 r, u32 j, bool normal) {
  const u64 *live = (const u64 *)l.whole(1);
  u64 place = (live ? live[0] : 0) + (u64)(e * l.rows + r) * l.number(w_cols) + j;
  float four[4];
  u64 occasion = *(const u64 *)l.whole(0);
  if (normal) normalItems(occasion, place / 4, l.number(w_a), l.number(w_b), four);
  else uniformItems(occasion, place / 4, l.number(w_a), l.number(w_b), four);
  u32 k = (u32)(place % 4);
  return k == 0 ? four[0] : k == 1 ? four[1] : k == 2 ? four[2] : four[3];
}

DEVICE float joined(Line l, u32 e, u32 r, u32 j) {
  u32 k = 0;
  for (; k + 1 < l.number(w_count) && j >= l.cols(k); k++) j -= l.cols(k);
  return l.row(k, e, r)[j];
}

DEVICE float picked(Line l, u32 e, u32 r, u32 j) {
  u32 rows = l.number(w_a);
  i64 row = named(*l.row(1, e, r), rows);
  if (row >= 0 && l.number(w_b) > 1) row += (i64)e * rows;
  return row < 0 ? quietNaN() : l.whole(0)[(u64)row * l.number(w_cols) + j];
}

#define UNARY_CASE(name, function) \
  case step_##name: { \
    float x = l.at(0, e, r, j); \
    return function; \
  }
#define BINARY_CASE(name, function) \
  case step_##name: { \
    float a = l.at(0, e, r, j), b = l.at(1, e, r, j); \
    return function; \
  }

// The losses' slopes have dloss/norm as first factor; operand 2 is a weight of rows.
DEVICE float slopeScale(Line l, u32 e, u32 r) {
  float scale = (float)((double)*l.whole(3) / l.real(w_a));
  return scale * (l.whole(2) ? *l.row(2, e, r) : 1.0f);
}

// Element j of row r of member e of the step's result.
DEVICE float element(Line l, u32 e, u32 r, u32 j) {
  u32 members = l.number(w_members), cols = l.number(w_cols);
  float f = floatOf(l.number(w_f)), g = floatOf(l.number(w_g));
  switch (l.number(w_code)) {
    UNARY_WIDE(UNARY_CASE)
    UNARY_OTHER(UNARY_CASE)
    BINARY_WIDE(BINARY_CASE)
    BINARY_OTHER(BINARY_CASE)
  case step_scale: return l.at(0, e, r, j) * f;
  case step_shift: return l.at(0, e, r, j) + f;
  case step_clamp: return clampOf(l.at(0, e, r, j), f, g);
  case step_clamp_grad: return clampGrad(l.at(0, e, r, j), l.at(1, e, r, j), f, g);
  case step_keep: return keepOf(l.at(0, e, r, j), l.at(1, e, r, j), l.at(2, e, r, j), l.number(w_a));
  case step_td_target:
    return targetOf(l.at(0, e, r, j), l.at(1, e, r, j), l.at(2, e, r, j), l.at(3, e, r, j), *l.whole(4), *l.whole(5));
  case step_col_scale: return l.at(0, e, r, j) * l.whole(1)[e * cols + j];
  case step_col_add: return l.at(0, e, r, j) + l.whole(1)[e * cols + j];
  case step_repeat: return l.at(0, e, r, j) / f;
  case step_spread: return f * l.at(0, e, r, j);
  case step_constant: return (float)((double)(l.whole(1) ? *l.whole(0) * *l.whole(1) : *l.whole(0)) / l.real(w_a));
  case step_sum_members: return memberSum(l.whole(0), l.number(w_a), f, l.rows * cols, r * cols + j);
  case step_min_members: return minMembers(l.whole(0), l.number(w_a), l.rows * cols, r * cols + j);
  case step_min_members_grad:
    return firstMinimum(l.whole(0), l.at(1, 0, r, j), members, l.rows * cols, r * cols + j) == e ? l.at(2, 0, r, j) : 0.0f;
  case step_concat: return joined(l, e, r, j);
  case step_slice: return l.row(0, e, r)[l.number(w_a) + j];
  case step_pad: return j - l.number(w_a) < l.cols(0) ? l.row(0, e, r)[j - l.number(w_a)] : 0.0f;
  case step_squared_error_grad: return slopeScale(l, e, r) * squaredSlope(l.row(0, e, r)[j], l.row(1, e, r)[j]);
  case step_bce_grad: return slopeScale(l, e, r) * bceSlope(l.row(0, e, r)[j], l.row(1, e, r)[j]);
  case step_batch_norm: {
    const float *of = l.whole(3) + (u64)e * 3 * cols + j;
    return batchNorm(l.at(0, e, r, j), l.whole(1)[e * cols + j], l.whole(2)[e * cols + j], of[0], of[l.number(w_a) * cols]);
  }
  case step_gather: return picked(l, e, r, j);
  case step_fourier: return fourierOf(*l.row(0, e, r), l.whole(1), l.number(w_a), j);
  case step_edm_noised:
    return noisedOf(l.row(0, e, r), l.row(1, e, r), *l.row(2, e, r), l.whole(3), l.real(w_a), l.real(w_b), l.cols(0), j);
  case step_outer_product: {
    float dx = fma(*l.row(0, e, r), l.whole(1)[(u64)e * cols + j], 0.0f);
    return l.whole(2) && !(l.row(2, e, r)[j] > 0) ? 0.0f : dx;
  }
  case step_log_sum_exp_grad: return expOf(l.at(0, e, r, j) - *l.row(1, e, r)) * *l.row(2, e, r);
  case step_fill_normal: return item(l, e, r, j, true);
  case step_fill_uniform: return item(l, e, r, j, false);
  }
  return quietNaN();
}

// What a warp makes of row r of member e: the whole row of the result, or the number that is its only one.
DEVICE void rowStep(Line l, float *out, u32 e, u32 r) {
  u32 cols = l.number(w_cols);
  const float *x = l.row(0, e, r);
  const float *member = l.whole(1) + (u64)e * cols; // of what all rows of a member share
  float sum;
  switch (l.number(w_code)) {
  case step_tanh_gaussian: return sampleRow(out, x, l.row(1, e, r), cols - 1);
  case step_softmax: return softmaxRow(out, x, cols);
  case step_softmax_grad: return softmaxGradRow(out, x, l.row(1, e, r), cols);
  case step_layer_norm: return layerNormRow(out, x, member, l.whole(2) + (u64)e * cols, l.real(w_a), cols);
  case step_layer_norm_dx: return layerNormDXRow(out, x, member, l.row(2, e, r), l.real(w_a), cols);
  case step_rms_norm: return rmsNormRow(out, x, member, l.real(w_a), cols);
  case step_rms_norm_dx: return rmsNormDXRow(out, x, member, l.row(2, e, r), l.real(w_a), cols);
  case step_row_dot: sum = dotOfRow(x, l.whole(1) + (u64)e * l.cols(0), (int)l.cols(0), l.number(w_a)) + l.whole(2)[e]; break;
  case step_sum_columns: sum = sumOfRow(x, l.cols(0), l.real(w_a)); break;
  case step_row_mean_square: sum = meanSquareOfRow(x, l.row(1, e, r), l.cols(0)); break;
  case step_log_sum_exp: sum = logSumExpOfRow(x, l.cols(0)); break;
  default: sum = quietNaN();
  }
  if (lane() == 0) *out = sum;
}

// A step's rows from first on, n of them, of all members.
DEVICE void work(Line l, u32 first, u32 n) {
  u32 code = l.number(w_code), members = l.number(w_members), cols = l.number(w_cols);
  float *out = (float *)l.w[w_out];
  if (code >= step_warps) {
    for (u32 i = threadX() / 32; i < members * n; i += blockDim() / 32) {
      u32 e = i / n, r = first + i % n;
      rowStep(l, out + (u64)(e * l.rows + r) * cols, e, r);
    }
    return;
  }
  if (code == step_tanh_gaussian_grad) {
    u32 actions = cols / 2;
    for (u32 i = threadX(); i < members * n * actions; i += blockDim()) {
      u32 e = i / (n * actions), r = first + i / actions % n;
      sampleGrad(out + (u64)(e * l.rows + r) * cols, l.row(0, e, r), l.row(1, e, r), l.row(2, e, r), l.row(3, e, r), actions, i % actions);
    }
    return;
  }
  bool fill = code == step_fill_normal || code == step_fill_uniform;
  if (fill && l.whole(1) && ((const u64 *)l.whole(1))[1]) return; // idle
  for (u32 i = threadX(); i < members * n * cols; i += blockDim()) {
    u32 e = i / (n * cols), r = first + i / cols % n, j = i % cols;
    out[(u64)(e * l.rows + r) * cols + j] = element(l, e, r, j);
  }
}

KERNEL __launch_bounds__(256) void chain(const u64 *table, u32 steps, u32 rows, u32 tile) {
  __shared__ u64 words[most * w_width];
  for (u32 i = threadX(); i < steps * w_width; i += blockDim()) words[i] = table[i];
  syncThreads();
  for (u32 first = blockX() * tile; first < rows; first += gridX() * tile) {
    for (u32 s = 0; s < steps; s++) {
      work(Line{words + s * w_width, rows}, first, smaller(tile, rows - first));
      syncThreads();
    }
  }
}
