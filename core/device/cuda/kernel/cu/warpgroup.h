// Matrix products of Hopper's warpgroups on operands that are rounded and laid out already
// (packed.h). Whatever the layout of a product was (product.h), here it is C = A·Bᵀ with both
// operands along the sum.
//
// A block computes BM×BN of the result, each of its two warpgroups BM/2 rows, in chunks
// of 128 bytes of the sum. STAGES chunks are under way (cp.async) or multiplied, from shared
// memory, where they stand as in device memory.
#pragma once
#include "wgmma.h"

DEVICE void copyAsync16(u32 to, const char *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// Packed is where the operands stand: chunk by chunk of the sum, in each of them all
// rows, rowsA and rowsB with those that fill up, of 128 bytes.
struct Packed {
  const char *a, *b;
  int rowsA, rowsB;
  i64 strideA, strideB; // bytes from member to member
};

template <typename T, int BM, int BN, int STAGES> struct Warpgroups {
  static constexpr int THREADS = 256, SUMS = BN / 2, STAGE = (BM + BN) * 128;
  static_assert(BM == 128, "64 rows for each of two warpgroups");
  static_assert(Staged<T, BN>::BYTES <= STAGES * STAGE, "the sums go through the same shared memory");

  // Vectors of 16 bytes stand in device memory as they will in shared memory.
  static DEVICE_MEMBER void load(u32 stage, const char *a, const char *b) {
    UNROLL for (int i = 0; i < BM * 128; i += THREADS * 16) copyAsync16(stage + i, a + i);
    UNROLL for (int i = 0; i < BN * 128; i += THREADS * 16) copyAsync16(stage + BM * 128 + i, b + i);
  }

  static DEVICE_MEMBER void sum(const Place &at, const Packed &x, float (&d)[SUMS]) {
    u32 shared = sharedAddress(dynamicShared), own = threadX() * 16, rows = threadX() / 128 * 64 * 128;
    const char *a = x.a + at.member * x.strideA + ((i64)at.begin * x.rowsA + at.m0) * 128 + own;
    const char *b = x.b + at.member * x.strideB + ((i64)at.begin * x.rowsB + at.n0) * 128 + own;
    int read = 0, write = 0;
    _Pragma("unroll 1") for (int chunk = at.begin - (STAGES - 2); chunk < at.end; chunk++) {
      bool full = chunk >= at.begin; // before, the first stages are filled
      if (full) {
        waitCopies<STAGES - 3>();
        fenceCopies();
        syncThreads(); // all have what the chunk needs, and nobody reads the one before the last any more
      }
      if (chunk + STAGES - 2 < at.end) load(shared + write * STAGE + own, a, b);
      commitCopies(); // also of nothing: groups are counted
      a += (i64)x.rowsA * 128, b += (i64)x.rowsB * 128;
      write = write + 1 == STAGES ? 0 : write + 1;
      if (!full) continue;
      u64 from = descriptorOf(shared + read * STAGE + rows), by = descriptorOf(shared + read * STAGE + BM * 128);
      fenceSums();
      UNROLL for (int k = 0; k < 4; k++) multiply<T, SUMS>(d, from + k * 2, by + k * 2);
      commitProducts();
      waitProducts<1>();
      read = read + 1 == STAGES ? 0 : read + 1;
    }
    waitProducts<0>();
  }

  // squares: of each block the sum of squares of what it makes, or 0
  static DEVICE_MEMBER void run(const Product &p, const Packed &x, double *squares) {
    Place at = placeOf<BM, BN, T::K>(p);
    float d[SUMS];
    UNROLL for (int i = 0; i < SUMS; i++) d[i] = 0.0f;
    sum(at, x, d);
    finishTogether<T, BN>(p, at, d, squares);
  }
};

// each is the number of chunks of a member's sum.
#define WARPGROUPS(T, BM, BN, STAGES)                                                                                   \
  KERNEL __launch_bounds__(256, 1) void packed_##T##_##BM##x##BN(                                                       \
      float *c, const char *a, const char *b, const float *__restrict__ bias, const float *__restrict__ mask,           \
      const float *__restrict__ index, const u64 *after, int m, int n, int each, int rowsA, int rowsB, i64 strideA,     \
      i64 strideB, i64 strideC, i64 partStride, int inner, int splits, int chunks, u32 flags, double *squares) {        \
    Product p = {c, 0, 0, 0, bias, mask, index, after, m, n, each * T::K, 0, 0, 0, 0, n, strideC, partStride, inner, splits, chunks, flags}; \
    Packed x = {a, b, rowsA, rowsB, strideA, strideB};                                                                  \
    Warpgroups<T, BM, BN, STAGES>::run(p, x, squares);                                                                  \
  }
