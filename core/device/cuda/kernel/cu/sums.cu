// targets: sm_70
// Sums at the end of a program, several in one launch: gradients of biases and of layers of one column, losses.
#include "sums.h"

// arrange.go has these in the same order.
enum Kind { kind_columns, kind_squared_error, kind_entropy_loss };

// A row of the table has 10 words: the blocks before the sum's own, the kind, where the result goes, then
//   kind_columns: x, weights or 0, rows, columns, numbers from member to member of x; a block has 32 columns of a member
//   kind_squared_error: Operands, then the norm, the elements
//   kind_entropy_loss: log π, q, α, the norm, the elements
// Losses have one block.
const u32 width = 11;

KERNEL __launch_bounds__(1024) void sums(const u64 *table, u32 rows) {
  u32 low = 0, high = rows;
  while (high - low > 1) {
    u32 middle = (low + high) / 2;
    if (table[width * middle] <= blockX()) low = middle;
    else high = middle;
  }
  const u64 *row = table + width * low;
  float *out = (float *)row[2];
  const float *x = (const float *)row[3], *other = (const float *)row[4];
  switch ((u32)row[1]) {
  case kind_columns: {
    int of = (int)row[5], cols = (int)row[6], across = (cols + 31) / 32, block = (int)(blockX() - row[0]), e = block / across;
    sumColumns(out + (i64)e * cols, x + e * (i64)row[7], other ? other + (i64)e * of : 0, cols, block % across, 0, of);
    return;
  }
  case kind_squared_error: {
    Operands o = {x, other, (const float *)row[5], (u32)row[6], (u32)row[7], (u32)row[8]};
    return totalOf(out, (double *)0, bitsToDouble(row[9]), (u32)row[10], 0, 1, [=](u32 i) { return squaredError(o, i); });
  }
  case kind_entropy_loss: {
    double alpha = (double)*(const float *)row[5];
    return totalOf(out, (double *)0, bitsToDouble(row[6]), (u32)row[7], 0, 1, [=](u32 i) { return entropyLoss(x, other, alpha, i); });
  }
  }
}
