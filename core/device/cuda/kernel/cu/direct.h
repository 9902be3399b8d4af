// Matrix products of Hopper's warpgroups on float32 operands as they stand in memory, for products
// whose operands are read too few times to be packed first (packed.go).
//
// A block computes 128×128 of the result, each of its two warpgroups 64 rows, a chunk of the sum at
// a time. Each thread copies a part of the next chunks into shared memory as it stands (cp.async,
// RAWS of them under way), rounds its own part of the oldest, and puts it where and as packed.h says,
// while the chunk before is multiplied. There are two such packed chunks.
#pragma once
#include "wgmma.h"

// copies of 16 or 4 bytes, or of zeros where the source is outside of its matrix
DEVICE void copyOrZero16(u32 to, const float *from, bool inside) {
  u32 bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
DEVICE void copyOrZero4(u32 to, const float *from, bool inside) {
  u32 bytes = inside ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// Lines is an operand as it stands in memory: the first of its columns in a, the others in a2.
struct Lines {
  const float *a, *a2;
  int rows, cols, first;
  bool wide; // rows are whole vectors
  DEVICE_MEMBER const float *at(int row, int col) const {
    bool left = col < first;
    i64 width = left ? first : cols - first;
    return (left ? a : a2) + row * width + (left ? col : col - first);
  }
  // copy starts a copy of four neighbours of a row.
  DEVICE_MEMBER void copy(u32 to, int row, int col) const {
    if (wide) return copyOrZero16(to, at(row, col), row < rows && col < cols);
    UNROLL for (int i = 0; i < 4; i++) copyOrZero4(to + i * 4, at(row, col + i), row < rows && col + i < cols);
  }
};

// Part is what a thread copies and packs of 128 rows of an operand and a chunk of the sum. ALONG:
// the operand's lines run along the sum, else across it. Copies lie as 16 bytes of each thread, one
// after the other.
template <typename T, bool ALONG> struct Part {
  static constexpr int TILE = 128, THREADS = 256, COPY = THREADS * 16, RAW = TILE * T::K * 4, FOURS = T::VECTOR / 4;

  // Along: four vectors of 16 packed bytes, 32 rows apart. Across: a vector of each of four rows,
  // such that eight lanes write to all banks, and eight of them read 128 bytes side by side.
  static DEVICE_MEMBER int row(int i) {
    int t = threadX();
    return ALONG ? t / 8 + i * 32 : ((t / 64 * 8 + t / 4 % 8) * 4 + i);
  }
  static DEVICE_MEMBER int vector() {
    int t = threadX();
    return ALONG ? t % 8 : t / 32 % 2 * 4 + t % 4;
  }

  static DEVICE_MEMBER void start(u32 raw, const Lines &m, int r0, int k0) {
    int k = k0 + vector() * T::VECTOR;
    raw += threadX() * 16;
    if (ALONG) {
      UNROLL for (int i = 0; i < 4; i++) UNROLL for (int j = 0; j < FOURS; j++)
        m.copy(raw + (i * FOURS + j) * COPY, r0 + row(i), k + j * 4);
    } else {
      UNROLL for (int j = 0; j < T::VECTOR; j++) m.copy(raw + j * COPY, k + j, r0 + row(0));
    }
  }

  // pack rounds what has arrived.
  static DEVICE_MEMBER void pack(char *to, const char *raw) {
    float4 x[T::VECTOR];
    raw += threadX() * 16;
    UNROLL for (int i = 0; i < T::VECTOR; i++) x[i] = *(const float4 *)(raw + i * COPY);
    UNROLL for (int i = 0; i < 4; i++) {
      float v[T::VECTOR];
      UNROLL for (int j = 0; j < T::VECTOR; j++) v[j] = ALONG ? x[i * FOURS + j / 4][j % 4] : x[j][i];
      *(uint4 *)(to + placeOfVector(row(i), row(i), vector()) * 16) = T::vector(v);
    }
  }
};

template <typename T, Layout LAYOUT> struct Direct {
  static constexpr int BM = 128, BN = 128, SUMS = BN / 2, RAW = Part<T, true>::RAW, RAWS = 128 * 1024 / (2 * RAW), OPERAND = 128 * 128;
  typedef Part<T, LAYOUT != TN> PartA;
  typedef Part<T, LAYOUT == NT> PartB;

  static DEVICE_MEMBER void start(const Product &p, const Place &at, const Step<T::K> &s, u32 raw) {
    const float *a1 = p.a + (at.member + s.e) * p.strideA, *a2 = p.a2 + (at.member + s.e) * p.strideA2, *w = p.b + (at.weights + s.e) * p.strideB;
    Lines x = {a1, a2, p.m, p.k, p.first, (p.flags & WIDE_A) != 0}, y = {w, w, p.k, p.n, p.n, (p.flags & WIDE_B) != 0};
    if (LAYOUT == TN) x.rows = p.k, x.cols = p.m;
    if (LAYOUT == NT) y.rows = p.n, y.cols = y.first = p.k;
    PartA::start(raw, x, at.m0, s.k0);
    PartB::start(raw + RAW, y, at.n0, s.k0);
  }

  static DEVICE_MEMBER void pack(char *to, const char *raw) {
    waitCopies<RAWS - 1>();
    PartA::pack(to, raw);
    PartB::pack(to + OPERAND, raw + RAW);
    fenceCopies();
  }

  static DEVICE_MEMBER void sum(const Product &p, const Place &at, float (&d)[SUMS]) {
    char *packed = (char *)dynamicShared, *raw = packed + 2 * 2 * OPERAND;
    Step<T::K> step(p, at);
    UNROLL for (int i = 0; i < RAWS; i++) {
      if (at.begin + i < at.end) start(p, at, step, sharedAddress(raw) + i * 2 * RAW);
      commitCopies(); // also of nothing: groups are counted
      step.next(p);
    }
    if (at.begin < at.end) pack(packed, raw);
    syncThreads();
    int oldest = 0, stage = 0;
    _Pragma("unroll 1") for (int chunk = at.begin; chunk < at.end; chunk++) {
      u32 now = sharedAddress(packed) + stage * 2 * OPERAND;
      u64 from = descriptorOf(now + threadX() / 128 * 64 * 128), by = descriptorOf(now + OPERAND);
      fenceSums();
      UNROLL for (int k = 0; k < 4; k++) multiply<T, SUMS>(d, from + k * 2, by + k * 2);
      commitProducts();
      if (chunk + RAWS < at.end) start(p, at, step, sharedAddress(raw) + oldest * 2 * RAW);
      commitCopies();
      step.next(p);
      oldest = oldest + 1 == RAWS ? 0 : oldest + 1, stage ^= 1;
      if (chunk + 1 < at.end) pack(packed + stage * 2 * OPERAND, raw + oldest * 2 * RAW);
      waitProducts<0>();
      syncThreads(); // what is packed is there, and what was multiplied is free
    }
  }

  static DEVICE_MEMBER void run(const Product &p) {
    Place at = placeOf<BM, BN, T::K>(p);
    float d[SUMS];
    UNROLL for (int i = 0; i < SUMS; i++) d[i] = 0.0f;
    sum(p, at, d);
    finishTogether<T, BN>(p, at, d);
  }
};

#define DIRECT(T, LAYOUT) \
  KERNEL __launch_bounds__(256, 1) void product##LAYOUT##_direct_##T##_128x128(PRODUCT_PARAMETERS) { Direct<T, LAYOUT>::run(PRODUCT); }
