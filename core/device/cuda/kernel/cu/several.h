// The end of a product whose threads have several vectors of the result at a time: finish of
// product.h for all of them, so that what they read is under way together.
#pragma once
#include "packed.h"
#include "product.h"

constexpr int SEVERAL = 4;

#define EACH_OF_SEVERAL(function)                                                                                       \
  UNROLL for (int i = 0; i < SEVERAL; i++) UNROLL for (int j = 0; j < 4; j++) {                                         \
    float x = v[i][j], a = x, b = other[i][j];                                                                          \
    v[i][j] = function;                                                                                                 \
  }

// as followed of after.h, to the same bits
DEVICE void followedSeveral(u32 what, float4 (&v)[SEVERAL], const float4 (&other)[SEVERAL]) {
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wunused-variable\"")
  switch (what) {
#define SEVERAL_AFTER(name, function) case after_##name: EACH_OF_SEVERAL(function) break;
    UNARY_WIDE(SEVERAL_AFTER)
    BINARY_WIDE(SEVERAL_AFTER)
  case after_tanh: EACH_OF_SEVERAL(tanhOf(x)) break;
  case after_tanh_grad: EACH_OF_SEVERAL(a * fma(-b, b, 1.0f)) break;
  }
  _Pragma("clang diagnostic pop")
}

// counts: numbers of each vector that are there, from index on
DEVICE void storeSeveral(float *to, const i64 (&index)[SEVERAL], const u32 (&count)[SEVERAL], const float4 (&v)[SEVERAL]) {
  UNROLL for (int i = 0; i < SEVERAL; i++) if (count[i]) storeSome(to, index[i], count[i], v[i]);
}
DEVICE void loadSeveral(const float *from, const i64 (&index)[SEVERAL], const u32 (&count)[SEVERAL], float4 (&v)[SEVERAL]) {
  UNROLL for (int i = 0; i < SEVERAL; i++) v[i] = count[i] ? loadSome(from, index[i], count[i]) : float4{0, 0, 0, 0};
}

// The operand has width columns, those of the result from first on; both are whole vectors.
DEVICE void loadColumns(const float *from, u32 first, u32 width, const u32 (&count)[SEVERAL], const int (&row)[SEVERAL], const int (&col)[SEVERAL], float4 (&v)[SEVERAL]) {
  UNROLL for (int i = 0; i < SEVERAL; i++) {
    u32 at = (u32)col[i] - first;
    if (count[i] && at < width) v[i] = loadSome(from, (i64)row[i] * width + at, 4);
  }
}

// Where the result is a packed operand of rows rows, which fills its last chunk.
template <typename T>
DEVICE void storePacked(u64 to, u64 rows, const u32 (&count)[SEVERAL], const int (&row)[SEVERAL], const int (&col)[SEVERAL], const float4 (&v)[SEVERAL]) {
  UNROLL for (int i = 0; i < SEVERAL; i++) {
    if (!count[i]) continue;
    float x[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
    u32 within = col[i] % T::K;
    u64 place = placeOfVector(col[i] / T::K * rows + row[i], row[i], within / T::VECTOR) * 16 + within % T::VECTOR * (16 / T::VECTOR);
    *(typename T::Four *)(to + place) = T::four(x);
  }
}

// Above its number of steps, the table has the rows of the packed operand that the last of them
// makes, or 0. Above what a step does it has the first of the columns that the operand has, and how
// many, or 0 if it has all.
template <typename T>
DEVICE void followSeveral(const u64 *after, const i64 (&index)[SEVERAL], const u32 (&count)[SEVERAL], const int (&row)[SEVERAL], const int (&col)[SEVERAL], float4 (&v)[SEVERAL]) {
  if (after[1]) storeSeveral((float *)after[1], index, count, v);
  u32 steps = (u32)after[0];
  u64 packed = after[0] >> 32;
  _Pragma("unroll 1") for (u32 s = 0; s < steps; s++) {
    const u64 *step = after + 2 + 3 * s;
    float4 other[SEVERAL] = {};
    u32 some = (u32)(step[0] >> 32);
    if (some) loadColumns((const float *)step[1], some & 0xffff, some >> 16, count, row, col, other);
    else if (step[1]) loadSeveral((const float *)step[1], index, count, other);
    followedSeveral((u32)step[0], v, other);
    if (!step[2]) continue;
    if (packed && s + 1 == steps) storePacked<T>(step[2], packed, count, row, col, v);
    else storeSeveral((float *)step[2], index, count, v);
  }
}

// finishSeveral writes vectors of four neighbours at rows and columns of the result.
template <typename T> DEVICE void finishSeveral(const Product &p, const Place &at, const int (&row)[SEVERAL], const int (&col)[SEVERAL], float4 (&v)[SEVERAL]) {
  i64 index[SEVERAL], columns[SEVERAL];
  u32 count[SEVERAL];
  UNROLL for (int i = 0; i < SEVERAL; i++) {
    index[i] = (i64)row[i] * p.n + col[i], columns[i] = col[i];
    count[i] = row[i] < p.m && col[i] < p.n ? (u32)smaller(4, p.n - col[i]) : 0;
  }
  float4 other[SEVERAL];
  if (p.bias) {
    loadSeveral(p.bias + at.weights * p.strideBias, columns, count, other);
    EACH_OF_SEVERAL(a + b)
  }
  if (p.flags & RELU) {
    UNROLL for (int i = 0; i < SEVERAL; i++) UNROLL for (int j = 0; j < 4; j++) v[i][j] = relu(v[i][j]);
  }
  if (p.mask) {
    loadSeveral(p.mask + at.member * p.strideC, index, count, other);
    EACH_OF_SEVERAL(b > 0 ? a : 0)
  }
  if (!p.after) return storeSeveral(resultOf(p, at), index, count, v);
  if (at.member) {
    UNROLL for (int i = 0; i < SEVERAL; i++) index[i] += at.member * p.strideC;
  }
  followSeveral<T>(p.after, index, count, row, col, v);
}
