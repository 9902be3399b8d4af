// targets: sm_80
// Lays out the operands of the products of Hopper's warpgroups (packed.h, warpgroup.h).
#include "after.h"
#include "packed.h"

// Source is a row-major matrix for each member. Its columns may stand in two places, the first
// `first` in x, the others in x2. index, if it is there, names the member of the source.
struct Source {
  const float *x, *x2, *index;
  int rows, cols, first;
  i64 stride, stride2; // numbers from member to member
  DEVICE_MEMBER Source of(u32 member) const {
    i64 e = index ? (i64)index[member] : (i64)member;
    return {x + e * stride, x2 + e * stride2, 0, rows, cols, first, 0, 0};
  }
  // row of a column's part of the matrix, and the distance of its rows
  DEVICE_MEMBER const float *at(int row, int col, int *pitch) const {
    *pitch = col < first ? first : cols - first;
    return col < first ? x + (i64)row * first + col : x2 + (i64)row * (cols - first) + (col - first);
  }
};
#define SOURCE                                                                                                          \
  const float *__restrict__ x, const float *__restrict__ x2, const float *__restrict__ index, int rows, int cols,       \
      int first, i64 stride, i64 stride2
#define GIVEN Source{x, x2, index, rows, cols, first, stride, stride2}

// Rows of the source are rows of the result: a thread makes a vector.
template <typename T> DEVICE void pack(uint4 *out, const Source &source, u32 each, u32 padded, u32 n, u32 wide) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 c = i % 8, line = i / 8, r = line % padded, chunk = line / padded;
    int k = (int)((chunk % each * 8 + c) * T::VECTOR), pitch;
    float v[T::VECTOR] = {};
    if ((int)r < source.rows) {
      const Source own = source.of(chunk / each);
      if (wide) {
        UNROLL for (int j = 0; j < T::VECTOR; j += 4) if (k + j < own.cols) {
          float4 four = *(const float4 *)own.at((int)r, k + j, &pitch);
          UNROLL for (int l = 0; l < 4; l++) v[j + l] = four[l];
        }
      } else {
        UNROLL for (int j = 0; j < T::VECTOR; j++) if (k + j < own.cols) v[j] = *own.at((int)r, k + j, &pitch);
      }
    }
    out[placeOfVector(line, r, c)] = T::vector(v);
  }
}

// Columns of the source are rows of the result: a block turns TURNED of them over a chunk of the
// sum, so that both what it reads and what it writes are whole lines of the cache. across: such
// groups of rows.
constexpr int TURNED = 64;
template <typename T> DEVICE void packTurned(uint4 *out, const Source &source, u32 each, u32 padded, u32 across) {
  constexpr int K = T::K;
  __shared__ float tile[K][TURNED + 1];
  u32 chunk = blockX() / across, r0 = blockX() % across * TURNED, column = threadX() % TURNED;
  int k0 = (int)(chunk % each) * K, pitch;
  const Source own = source.of(chunk / each);
  bool inside = (int)(r0 + column) < own.cols;
  for (u32 k = threadX() / TURNED; k < K; k += 256 / TURNED)
    tile[k][column] = inside && k0 + (int)k < own.rows ? *own.at(k0 + (int)k, (int)(r0 + column), &pitch) : 0.0f;
  syncThreads();
  for (u32 i = threadX(); i < TURNED * 8; i += 256) {
    u32 c = i % 8, row = i / 8, r = r0 + row;
    if (r >= padded) continue;
    float v[T::VECTOR];
    UNROLL for (int j = 0; j < T::VECTOR; j++) v[j] = tile[c * T::VECTOR + j][row];
    out[placeOfVector((u64)chunk * padded + r, r, c)] = T::vector(v);
  }
}

// Rows of the source are rows of the result, made on the way: multiplied by a row or added to it, and
// then there may be a function: of what, the last bit says which, and those above 1 + a step of after.h.
#define EACH_MADE(function)                                                                                             \
  UNROLL for (int j = 0; j < T::VECTOR; j++) {                                                                          \
    float x = v[j];                                                                                                     \
    v[j] = function;                                                                                                    \
  }
#define MADE(name, function) case after_##name + 1: EACH_MADE(function) break;
template <typename T> DEVICE void packMade(uint4 *out, const float *x, const float *by, int rows, int cols, u32 padded, u32 n, u32 wide, u32 what) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 c = i % 8, line = i / 8, r = line % padded;
    int k = (int)((line / padded * 8 + c) * T::VECTOR);
    float v[T::VECTOR] = {};
    if ((int)r < rows) {
      const float *from = x + (i64)r * cols + k;
      float b[T::VECTOR] = {};
      UNROLL for (int j = 0; j < T::VECTOR; j += 4) {
        if (wide && k + j < cols) {
          float4 four = *(const float4 *)(from + j), row = *(const float4 *)(by + k + j);
          UNROLL for (int l = 0; l < 4; l++) v[j + l] = four[l], b[j + l] = row[l];
        } else if (!wide) {
          UNROLL for (int l = 0; l < 4; l++) if (k + j + l < cols) v[j + l] = from[j + l], b[j + l] = by[k + j + l];
        }
      }
      UNROLL for (int j = 0; j < T::VECTOR; j++) v[j] = what & 1 ? v[j] + b[j] : v[j] * b[j];
      switch (what / 2) { // all functions of 0 are 0, as what fills the last chunk
        UNARY_WIDE(MADE)
      case after_tanh + 1: EACH_MADE(tanhOf(x)) break;
      }
    }
    out[placeOfVector(line, r, c)] = T::vector(v);
  }
}

// n: vectors
#define PACK(T)                                                                                                         \
  KERNEL void pack_##T(uint4 *out, SOURCE, u32 each, u32 padded, u32 n, u32 wide) { pack<T>(out, GIVEN, each, padded, n, wide); } \
  KERNEL void pack_made_##T(uint4 *out, const float *__restrict__ x, const float *__restrict__ by, int rows, int cols, u32 padded, u32 n, u32 wide, u32 what) { \
    packMade<T>(out, x, by, rows, cols, padded, n, wide, what);                                                         \
  }                                                                                                                     \
  KERNEL void pack_turned_##T(uint4 *out, SOURCE, u32 each, u32 padded, u32 across) { packTurned<T>(out, GIVEN, each, padded, across); }
PACK(TF32)
PACK(BF16)
