// targets: sm_80
// Operands of the products of Hopper's warpgroups (warpgroup.h), rounded to TF32 or BF16 and laid
// out as the tensor cores read them from shared memory: along the sum, in chunks of 128 bytes,
// 32 or 64 numbers; [member][chunk][row][128 bytes], with zeros where a matrix ends before its
// last chunk or its last rows. Vectors of 16 bytes are exchanged within a row: vector c of row r
// stands at c XOR r mod 8, which makes reads of eight rows free of bank conflicts.
#include "cuda.h"

struct TF32 {
  static constexpr int VECTOR = 4; // numbers in 16 bytes
  static DEVICE_MEMBER u32 one(float x) {
    u32 r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
  }
  static DEVICE_MEMBER uint4 round(const float *x) { return uint4{one(x[0]), one(x[1]), one(x[2]), one(x[3])}; }
};
struct BF16 {
  static constexpr int VECTOR = 8;
  static DEVICE_MEMBER u32 pair(float low, float high) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
  }
  static DEVICE_MEMBER uint4 round(const float *x) { return uint4{pair(x[0], x[1]), pair(x[2], x[3]), pair(x[4], x[5]), pair(x[6], x[7])}; }
};

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
    out[line * 8 + (c ^ r % 8)] = T::round(v);
  }
}

// Columns of the source are rows of the result: a block turns TURNED of them over a chunk of the
// sum, so that both what it reads and what it writes are whole lines of the cache. across: such
// groups of rows.
constexpr int TURNED = 64;
template <typename T> DEVICE void packTurned(uint4 *out, const Source &source, u32 each, u32 padded, u32 across) {
  constexpr int K = 8 * T::VECTOR;
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
    out[((u64)chunk * padded + r) * 8 + (c ^ r % 8)] = T::round(v);
  }
}

// n: vectors
#define PACK(T)                                                                                                         \
  KERNEL void pack_##T(uint4 *out, SOURCE, u32 each, u32 padded, u32 n, u32 wide) { pack<T>(out, GIVEN, each, padded, n, wide); } \
  KERNEL void pack_turned_##T(uint4 *out, SOURCE, u32 each, u32 padded, u32 across) { packTurned<T>(out, GIVEN, each, padded, across); }
PACK(TF32)
PACK(BF16)
