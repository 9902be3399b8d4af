// targets: sm_70
// Numbers of bytes. Twin: core/device/cpu/bytes.go.
#include "elements.h"

// Byte k of a word, the lowest first, as byte/255 + offset: each of the two is rounded, so that the
// bits are the CPU's.
DEVICE float numberOf(u32 word, u32 k, float offset) { return (float)(word >> 8 * k & 255) / 255.0f + offset; }

// A row of x is words words, which hold the cols bytes of a row of the result; n counts the words
// of all rows. If cols is a multiple of 4, every word's numbers begin at a multiple of 16 bytes.
KERNEL void from_bytes(float *out, const u32 *x, float offset, u32 words, u32 cols, u32 n) {
  bool fours = cols % 4 == 0 && ((u64)out & 15) == 0;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 word = x[i];
    float4 v = {numberOf(word, 0, offset), numberOf(word, 1, offset), numberOf(word, 2, offset), numberOf(word, 3, offset)};
    if (fours) {
      ((float4 *)out)[i] = v;
      continue;
    }
    u32 column = i % words * 4;
    float *to = out + (u64)(i / words) * cols + column;
    UNROLL
    for (u32 k = 0; k < 4; k++)
      if (column + k < cols) to[k] = v[k];
  }
}
