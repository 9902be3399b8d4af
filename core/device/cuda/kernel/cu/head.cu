// targets: sm_70
// Layers of one column, and sums over rows: products in which every number is used
// once, so that memory's speed is all there is. Twins: core/device/cpu/linear.go,
// where out is 1, and colSum.
#include "cuda.h"

enum Flags { RELU = 1, WIDE = 2 };

// y[e][row] ← x[e][row]·w[e] + b[e], a warp for each row: lane l adds the elements
// (wide: the vectors) l, l+32, …, then the lanes' sums meet pairwise. 8 rows a block.
KERNEL __launch_bounds__(256) void row_dot(float *y, const float *__restrict__ x, const float *__restrict__ w,
                                           const float *__restrict__ b, const float *__restrict__ index, int rows, int k,
                                           i64 strideX, u32 flags) {
  int e = blockZ(), m = index ? (int)index[e] : e;
  int row = blockX() * 8 + threadX() / 32, lane = threadX() % 32;
  bool inside = row < rows;
  x += e * strideX + (i64)(inside ? row : 0) * k;
  w += (i64)m * k;
  float sum = 0;
  if (flags & WIDE) {
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
  if (!inside || lane != 0) return;
  sum += b[m];
  y[(i64)e * rows + row] = (flags & RELU) && sum < 0 ? 0 : sum;
}

// dx[e][row][col] ← Σ over inner members i of dz[e+i][row]·w[e+i][col], zero where the
// mask is not positive; width is the length of a member of w. A thread makes four
// neighbours (one where rows are not whole vectors).
template <int WIDTH>
DEVICE void outerProduct(float *dx, const float *dz, const float *w, const float *mask, int rows, int cols, int width,
                         int inner) {
  int e = blockZ(), across = (cols + WIDTH - 1) / WIDTH;
  i64 vectors = (i64)rows * across;
  for (i64 v = firstElement(); v < vectors; v += elementStride()) {
    int row = (u32)v / (u32)across, col = ((u32)v % (u32)across) * WIDTH;
    float sum[WIDTH] = {};
    for (int i = 0; i < inner; i++) {
      float d = dz[(i64)(e + i) * rows + row];
      const float *at = w + (i64)(e + i) * width + col;
      UNROLL for (int j = 0; j < WIDTH; j++) sum[j] = fma(d, at[j], sum[j]);
    }
    i64 to = ((i64)e * rows + row) * cols + col;
    UNROLL for (int j = 0; j < WIDTH; j++) if (mask && !(mask[to + j] > 0)) sum[j] = 0;
    if (WIDTH == 4) *(float4 *)(dx + to) = float4{sum[0], sum[1 % WIDTH], sum[2 % WIDTH], sum[3 % WIDTH]};
    else dx[to] = sum[0];
  }
}

KERNEL __launch_bounds__(256) void outer_product(float *dx, const float *__restrict__ dz, const float *__restrict__ w,
                                                 const float *__restrict__ mask, int rows, int cols, int width,
                                                 int inner, u32 flags) {
  if (flags & WIDE) outerProduct<4>(dx, dz, w, mask, rows, cols, width, inner);
  else outerProduct<1>(dx, dz, w, mask, rows, cols, width, inner);
}

// A block takes 32 columns of a member, from 32·tile on, and the rows of its part, a warp every 32nd of these; then the warps' sums
// are added in order.
DEVICE void sumColumns(float *sum, const float *x, const float *weight, int rows, int cols, int tile, int begin, int end) {
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

// sum[e][col] ← Σ over rows of x[e][row][col], each times weight[e][row] where there
// are weights. Parts (blockIdx.y) stand members·cols apart.
KERNEL __launch_bounds__(1024) void column_sum(float *sum, const float *__restrict__ x,
                                               const float *__restrict__ weight, int rows, int cols, i64 strideX,
                                               int members, int rowsOfPart) {
  int e = blockZ(), begin = blockY() * rowsOfPart;
  sumColumns(sum + ((i64)blockY() * members + e) * cols, x + e * strideX, weight ? weight + (i64)e * rows : 0, rows, cols, blockX(), begin,
             smaller(begin + rowsOfPart, rows));
}

// column_sum of several tensors, without weights: rows {blocks before, sum, x, rows, cols} of a table. Members of a tensor stand one
// after the other.
KERNEL __launch_bounds__(1024) void column_sums(const u64 *table, u32 tensors) {
  u32 low = 0, high = tensors;
  while (high - low > 1) {
    u32 middle = (low + high) / 2;
    if (table[5 * middle] <= blockX()) low = middle;
    else high = middle;
  }
  const u64 *row = table + 5 * low;
  int rows = (int)row[3], cols = (int)row[4], across = (cols + 31) / 32, block = (int)(blockX() - row[0]), e = block / across;
  sumColumns((float *)row[1] + (i64)e * cols, (const float *)row[2] + (i64)e * rows * cols, 0, rows, cols, block % across, 0, rows);
}
