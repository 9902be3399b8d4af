// targets: sm_70
// Rows of tables by index. Twin: core/device/cpu/gather.go.
#include "elements.h"
#include "reduce.h"

// Pick i comes from the table of member i/picks, or from the one that serves all.
KERNEL void gather(float *out, const float *x, const float *index, u32 members, u32 rows, u32 picks, u32 cols, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 pick = i / cols;
    i64 row = named(index[pick], rows);
    if (members > 1 && row >= 0) row += (i64)(pick / picks) * rows;
    out[i] = row < 0 ? quietNaN() : x[(u64)row * cols + i % cols];
  }
}

KERNEL void zero(float *out, i64 n) {
  for (i64 i = firstElement(); i < n; i += elementStride()) out[i] = 0.0f;
}

// The gradient: each row of the table is the sum of the picks that named it, in
// their order. A block has the picks from + blockX(): the first one of a row adds up
// the row, those after it do nothing. total is the number of all picks; picks of
// other members do not count where each has a table.
KERNEL void gather_grad(float *out, const float *index, const float *dout, u32 members, u32 rows, u32 picks, u32 cols, u32 total, u32 from) {
  u32 pick = from + blockX(), begin = 0, end = total;
  if (members > 1) {
    begin = pick / picks * picks;
    end = begin + picks;
  }
  i64 row = named(index[pick], rows);
  if (row < 0) return;
  __shared__ double sums[32];
  double before = 0.0;
  for (u32 i = begin + threadX(); i < pick; i += blockDim()) before += named(index[i], rows) == row ? 1.0 : 0.0;
  if (blockSum(before, sums) > 0.0) return;
  u64 to = ((u64)(members > 1 ? pick / picks : 0) * rows + row) * cols;
  for (u32 j = threadX(); j < cols; j += blockDim()) {
    float sum = 0.0f;
    for (u32 i = pick; i < end; i++)
      if (named(index[i], rows) == row) sum += dout[(u64)i * cols + j];
    out[to + j] = sum;
  }
}
