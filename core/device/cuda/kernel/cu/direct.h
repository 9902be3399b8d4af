// Matrix products of Hopper's warpgroups on float32 operands as they stand in memory, for products
// whose operands are read too few times to be packed first (packed.go).
//
// A block computes 128×128 of the result, each of its two warpgroups 64 rows, 64 of the sum at a
// time: what a thread loads of the next 64 is under way while those before are multiplied, is
// rounded, and goes to shared memory as packed.h says.
#pragma once
#include "wgmma.h"

// Lines is an operand as it stands in memory: the first of its columns in a, the others in a2.
struct Lines {
  const float *a, *a2;
  int rows, cols, first;
  bool wide; // rows are whole vectors
};

constexpr int DEPTH = 64; // of the sum

// Loads of TILE rows of an operand by 256 threads: 32 numbers each. ALONG: the operand's lines run
// along the sum, else across it.
template <typename T, bool ALONG> struct Loads {
  static constexpr int TILE = 128, THREADS = 256, NUMBERS = TILE * DEPTH / THREADS, PIECES = NUMBERS / T::VECTOR;
  static constexpr int LINE = DEPTH / T::VECTOR; // vectors of a row

  // Vector i of a thread: its row, and its number in the row.
  static DEVICE_MEMBER int row(int i) { return ALONG ? (threadX() + i * THREADS) / LINE : threadX() % TILE; }
  static DEVICE_MEMBER int vector(int i) { return ALONG ? (threadX() + i * THREADS) % LINE : threadX() / TILE * PIECES + i; }

  // start loads what begins at row r0 of the result and at k0.
  static DEVICE_MEMBER void start(float (&x)[NUMBERS], const Lines &m, int r0, int k0) {
    UNROLL for (int i = 0; i < NUMBERS; i++) x[i] = 0.0f;
    if (!ALONG) {
      int col = r0 + row(0), k = k0 + vector(0) * T::VECTOR;
      if (col >= m.cols) return;
      i64 pitch = col < m.first ? m.first : m.cols - m.first;
      const float *from = (col < m.first ? m.a + col : m.a2 + (col - m.first)) + k * pitch;
      UNROLL for (int i = 0; i < NUMBERS; i++, from += pitch) if (k + i < m.rows) x[i] = *from;
      return;
    }
    if (m.wide) {
      UNROLL for (int i = 0; i < PIECES; i++) UNROLL for (int j = 0; j < T::VECTOR; j += 4) {
        int line = r0 + row(i), k = k0 + vector(i) * T::VECTOR + j;
        if (line >= m.rows || k >= m.cols) continue;
        float4 v = *(const float4 *)rowOf(m.a, m.a2, m.first, m.cols, line, k).at;
        UNROLL for (int l = 0; l < 4; l++) x[i * T::VECTOR + j + l] = v[l];
      }
      return;
    }
    UNROLL for (int i = 0; i < NUMBERS; i++) {
      int line = r0 + row(i / T::VECTOR), k = k0 + vector(i / T::VECTOR) * T::VECTOR + i % T::VECTOR;
      if (line < m.rows && k < m.cols) x[i] = *rowOf(m.a, m.a2, m.first, m.cols, line, k).at;
    }
  }

  // finish writes what was loaded to shared memory: chunks of 128 bytes of the sum, one behind the
  // other.
  static DEVICE_MEMBER void finish(const float (&x)[NUMBERS], char *to) {
    UNROLL for (int i = 0; i < PIECES; i++) {
      u32 r = row(i), c = vector(i);
      *(uint4 *)(to + placeOfVector(c / 8 * TILE + r, r, c % 8) * 16) = T::vector(x + i * T::VECTOR);
    }
  }
};

template <typename T, Layout LAYOUT> struct Direct {
  static constexpr int BM = 128, BN = 128, SUMS = BN / 2, CHUNKS = DEPTH / T::K, OPERAND = CHUNKS * 128 * 128, STAGE = 2 * OPERAND;
  typedef Loads<T, LAYOUT != TN> LoadsA;
  typedef Loads<T, LAYOUT == NT> LoadsB;

  static DEVICE_MEMBER void start(const Product &p, const Place &at, const Step<DEPTH> &s, float (&a)[LoadsA::NUMBERS], float (&b)[LoadsB::NUMBERS]) {
    const float *a1 = p.a + (at.member + s.e) * p.strideA, *a2 = p.a2 + (at.member + s.e) * p.strideA2, *w = p.b + (at.weights + s.e) * p.strideB;
    Lines x = {a1, a2, p.m, p.k, p.first, (p.flags & WIDE_A) != 0}, y = {w, w, p.k, p.n, p.n, (p.flags & WIDE_B) != 0};
    if (LAYOUT == TN) x.rows = p.k, x.cols = p.m;
    if (LAYOUT == NT) y.rows = p.n, y.cols = y.first = p.k;
    LoadsA::start(a, x, at.m0, s.k0);
    LoadsB::start(b, y, at.n0, s.k0);
  }

  static DEVICE_MEMBER void multiplyAll(u32 stage, float (&d)[SUMS]) {
    u64 from = descriptorOf(stage + threadX() / 128 * 64 * 128), by = descriptorOf(stage + OPERAND);
    fenceSums();
    UNROLL for (int c = 0; c < CHUNKS; c++) UNROLL for (int k = 0; k < 4; k++)
      multiply<T, SUMS>(d, from + c * (128 * 128 / 16) + k * 2, by + c * (128 * 128 / 16) + k * 2);
    commitProducts();
  }

  static DEVICE_MEMBER void run(const Product &p) {
    Place at = placeOf<BM, BN, DEPTH>(p);
    float d[SUMS], a[LoadsA::NUMBERS], b[LoadsB::NUMBERS];
    UNROLL for (int i = 0; i < SUMS; i++) d[i] = 0.0f;
    Step<DEPTH> step(p, at);
    if (at.begin < at.end) start(p, at, step, a, b);
    char *shared = (char *)dynamicShared;
    int stage = 0; // of two: the other one is written while one is read
    _Pragma("unroll 1") for (int chunk = at.begin; chunk < at.end; chunk++) {
      LoadsA::finish(a, shared + stage);
      LoadsB::finish(b, shared + stage + OPERAND);
      fenceCopies();
      syncThreads();
      multiplyAll(sharedAddress(shared + stage), d);
      step.next(p);
      if (chunk + 1 < at.end) start(p, at, step, a, b);
      waitProducts<0>();
      stage = STAGE - stage;
    }
    finishTogether<T, BN>(p, at, d);
  }
};

#define DIRECT(T, LAYOUT) \
  KERNEL __launch_bounds__(256, 1) void product##LAYOUT##_direct_##T##_128x128(PRODUCT_PARAMETERS) { Direct<T, LAYOUT>::run(PRODUCT); }
