// targets: sm_70
// Fills with random numbers by their position. A thread has a block of four items.
#include "random.h"

// What a fill writes: n items of the occasion from live[0] on (0 without live), none
// if live[1] says that it is idle.
template <typename F> DEVICE void fill(float *out, const u64 *occasion, const u64 *live, i64 n, F take) {
  u64 from = live ? live[0] : 0;
  if (live && live[1]) return;
  i64 before = (i64)(from % 4), blocks = (before + n + 3) / 4;
  for (i64 b = firstElement(); b < blocks; b += elementStride()) {
    float item[4];
    take(*occasion, from / 4 + (u64)b, item);
    i64 at = 4 * b - before;
    UNROLL
    for (int k = 0; k < 4; k++)
      if (at + k >= 0 && at + k < n) out[at + k] = item[k];
  }
}

KERNEL void fill_normal(float *out, const u64 *occasion, const u64 *live, u32 k0, u32 k1, i64 n) {
  fill(out, occasion, live, n, [=](u64 occasion, u64 block, float *item) { normalItems(occasion, block, k0, k1, item); });
}

KERNEL void fill_uniform(float *out, const u64 *occasion, const u64 *live, u32 k0, u32 k1, i64 n) {
  fill(out, occasion, live, n, [=](u64 occasion, u64 block, float *item) { uniformItems(occasion, block, k0, k1, item); });
}
