// What all matrix products have in common: where their operands stand, in which
// chunks the sum goes, and how a result is finished.
#pragma once
#include "after.h"
#include "cuda.h"

// Layouts of C = A·B, each matrix row-major in memory:
enum Layout {
  NN, // A [M,K], B [K,N]: a layer's result
  NT, // A [M,K], B [N,K]: the gradient of its operand
  TN, // A [K,M], B [K,N]: the gradient of its weights
};

// A Product is C[e] = finish(Σ over inner members A·B) for each member e of the
// grid. The contiguous dimension of A (K in NN and NT, M in TN) may be split: its
// first `first` columns stand in a, the others in a2.
//
// The sum over inner·⌈K/BK⌉ chunks is divided between `splits` blocks, `chunks`
// chunks each; with more than one, each writes its part to c + split·partStride, and
// finish_product adds them in order.
struct Product {
  float *c;
  const float *a, *a2, *b, *bias, *mask, *index;
  const u64 *after; // see after.h; then nothing is written to c
  int m, n, k, first;
  i64 strideA, strideA2, strideB, strideBias, strideC, partStride; // elements per member, per part
  int inner, splits, chunks;
  u32 flags;
};

enum Flags {
  RELU = 1,
  WIDE_A = 2, // rows of a, a2 begin at multiples of 16 bytes
  WIDE_B = 4,
  WIDE_C = 8,
};

#define PRODUCT_PARAMETERS                                                                                             \
  float *c, const float *__restrict__ a, const float *__restrict__ a2, const float *__restrict__ b,                    \
      const float *__restrict__ bias, const float *__restrict__ mask, const float *__restrict__ index,                 \
      const u64 *after, int m, int n, int k, int first, i64 strideA, i64 strideA2, i64 strideB, i64 strideBias, i64 strideC, i64 partStride, int inner, \
      int splits, int chunks, u32 flags
#define PRODUCT                                                                                                        \
  {c, a, a2, b, bias, mask, index, after, m, n, k, first, strideA, strideA2, strideB, strideBias, strideC, partStride, inner, \
   splits, chunks, flags}

// relu keeps what is not a number, as the CPU's does.
DEVICE float relu(float x) { return x < 0 ? 0 : x; }

// Place is what a block works on.
struct Place {
  int m0, n0, member, weights, split, begin, end; // weights: the member of b and bias; chunks begin to end
};

// The grid is tiles × 1 × members·splits, column tiles fastest: the blocks that run
// at the same time share rows of A, which then come from device memory once, and
// B comes from the second-level cache.
template <int BM, int BN, int BK> DEVICE Place placeOf(const Product &p) {
  int across = (p.n + BN - 1) / BN, tile = blockX(), z = blockZ();
  Place at;
  at.m0 = tile / across * BM;
  at.n0 = tile % across * BN;
  at.member = z / p.splits;
  at.split = z % p.splits;
  at.weights = p.index ? (int)p.index[at.member] : at.member;
  int total = p.inner * ((p.k + BK - 1) / BK);
  at.begin = at.split * p.chunks;
  at.end = smaller(at.begin + p.chunks, total);
  return at;
}

// placeOf of block `block` of all tiles of all members, member by member; the sum is not divided.
template <int BM, int BN, int BK> DEVICE Place placeOf(const Product &p, int block) {
  int across = (p.n + BN - 1) / BN, tiles = across * ((p.m + BM - 1) / BM), tile = block % tiles, member = block / tiles;
  return {tile / across * BM, tile % across * BN, member, member, 0, 0, p.inner * ((p.k + BK - 1) / BK)};
}

// Step is a place in the sum: a member that is added, and the first element of a
// chunk. Chunks come in order, so that one division, at the first, is enough.
template <int BK> struct Step {
  int e, k0;
  DEVICE_MEMBER Step(const Product &p, const Place &at) {
    int each = (p.k + BK - 1) / BK;
    e = at.begin < at.end ? at.begin / each : 0;
    k0 = (at.begin - e * each) * BK;
  }
  DEVICE_MEMBER void next(const Product &p) {
    k0 += BK;
    if (k0 >= p.k) k0 = 0, e++;
  }
};

// resultOf is where the block's part of the result stands.
DEVICE float *resultOf(const Product &p, const Place &at) {
  return p.c + at.member * p.strideC + at.split * p.partStride;
}

// finishNarrow writes up to four neighbours one by one. It is a function of its own,
// not inlined: results whose rows are not whole vectors are rare and small.
static __device__ __attribute__((noinline, unused)) void finishNarrow(float *c, const float *bias, const float *mask, int count,
                                                              u32 flags, float x0, float x1, float x2, float x3) {
  _Pragma("unroll 1") for (int j = 0; j < count; j++) {
    float x = j < 2 ? j == 0 ? x0 : x1 : j == 2 ? x2 : x3;
    if (bias) x += bias[j];
    if (flags & RELU) x = relu(x);
    if (mask && !(mask[j] > 0)) x = 0;
    c[j] = x;
  }
}

// finished is what finish writes, of up to four neighbours.
DEVICE float4 finished(const float *bias, const float *mask, int count, u32 flags, float4 v) {
  UNROLL for (int j = 0; j < 4; j++) {
    if (j >= count) break;
    if (bias) v[j] += bias[j];
    if (flags & RELU) v[j] = relu(v[j]);
    if (mask && !(mask[j] > 0)) v[j] = 0;
  }
  return v;
}

// finish writes four neighbours of a row of the result. FOLLOWED: what follows the
// product is done here too, for which the caller has but one place.
template <bool FOLLOWED = false> DEVICE void finish(const Product &p, const Place &at, int row, int col, float4 v) {
  if (row >= p.m || col >= p.n) return;
  i64 index = (i64)row * p.n + col;
  float *c = resultOf(p, at) + index;
  const float *mask = p.mask ? p.mask + at.member * p.strideC + index : 0;
  const float *bias = p.bias ? p.bias + at.weights * p.strideBias + col : 0;
  int count = smaller(4, p.n - col);
  if (FOLLOWED && p.after) {
    v = finished(bias, mask, count, p.flags, v);
    return follow(p.after, at.member * p.strideC + index, (u32)count, v);
  }
  if (!(p.flags & WIDE_C)) return finishNarrow(c, bias, mask, count, p.flags, v[0], v[1], v[2], v[3]);
  if (bias) v += *(const float4 *)bias;
  if (p.flags & RELU) {
    UNROLL for (int j = 0; j < 4; j++) v[j] = relu(v[j]);
  }
  if (mask) {
    float4 keep = *(const float4 *)mask;
    UNROLL for (int j = 0; j < 4; j++) v[j] = keep[j] > 0 ? v[j] : 0;
  }
  *(float4 *)c = v;
}

// Row is a row of an operand, from one of its columns on: where that stands and
// how many columns are left there.
struct Row {
  const float *at;
  int left;
};

// rowOf finds column col of a row of A, whose columns may stand in two places.
// Four neighbours never straddle them where the loads are wide.
DEVICE Row rowOf(const float *a, const float *a2, int first, int cols, i64 row, int col) {
  if (col < first) return {a + row * first + col, first - col};
  return {a2 + row * (cols - first) + (col - first), cols - col};
}
