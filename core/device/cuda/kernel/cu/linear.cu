// targets: sm_70
// Matrix products in float32 without tensor cores: layers, their gradients, sums
// over rows. Twins: core/device/cpu/linear.go and linear_joined.go.
#include "product.h"

// product computes a tile of BM×BN in blocks of BK of the sum. A block has GROUPS
// groups of threads; each works on the whole tile, THREAD_M×THREAD_N a thread, over its own
// BK/GROUPS of every chunk, and at the end the groups' sums are added in order. So
// small tiles, of which there are enough for all multiprocessors, still have eight
// warps to hide latencies with.
//
// Chunks go through registers into shared memory, two of them in turn: the loads of
// the next are under way while this one is multiplied, and one barrier a chunk is
// enough. Shared memory holds both operands as [k][row or column], with the address
// XORed by a number that depends on k/4 alone (swizzle below):
//   - an operand whose rows run along k is stored as scalars; the 32 lanes of a warp
//     hold 32/KV rows of KV vectors, and go to 32 different banks;
//   - one whose rows run across k is stored as vectors, 8 lanes to 32 banks;
//   - reads are vectors, of which a warp has at most 8 different ones, in one row.
//
// On paper: 128×128 needs about 128 registers for 256 threads,
// two blocks a multiprocessor; the others about 64, with 24 to 32 KiB shared memory:
// four blocks and more. Each reads two vectors of shared memory for 16 products
// (64 for four at 128×128), at or above the ratio of the units' rates.
template <Layout LAYOUT, int BM, int BN, int THREAD_M, int THREAD_N, int GROUPS, int BK> struct Simt {
  static constexpr int TG = (BM / THREAD_M) * (BN / THREAD_N), THREADS = TG * GROUPS, BKG = BK / GROUPS;
  static constexpr int CHUNK = (BM + BN) * BK, PARTS = GROUPS > 1 ? GROUPS * BM * BN : 0;
  static constexpr int SHARED = 2 * CHUNK > PARTS ? 2 * CHUNK : PARTS;
  static constexpr int KV = BK / 4 < 8 ? BK / 4 : 8; // lanes along k in loads of rows along k
  static constexpr int NA = BM * BK / 4 / THREADS, NB = BN * BK / 4 / THREADS;
  static_assert(NA * THREADS * 4 == BM * BK && NB * THREADS * 4 == BN * BK, "every thread loads as much");

  static DEVICE_MEMBER int swizzle(int k) { return 32 / KV * (k / 4 % KV); }

  static DEVICE_MEMBER Place place(const Product &p) { return placeOf<BM, BN, BK>(p); }
  static DEVICE_MEMBER Place place(const Product &p, int block) { return placeOf<BM, BN, BK>(p, block); }

  // Vector i of a thread, of an operand of R rows or columns: where it stands in
  // the chunk.
  struct Vector {
    int row, k;
  };
  template <int R, bool ALONG> static DEVICE_MEMBER Vector vector(int i, int thread) {
    int v = i * THREADS + thread;
    if (ALONG) return {v / KV % R, (v / (KV * R) * KV + v % KV) * 4};
    return {v % (R / 4) * 4, v / (R / 4)};
  }

  // load reads four neighbours, zero where there are none.
  static DEVICE_MEMBER float4 load(Row r, bool inside, u32 wide) {
    float4 v = {0, 0, 0, 0};
    if (!inside || r.left <= 0) return v;
    if (wide) return *(const float4 *)r.at;
    UNROLL for (int j = 0; j < 4; j++) if (j < r.left) v[j] = r.at[j];
    return v;
  }

  static DEVICE_MEMBER float4 loadA(const Product &p, const float *a, const float *a2, int m, int k) {
    float4 v = {0, 0, 0, 0};
    int row = LAYOUT == TN ? k : m, col = LAYOUT == TN ? m : k;
    int rows = LAYOUT == TN ? p.k : p.m, cols = LAYOUT == TN ? p.m : p.k;
    if (row >= rows || col >= cols) return v;
    if (p.flags & WIDE_A) return *(const float4 *)rowOf(a, a2, p.first, cols, row, col).at;
    UNROLL for (int j = 0; j < 4; j++) if (col + j < cols) v[j] = *rowOf(a, a2, p.first, cols, row, col + j).at;
    return v;
  }

  static DEVICE_MEMBER float4 loadB(const Product &p, const float *b, int n, int k) {
    if (LAYOUT == NT) return load({b + (i64)n * p.k + k, p.k - k}, n < p.n, p.flags & WIDE_B);
    return load({b + (i64)k * p.n + n, p.n - n}, k < p.k, p.flags & WIDE_B);
  }

  template <int R, bool ALONG> static DEVICE_MEMBER void store(float *tile, Vector at, float4 v) {
    if (ALONG) {
      UNROLL for (int j = 0; j < 4; j++) tile[((at.k + j) * R + at.row) ^ swizzle(at.k)] = v[j];
    } else {
      *(float4 *)(tile + ((at.k * R + at.row) ^ swizzle(at.k))) = v;
    }
  }

  static constexpr bool ALONG_A = LAYOUT != TN, ALONG_B = LAYOUT == NT;

  static DEVICE_MEMBER void fetch(const Product &p, const Place &at, const Step<BK> &s, float4 (&va)[NA],
                                  float4 (&vb)[NB]) {
    int thread = threadX();
    const float *a = p.a + (at.member + s.e) * p.strideA, *a2 = p.a2 + (at.member + s.e) * p.strideA2;
    const float *b = p.b + (at.weights + s.e) * p.strideB;
    UNROLL for (int i = 0; i < NA; i++) {
      Vector v = vector<BM, ALONG_A>(i, thread);
      va[i] = loadA(p, a, a2, at.m0 + v.row, s.k0 + v.k);
    }
    UNROLL for (int i = 0; i < NB; i++) {
      Vector v = vector<BN, ALONG_B>(i, thread);
      vb[i] = loadB(p, b, at.n0 + v.row, s.k0 + v.k);
    }
  }

  static DEVICE_MEMBER void keep(float *tile, const float4 (&va)[NA], const float4 (&vb)[NB]) {
    int thread = threadX();
    UNROLL for (int i = 0; i < NA; i++) store<BM, ALONG_A>(tile, vector<BM, ALONG_A>(i, thread), va[i]);
    UNROLL for (int i = 0; i < NB; i++) store<BN, ALONG_B>(tile + BM * BK, vector<BN, ALONG_B>(i, thread), vb[i]);
  }

  // multiply adds a group's share of a chunk to its sums. A thread's rows are
  // vectors of four, 4·BM/THREAD_M apart, so that neighbours read neighbouring vectors.
  static DEVICE_MEMBER void multiply(const float *tile, int group, int tx, int ty, float (&sum)[THREAD_M][THREAD_N]) {
    UNROLL for (int kk = 0; kk < BKG; kk++) {
      int k = group * BKG + kk, s = swizzle(k);
      float4 a[THREAD_M / 4], b[THREAD_N / 4];
      UNROLL for (int i = 0; i < THREAD_M / 4; i++) a[i] = *(const float4 *)(tile + ((k * BM + i * (BM / THREAD_M * 4) + ty * 4) ^ s));
      UNROLL for (int j = 0; j < THREAD_N / 4; j++)
        b[j] = *(const float4 *)(tile + BM * BK + ((k * BN + j * (BN / THREAD_N * 4) + tx * 4) ^ s));
      UNROLL for (int i = 0; i < THREAD_M; i++) UNROLL for (int j = 0; j < THREAD_N; j++)
        sum[i][j] = fma(a[i / 4][i % 4], b[j / 4][j % 4], sum[i][j]);
    }
  }

  static DEVICE_MEMBER void run(const Product &p, const Place &at, float *shared) {
    int thread = threadX(), group = thread / TG, in = thread % TG, tx = in % (BN / THREAD_N), ty = in / (BN / THREAD_N);
    float sum[THREAD_M][THREAD_N] = {};
    float4 va[NA], vb[NB];
    if (at.begin < at.end) {
      Step<BK> step(p, at);
      fetch(p, at, step, va, vb);
      keep(shared, va, vb);
      syncThreads();
      int turn = 0;
      _Pragma("unroll 1") for (int chunk = at.begin; chunk < at.end; chunk++) {
        bool more = chunk + 1 < at.end;
        step.next(p);
        if (more) fetch(p, at, step, va, vb);
        multiply(shared + turn * CHUNK, group, tx, ty, sum);
        turn ^= 1;
        if (more) keep(shared + turn * CHUNK, va, vb);
        syncThreads();
      }
    }
    if (GROUPS == 1) {
      UNROLL for (int i = 0; i < THREAD_M; i++) UNROLL for (int j = 0; j < THREAD_N; j += 4)
        finish(p, at, at.m0 + i / 4 * (BM / THREAD_M * 4) + ty * 4 + i % 4, at.n0 + j / 4 * (BN / THREAD_N * 4) + tx * 4,
               float4{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]});
      return;
    }
    addGroups(p, at, shared, group, tx, ty, sum);
  }

  static DEVICE_MEMBER void addGroups(const Product &p, const Place &at, float *shared, int group, int tx, int ty,
                                      const float (&sum)[THREAD_M][THREAD_N]) {
    UNROLL for (int i = 0; i < THREAD_M; i++) UNROLL for (int j = 0; j < THREAD_N; j += 4) {
      int row = i / 4 * (BM / THREAD_M * 4) + ty * 4 + i % 4, col = j / 4 * (BN / THREAD_N * 4) + tx * 4;
      *(float4 *)(shared + (group * BM + row) * BN + col) = float4{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
    }
    syncThreads();
    for (int v = threadX(); v < BM * BN / 4; v += THREADS) {
      float4 total = *(const float4 *)(shared + v * 4);
      UNROLL for (int g = 1; g < GROUPS; g++) total += *(const float4 *)(shared + g * BM * BN + v * 4);
      finish<true>(p, at, at.m0 + v * 4 / BN, at.n0 + v * 4 % BN, total);
    }
  }
};

#define SIMT(name, ...)                                                                                \
  KERNEL __launch_bounds__(256) void name(PRODUCT_PARAMETERS) {                                        \
    __shared__ __attribute__((aligned(16))) float memory[Simt<__VA_ARGS__>::SHARED];                   \
    static_assert(Simt<__VA_ARGS__>::THREADS == 256, "");                                              \
    Product p = PRODUCT;                                                                               \
    Simt<__VA_ARGS__>::run(p, Simt<__VA_ARGS__>::place(p), memory);                                    \
  }
#define SIMT_TILES(layout)                                 \
  SIMT(product##layout##_16x32, layout, 16, 32, 4, 4, 8, 64)   \
  SIMT(product##layout##_32x32, layout, 32, 32, 4, 4, 4, 64)   \
  SIMT(product##layout##_64x64, layout, 64, 64, 8, 4, 2, 32)   \
  SIMT(product##layout##_128x128, layout, 128, 128, 8, 8, 1, 16)
SIMT_TILES(NN)
SIMT_TILES(NT)
SIMT_TILES(TN)

// Products of different sizes in one launch, without anything after them: rows of 14 words of a table, {blocks before, c, a, a2, b, m, n, k,
// first, strideA, strideA2, strideB, strideC, flags}.
const u32 productWords = 14;
DEVICE Product productOf(const u64 *row) {
  return {(float *)row[1], (const float *)row[2], (const float *)row[3], (const float *)row[4], 0, 0, 0, 0,
          (int)row[5], (int)row[6], (int)row[7], (int)row[8], (i64)row[9], (i64)row[10], (i64)row[11], 0, (i64)row[12], 0, 1, 1, 0, (u32)row[13]};
}
#define SEVERAL_PRODUCTS(name, ...)                                                                    \
  KERNEL __launch_bounds__(256) void name(const u64 *table, u32 rows) {                                \
    __shared__ __attribute__((aligned(16))) float memory[Simt<__VA_ARGS__>::SHARED];                   \
    u32 low = 0, high = rows;                                                                          \
    while (high - low > 1) {                                                                           \
      u32 middle = (low + high) / 2;                                                                   \
      if (table[productWords * middle] <= blockX()) low = middle;                                      \
      else high = middle;                                                                              \
    }                                                                                                  \
    const u64 *row = table + productWords * low;                                                       \
    Product p = productOf(row);                                                                        \
    Simt<__VA_ARGS__>::run(p, Simt<__VA_ARGS__>::place(p, (int)(blockX() - row[0])), memory);          \
  }
SEVERAL_PRODUCTS(productsTN_16x32, TN, 16, 32, 4, 4, 8, 64)
SEVERAL_PRODUCTS(productsTN_32x32, TN, 32, 32, 4, 4, 4, 64)
SEVERAL_PRODUCTS(productsTN_64x64, TN, 64, 64, 8, 4, 2, 32)
SEVERAL_PRODUCTS(productsTN_128x128, TN, 128, 128, 8, 8, 1, 16)

// Sum adds the parts of a divided sum in order, and finishes the result. size is
// the elements of a member, members·size those of a part.
struct Sum {
  float *c;
  const float *parts, *bias, *mask, *index;
  const u64 *after;
  i64 members, size;
  int n, splits;
  u32 flags;
};

template <int WIDTH> DEVICE void addParts(const Sum &p) {
  i64 total = p.members * p.size;
  for (i64 i = firstElement() * WIDTH; i < total; i += elementStride() * WIDTH) {
    float v[WIDTH] = {};
    for (int s = 0; s < p.splits; s++) {
      if (WIDTH == 4) {
        float4 part = *(const float4 *)(p.parts + s * total + i);
        UNROLL for (int j = 0; j < WIDTH; j++) v[j] += part[j];
      } else {
        v[0] += p.parts[s * total + i];
      }
    }
    i64 e = i / p.size;
    int col = (int)(i - e * p.size) % p.n;
    if (p.index) e = (int)p.index[e];
    UNROLL for (int j = 0; j < WIDTH; j++) {
      if (p.bias) v[j] += p.bias[e * p.n + col + j];
      if (p.flags & RELU) v[j] = relu(v[j]);
      if (p.mask && !(p.mask[i + j] > 0)) v[j] = 0;
      if (!p.after) p.c[i + j] = v[j];
    }
    if (!p.after) continue;
    float4 some = {0, 0, 0, 0};
    UNROLL for (int j = 0; j < WIDTH; j++) some[j] = v[j];
    follow(p.after, i, WIDTH, some);
  }
}

// c ← finish(Σ parts)
KERNEL __launch_bounds__(256) void finish_product(float *c, const float *__restrict__ parts,
                                                  const float *__restrict__ bias, const float *__restrict__ mask,
                                                  const float *__restrict__ index, const u64 *after, i64 members,
                                                  i64 size, int n, int splits, u32 flags) {
  Sum p = {c, parts, bias, mask, index, after, members, size, n, splits, flags};
  if (flags & WIDE_C) addParts<4>(p);
  else addParts<1>(p);
}
