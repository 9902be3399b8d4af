// Sums and maxima over a warp and over a block, in an order that the shapes decide.
#pragma once
#include "math.h"

DEVICE double shuffleDouble(double x, u32 mask) {
  u64 bits = doubleToBits(x);
  u32 low = (u32)__nvvm_shfl_sync_bfly_i32(0xffffffffu, (int)(u32)bits, mask, 31);
  u32 high = (u32)__nvvm_shfl_sync_bfly_i32(0xffffffffu, (int)(u32)(bits >> 32), mask, 31);
  return bitsToDouble((u64)high << 32 | low);
}

// Every lane of the warp has the sum; a + b is b + a, so all have the same bits.
DEVICE double warpSum(double x) {
  for (u32 mask = 16; mask; mask /= 2) x += shuffleDouble(x, mask);
  return x;
}

DEVICE float warpGreatest(float x) {
  for (u32 mask = 16; mask; mask /= 2) x = greatest(x, shuffleXor(x, mask));
  return x;
}

// The sum over a block of whole warps, at most 32 of them, in every thread. Calls in
// a row need no barrier between them.
DEVICE double blockSum(double x, double (&sums)[32]) {
  x = warpSum(x);
  u32 lane = threadX() % 32, warp = threadX() / 32;
  syncThreads();
  if (lane == 0) sums[warp] = x;
  syncThreads();
  x = lane < blockDim() / 32 ? sums[lane] : 0.0;
  return warpSum(x);
}

// Rows that warps take in turn: for (u32 row = firstRow(); row < rows; row += rowStride())
DEVICE u32 lane() { return threadX() % 32; }
DEVICE u32 firstRow() { return (blockX() * blockDim() + threadX()) / 32; }
DEVICE u32 rowStride() { return gridX() * blockDim() / 32; }

// The greatest number of a row that the warp shares, and the sum of e^(x−greatest).
// Of nothing but −∞, and of what is beyond all numbers, these exponentials are NaN.
struct Exponentials { float greatest; double sum; };
DEVICE Exponentials exponentials(const float *row, u32 cols) {
  float top = -infinity();
  for (u32 j = lane(); j < cols; j += 32) top = greatest(top, row[j]);
  top = warpGreatest(top);
  double sum = 0.0;
  for (u32 j = lane(); j < cols; j += 32) sum += (double)expOf(row[j] - top);
  return Exponentials{top, warpSum(sum)};
}
