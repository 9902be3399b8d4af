// targets: sm_70
// Layers of one column, and sums over rows: products in which every number is used
// once, so that memory's speed is all there is. Twins: core/device/cpu/linear.go,
// where out is 1, and colSum.
#include "rows.h"
#include "sums.h"

enum Flags { RELU = 1, WIDE = 2 };

// y[e][row] ← x[e][row]·w[e] + b[e], a warp for each row. 8 rows a block.
KERNEL __launch_bounds__(256) void row_dot(float *y, const float *__restrict__ x, const float *__restrict__ w,
                                           const float *__restrict__ b, const float *__restrict__ index, int rows, int k,
                                           i64 strideX, u32 flags) {
  int e = blockZ(), m = index ? (int)index[e] : e;
  int row = blockX() * 8 + threadX() / 32, lane = threadX() % 32;
  bool inside = row < rows;
  x += e * strideX + (i64)(inside ? row : 0) * k;
  w += (i64)m * k;
  float sum = dotOfRow(x, w, k, flags & WIDE);
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

// sum[e][col] ← Σ over rows of x[e][row][col], each times weight[e][row] where there
// are weights. Parts (blockIdx.y) stand members·cols apart.
KERNEL __launch_bounds__(1024) void column_sum(float *sum, const float *__restrict__ x,
                                               const float *__restrict__ weight, int rows, int cols, i64 strideX,
                                               int members, int rowsOfPart) {
  int e = blockZ(), begin = blockY() * rowsOfPart;
  sumColumns(sum + ((i64)blockY() * members + e) * cols, x + e * strideX, weight ? weight + (i64)e * rows : 0, cols, blockX(), begin,
             smaller(begin + rowsOfPart, rows));
}
