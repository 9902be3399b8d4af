// Matrix products on tensor cores (mma.sync, compute capability 8.0 and up): the
// factors are rounded to TF32 or BF16, to nearest, when they leave shared memory;
// sums are float32.
//
// A block computes BM×BN of the result, a warp WM×WN of that, in chunks of 32 of
// the sum. cp.async brings the chunks, STAGES of them under way, from device memory
// into shared memory as they stand there, float32, with zeros where there is
// nothing. One barrier a chunk.
//
// The index within a sum and within a block of 32 rows or columns is free, as long as
// both factors agree, so that every access to shared memory is a vector of 16 bytes.
// Lane 4g+t of a warp (g = 0…7, t = 0…3) holds, of each block of 32 rows or columns
// and each 16 of the sum, rows 4·P(g)+i (i = 0…3) at k = 4t+j (j = 0…3), where
// P(g) = g/2 + 4·(g odd). To mma, m16n8k8 with its rows g and g+8, columns g, and k
// t and t+4:
//   rows of A:      tile i/2, row g + 8·(i odd)
//   columns of B:   tile i, column g
//   k, TF32:        step j/2, k = t + 4·(j odd)
//   k, BF16:        pair j/2 (k = 2t, 2t+1, or 8 more), its member j odd
// The result then has, of tile i, row g and columns 2t and 2t+1: columns 4t+i and
// 16+4t+i of the 32, and all four tiles make two vectors of a row; four lanes write
// 64 bytes side by side.
//
// Bank conflicts, on paper: the 8 lanes that share an access to shared memory have
// two values of g, 2q and 2q+1, thus P = q and q+4, and all four of t.
//   - rows along k, [row][32]: rows 4P+i are 16 apart and begin at bank 0; vectors t
//     of the same half of the row would meet, so that rows with bit 4 set have their
//     halves exchanged;
//   - rows across k, [k][row]: four values of k/4 with vectors q and q+4 each: the
//     vector's number is XORed by k/4 mod 4, which makes all eight different.
// Writes are 8 neighbouring vectors, permuted among themselves. No conflicts.
//
// Measured on an H100, 4096×2048×2048 takes 411 µs in TF32 with 128×256, 6500 cycles a chunk, some
// four times what follows. Rates on paper, for 128×256 and a chunk: eight warps read 32
// vectors a lane, 1024 cycles of a multiprocessor's shared memory, and the copies
// write for 384; mma takes, at the 60 % of Hopper's rate that mma.sync reaches, some
// 1650 in TF32 and 820 in BF16; the interpreter counts 4000 instructions of warps in
// TF32 and 3000 in BF16, of which four go in a cycle. So TF32 is bound by the tensor
// cores, at half of the card's rate or a little more, and BF16 by shared memory, at a
// third: rounding the weights once, before the product, would halve its share.
#pragma once
#include "product.h"
#include "tensorcore.h"

extern __shared__ __attribute__((aligned(128))) float dynamicShared[];

// copyAsync starts a copy of 16 or 4 bytes to shared memory; where the source is
// outside of its matrix, of zeros, and the source is not looked at.
DEVICE void copyAsync16(u32 to, u64 from, bool inside) {
  u32 bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
DEVICE void copyAsync4(u32 to, u64 from, bool inside) {
  u32 bytes = inside ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
// loadShared reads a vector. It is written out, as the compiler would take some apart,
// and single words of this arrangement meet in banks.
DEVICE float4 loadShared(u32 at) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
               : "r"(at)
               : "memory");
  return v;
}

// TF32 multiplies 8 of the sum at a time, BF16 16. WORDS hold what a lane has of a row
// or column, four rounded factors.
struct TF32 {
  static constexpr int WORDS = 4;
  static DEVICE_MEMBER void round(u32 (&to)[WORDS], float x0, float x1, float x2, float x3) {
    to[0] = roundTF32(x0), to[1] = roundTF32(x1), to[2] = roundTF32(x2), to[3] = roundTF32(x3);
  }
  static DEVICE_MEMBER void step(float (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  // low and high are rows g and g+8 of A's tile, b a column of B's
  static DEVICE_MEMBER void multiply(float (&d)[4], const u32 (&low)[4], const u32 (&high)[4], const u32 (&b)[4]) {
    step(d, low[0], high[0], low[1], high[1], b[0], b[1]);
    step(d, low[2], high[2], low[3], high[3], b[2], b[3]);
  }
};

struct BF16 {
  static constexpr int WORDS = 2;
  static DEVICE_MEMBER void round(u32 (&to)[WORDS], float x0, float x1, float x2, float x3) {
    to[0] = roundBF16(x0, x1), to[1] = roundBF16(x2, x3);
  }
  static DEVICE_MEMBER void multiply(float (&d)[4], const u32 (&low)[2], const u32 (&high)[2], const u32 (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(low[0]), "r"(high[0]), "r"(low[1]), "r"(high[1]), "r"(b[0]), "r"(b[1]));
  }
};

// Matrix is an operand as it stands in memory: the first of its columns in a, the
// others in a2.
struct Matrix {
  const float *a, *a2;
  int rows, cols, first;
  struct At {
    u64 address;
    i64 pitch; // bytes from row to row
  };
  // find is where an element stands; outside of the matrix a place like any other.
  DEVICE_MEMBER At find(int row, int col) const {
    bool left = col < first;
    i64 width = left ? first : cols - first;
    return {(u64)(left ? a : a2) + (row * width + (left ? col : col - first)) * 4, width * 4};
  }
};

// Chunk is 32 of the sum of one operand, R rows or columns, in shared memory. ALONG:
// the operand's rows run along k.
template <int R, bool ALONG, int THREADS> struct Chunk {
  static constexpr int SIZE = R * 32, VECTORS = R * 8 / THREADS;
  static_assert(VECTORS * THREADS == R * 8, "every thread loads as much");

  static DEVICE_MEMBER int place(int row, int k) {
    if (ALONG) return row * 32 + (((k / 4) ^ (row / 16 % 2 * 4)) * 4) + k % 4;
    return k * R + (((row / 4) ^ (k / 4 % 4)) * 4) + row % 4;
  }

  // fragment reads four rows, 16 of the sum from k on: block is a multiple of 32.
  template <typename T> static DEVICE_MEMBER void fragment(u32 (&to)[4][T::WORDS], u32 chunk, int block, int k) {
    int lane = threadX() % 32, g = lane / 4, t = lane % 4, row = block + (g / 2 + g % 2 * 4) * 4;
    float4 v[4];
    if (ALONG) {
      UNROLL for (int i = 0; i < 4; i++) v[i] = loadShared(chunk + place(row + i, k + t * 4) * 4);
      UNROLL for (int i = 0; i < 4; i++) T::round(to[i], v[i][0], v[i][1], v[i][2], v[i][3]);
    } else {
      UNROLL for (int j = 0; j < 4; j++) v[j] = loadShared(chunk + place(row, k + t * 4 + j) * 4);
      UNROLL for (int i = 0; i < 4; i++) T::round(to[i], v[0][i], v[1][i], v[2][i], v[3][i]);
    }
  }

  // load starts the copies of a chunk that begins at row or column r0 of the result
  // and at k0. A thread's vectors stand STEP of the matrix' rows apart.
  static DEVICE_MEMBER void load(u32 chunk, const Matrix &m, int r0, int k0, u32 wide) {
    constexpr int LINE = ALONG ? 8 : R / 4, STEP = THREADS / LINE;
    static_assert(STEP * LINE == THREADS, "a thread stays in its column");
    int line = threadX() / LINE, vector = threadX() % LINE * 4;
    int row = (ALONG ? r0 : k0) + line, col = (ALONG ? k0 : r0) + vector;
    if (wide) {
      Matrix::At from = m.find(row, col);
      bool inside = col < m.cols;
      UNROLL for (int i = 0; i < VECTORS; i++, from.address += STEP * from.pitch)
        copyAsync16(target(chunk, line + i * STEP, vector), from.address, inside && row + i * STEP < m.rows);
      return;
    }
    _Pragma("unroll 1") for (int i = 0; i < VECTORS; i++) UNROLL for (int j = 0; j < 4; j++)
      copyAsync4(target(chunk, line + i * STEP, vector) + j * 4, m.find(row + i * STEP, col + j).address,
                 row + i * STEP < m.rows && col + j < m.cols);
  }
  static DEVICE_MEMBER u32 target(u32 chunk, int line, int vector) {
    return chunk + (ALONG ? place(line, vector) : place(vector, line)) * 4;
  }
};

template <typename T, Layout LAYOUT, int BM, int BN, int WM, int WN, int STAGES> struct Tensor {
  static constexpr int ACROSS = BN / WN, THREADS = BM / WM * ACROSS * 32, MB = WM / 32, NB = WN / 32;
  typedef Chunk<BM, LAYOUT != TN, THREADS> ChunkA;
  typedef Chunk<BN, LAYOUT == NT, THREADS> ChunkB;
  static constexpr int STAGE = ChunkA::SIZE + ChunkB::SIZE;

  static DEVICE_MEMBER void load(const Product &p, const Place &at, const Step<32> &s, u32 stage) {
    const float *at1 = p.a + (at.member + s.e) * p.strideA, *at2 = p.a2 + (at.member + s.e) * p.strideA2;
    const float *w = p.b + (at.weights + s.e) * p.strideB;
    Matrix a = {at1, at2, p.m, p.k, p.first}, b = {w, w, p.k, p.n, p.n};
    if (LAYOUT == TN) a.rows = p.k, a.cols = p.m;
    if (LAYOUT == NT) b.rows = p.n, b.cols = b.first = p.k;
    ChunkA::load(stage, a, at.m0, s.k0, p.flags & WIDE_A);
    ChunkB::load(stage + ChunkA::SIZE * 4, b, at.n0, s.k0, p.flags & WIDE_B);
  }

  typedef float Sums[MB][NB][2][4][4];

  static DEVICE_MEMBER void multiply(u32 stage, int wm, int wn, Sums &d) {
    UNROLL for (int k = 0; k < 32; k += 16) {
      u32 a[MB][4][T::WORDS];
      UNROLL for (int i = 0; i < MB; i++) ChunkA::template fragment<T>(a[i], stage, wm + i * 32, k);
      UNROLL for (int j = 0; j < NB; j++) {
        u32 b[4][T::WORDS];
        ChunkB::template fragment<T>(b, stage + ChunkA::SIZE * 4, wn + j * 32, k);
        UNROLL for (int i = 0; i < MB; i++) UNROLL for (int h = 0; h < 2; h++) UNROLL for (int n = 0; n < 4; n++)
          T::multiply(d[i][j][h][n], a[i][h * 2], a[i][h * 2 + 1], b[n]);
      }
    }
  }

  static DEVICE_MEMBER void run(const Product &p) {
    Place at = placeOf<BM, BN, 32>(p);
    int warp = threadX() / 32, lane = threadX() % 32, g = lane / 4, t = lane % 4;
    int wm = warp / ACROSS * WM, wn = warp % ACROSS * WN;
    Sums d = {};
    Step<32> step(p, at);
    int read = 0, write = 0;
    _Pragma("unroll 1") for (int chunk = at.begin - (STAGES - 1); chunk < at.end; chunk++) {
      bool full = chunk >= at.begin; // before, the first stages are filled
      if (full) {
        waitCopies<STAGES - 2>();
        syncThreads();
      }
      if (chunk + STAGES - 1 < at.end) load(p, at, step, sharedAddress(dynamicShared) + write * STAGE * 4);
      commitCopies(); // also of nothing: groups are counted
      step.next(p);
      write = write + 1 == STAGES ? 0 : write + 1;
      if (!full) continue;
      multiply(sharedAddress(dynamicShared) + read * STAGE * 4, wm, wn, d);
      read = read + 1 == STAGES ? 0 : read + 1;
    }
    UNROLL for (int i = 0; i < MB; i++) UNROLL for (int j = 0; j < NB; j++)
      UNROLL for (int r = 0; r < 4; r++) UNROLL for (int h = 0; h < 2; h++) {
        float4 v;
        UNROLL for (int n = 0; n < 4; n++) v[n] = d[i][j][r / 2][n][r % 2 * 2 + h];
        finish(p, at, at.m0 + wm + i * 32 + (g / 2 + g % 2 * 4) * 4 + r, at.n0 + wn + j * 32 + h * 16 + t * 4, v);
      }
  }
};

// On paper: 128×256 holds 128 sums a thread and some 60 other registers, one block a
// multiprocessor, 144 KiB of shared memory; 128×128 64 sums, two blocks of 96 KiB;
// 64×64 32 sums, three blocks of 64 KiB.
#define TENSOR(name, threads, blocks, ...)                                              \
  KERNEL __launch_bounds__(threads, blocks) void name(PRODUCT_PARAMETERS) {             \
    static_assert(Tensor<__VA_ARGS__>::THREADS == threads, "");                         \
    Tensor<__VA_ARGS__>::run(PRODUCT);                                                  \
  }
#define TENSOR_TILES(layout, T)                                                         \
  TENSOR(product##layout##_##T##_64x64, 128, 3, T, layout, 64, 64, 32, 32, 4)           \
  TENSOR(product##layout##_##T##_128x128, 256, 2, T, layout, 128, 128, 32, 64, 3)
#define TENSOR_WIDE(layout, T)                                                          \
  TENSOR(product##layout##_##T##_128x256, 256, 1, T, layout, 128, 256, 64, 64, 3)
