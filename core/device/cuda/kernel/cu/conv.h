// What the products of convolutions consist of: tiles of the result, and operands that
// go through registers into shared memory.
#pragma once
#include "window.h"

// Digits are n as high·middle·low of the given sizes: an image, a line and a pixel of
// all pixels, or a line, a pixel and a channel of a window.
struct Digits {
  int high, middle, low;
  DEVICE_MEMBER Digits(u32 n, u32 middles, u32 lows) {
    low = n % lows;
    n /= lows;
    middle = n % middles;
    high = n / middles;
  }
  DEVICE_MEMBER void add(const Digits &d, int middles, int lows) {
    low += d.low, middle += d.middle, high += d.high;
    if (low >= lows) low -= lows, middle++;
    if (middle >= middles) middle -= middles, high++;
  }
  DEVICE_MEMBER void next(int middles, int lows) {
    if (++low < lows) return;
    low = 0;
    if (++middle < middles) return;
    middle = 0, high++;
  }
};

// A View is how a product reads images in NHWC order: for each image there are
// down×across windows, and window (y, x) begins at pixel (y·stepDown + top,
// x·stepAcross + left) and has `lines` lines of `pixels` pixels. Pixels beyond the image
// are 0.
struct View {
  int height, width, channels;
  int down, across, stepDown, stepAcross, top, left;
  int lines, pixels;
};

// viewOf is the View of a window. Where strides divide a line of the image and of the
// window into equal parts, each part counts as one pixel: parts are more often whole
// vectors than pixels are, as with 3 channels and 8×8 windows of stride 4.
DEVICE View viewOf(const Window &g) {
  u32 part = g.pad == 0 && g.width % g.stride == 0 && g.kernel % g.stride == 0 ? g.stride : 1;
  return {(int)g.height, (int)(g.width / part), (int)(g.channels * part), (int)g.down, (int)g.across, (int)g.stride,
          (int)(g.stride / part), -(int)g.pad, -(int)g.pad, (int)g.kernel, (int)(g.kernel / part)};
}

// A coordinate that no line or pixel of a window brings into an image.
constexpr int nowhere = 1 << 30;

DEVICE bool inside(int y, int x, const View &g) { return (u32)y < (u32)g.height && (u32)x < (u32)g.width; }

// loadVector and loadNumber read memory that no kernel writes meanwhile, or give zeros
// without looking at it. They are written out, as the compiler would branch around each.
DEVICE float4 loadVector(const float *from, bool there) {
  float4 v = {0, 0, 0, 0};
  asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n@p ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n}"
               : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3])
               : "l"(from), "r"((u32)there));
  return v;
}
DEVICE float loadNumber(const float *from, bool there) {
  float v = 0;
  asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.global.nc.f32 %0, [%1];\n}" : "+f"(v) : "l"(from), "r"((u32)there));
  return v;
}

// load reads four neighbours of a row of `cols` columns, from column col on.
DEVICE float4 load(const float *from, u32 cols, u32 col, bool there) {
  if (cols % 4 == 0) return loadVector(from, there && col < cols);
  float4 v;
  UNROLL for (u32 j = 0; j < 4; j++) v[j] = loadNumber(from + j, there && col + j < cols);
  return v;
}

// store is its counterpart.
DEVICE void store(float *to, u32 cols, u32 col, float4 v) {
  if (cols % 4 == 0) {
    *(float4 *)to = v;
    return;
  }
  UNROLL for (u32 j = 0; j < 4; j++) if (col + j < cols) to[j] = v[j];
}

// A Tile is a block's part of a result, BM×BN, with TM×TN sums a thread, in chunks of BK
// of the sum. GROUPS groups of threads each work on the whole tile, over their own
// BK/GROUPS of each chunk; at the end the groups' sums are added in order.
//
// Chunks go through registers into shared memory, two of them in turn, as in
// cu/linear.cu: both operands as [k][row or column], with the address XORed by a number
// that depends on k/4 (swizzle). Operands that are read along k are stored as scalars,
// those that are read across k as vectors; the lanes of a warp go to different banks
// (at BK = 64 to 16, twice).
template <int M, int N, int THREAD_M, int THREAD_N, int GROUPS, int K> struct Tile {
  static constexpr int BM = M, BN = N, BK = K, BKG = BK / GROUPS, KV = BK / 4;
  static constexpr int TG = (BM / THREAD_M) * (BN / THREAD_N), THREADS = TG * GROUPS;
  static constexpr int CHUNK = (BM + BN) * BK, PARTS = GROUPS > 1 ? GROUPS * BM * BN : 0;
  static constexpr int SHARED = 2 * CHUNK > PARTS ? 2 * CHUNK : PARTS;

  static DEVICE_MEMBER int swizzle(int k) { return KV == 4 ? 8 * (k / 4 % 4) : KV == 16 ? 4 * (k / 4 % 8) : 0; }
  // swizzled is row + i·APART with the XOR, which leaves multiples of 32 alone.
  template <int APART> static DEVICE_MEMBER int swizzled(int row, int i, int k) {
    return APART % 32 == 0 ? (row ^ swizzle(k)) + i * APART : (row + i * APART) ^ swizzle(k);
  }

  // multiply adds a group's share of a chunk to its sums. A thread's rows are
  // vectors of four, 4·BM/THREAD_M apart, so that neighbours read neighbouring vectors.
  static DEVICE_MEMBER void multiply(const float *chunk, int group, int tx, int ty, float (&sum)[THREAD_M][THREAD_N]) {
    const float *rows = chunk + group * BKG * BM, *cols = chunk + BM * BK + group * BKG * BN;
    UNROLL for (int k0 = 0; k0 < BKG; k0 += 4) {
      int s = swizzle(group * BKG + k0);
      const float *row = rows + k0 * BM + (ty * 4 ^ s), *col = cols + k0 * BN + (tx * 4 ^ s);
      UNROLL for (int k = 0; k < 4; k++) {
        float4 a[THREAD_M / 4], b[THREAD_N / 4];
        UNROLL for (int i = 0; i < THREAD_M / 4; i++) a[i] = *(const float4 *)(row + k * BM + i * (BM / THREAD_M * 4));
        UNROLL for (int j = 0; j < THREAD_N / 4; j++) b[j] = *(const float4 *)(col + k * BN + j * (BN / THREAD_N * 4));
        UNROLL for (int i = 0; i < THREAD_M; i++) UNROLL for (int j = 0; j < THREAD_N; j++)
          sum[i][j] = fma(a[i / 4][i % 4], b[j / 4][j % 4], sum[i][j]);
      }
    }
  }

  static DEVICE_MEMBER int rowOf(int i, int ty) { return i / 4 * (BM / THREAD_M * 4) + ty * 4 + i % 4; }
  static DEVICE_MEMBER int colOf(int j, int tx) { return j * (BN / THREAD_N * 4) + tx * 4; }

  // run computes a block's tile of a product P, which fetches chunks of its operands
  // into registers, keeps them in shared memory, and finishes and writes four
  // neighbours of a row. All reads that finishing needs come before the first write.
  template <typename P> static DEVICE_MEMBER void run(P &p, float *shared) {
    int group = threadX() / TG, in = threadX() % TG, tx = in % (BN / THREAD_N), ty = in / (BN / THREAD_N), chunks = p.chunks();
    float sum[THREAD_M][THREAD_N] = {};
    if (chunks > 0) {
      p.fetch();
      p.keep(shared);
      syncThreads();
    }
    int turn = 0;
    _Pragma("unroll 1") for (int chunk = 1; chunk <= chunks; chunk++) {
      if (chunk < chunks) p.fetch();
      multiply(shared + turn * CHUNK, group, tx, ty, sum);
      turn ^= 1;
      if (chunk < chunks) p.keep(shared + turn * CHUNK);
      syncThreads();
    }
    float4 v[THREAD_M][THREAD_N / 4];
    UNROLL for (int i = 0; i < THREAD_M; i++) UNROLL for (int j = 0; j < THREAD_N / 4; j++) {
      v[i][j] = {sum[i][j * 4], sum[i][j * 4 + 1], sum[i][j * 4 + 2], sum[i][j * 4 + 3]};
      if (GROUPS == 1) v[i][j] = p.finished(rowOf(i, ty), colOf(j, tx), v[i][j]);
    }
    UNROLL for (int i = 0; i < THREAD_M; i++) UNROLL for (int j = 0; j < THREAD_N / 4; j++) {
      if (GROUPS == 1) p.write(rowOf(i, ty), colOf(j, tx), v[i][j]);
      else *(float4 *)(shared + (group * BM + rowOf(i, ty)) * BN + colOf(j, tx)) = v[i][j];
    }
    if (GROUPS == 1) return;
    syncThreads();
    for (int i = threadX() * 4; i < BM * BN; i += THREADS * 4) {
      float4 total = *(const float4 *)(shared + i);
      UNROLL for (int g = 1; g < GROUPS; g++) total += *(const float4 *)(shared + g * BM * BN + i);
      p.write(i / BN, i % BN, p.finished(i / BN, i % BN, total));
    }
  }
};

// Patches is the operand whose rows are the windows of a View: row by row, along their
// lines, pixels and channels. Channels are neighbours in memory, and so are the pixels of
// a line. A thread has four neighbours of each of its windows.
template <typename T> struct Patches {
  static constexpr int APART = T::THREADS / T::KV, COUNT = T::BM / APART;
  static_assert(APART * COUNT == T::BM, "every thread loads as much");
  const float *images;
  int top[COUNT], left[COUNT]; // where the windows begin
  u32 base[COUNT];             // from images on
  Digits tap, step;            // of the next chunk: where in the window, and how far to the one after
  float4 v[COUNT];

  DEVICE_MEMBER Patches(const float *images, const View &g, u32 row0, u32 rows)
      : images(images), tap(threadX() % T::KV * 4, larger(g.pixels, 1), g.channels),
        step(g.channels % 4 == 0 ? T::BK : T::BK - 4, larger(g.pixels, 1), g.channels) {
    UNROLL for (int i = 0; i < COUNT; i++) {
      u32 row = row0 + threadX() / T::KV + i * APART;
      Digits at(row, g.down, g.across);
      top[i] = at.middle * g.stepDown + g.top, left[i] = at.low * g.stepAcross + g.left;
      base[i] = (((u32)at.high * g.height + top[i]) * g.width + left[i]) * g.channels;
      if (row >= rows) top[i] = nowhere;
    }
  }

  DEVICE_MEMBER bool has(int i, const View &g) const {
    return tap.high < g.lines && inside(top[i] + tap.high, left[i] + tap.middle, g);
  }
  DEVICE_MEMBER const float *at(int i, const View &g) const {
    return images + (base[i] + (u32)((tap.high * g.width + tap.middle) * g.channels + tap.low));
  }

  DEVICE_MEMBER void fetch(const View &g) {
    if (g.channels % 4 == 0) {
      UNROLL for (int i = 0; i < COUNT; i++) v[i] = loadVector(at(i, g), has(i, g));
    } else {
      UNROLL for (int j = 0; j < 4; j++) {
        UNROLL for (int i = 0; i < COUNT; i++) v[i][j] = loadNumber(at(i, g), has(i, g));
        tap.next(g.pixels, g.channels);
      }
    }
    tap.add(step, g.pixels, g.channels);
  }

  DEVICE_MEMBER void keep(float *chunk) const {
    int k = threadX() % T::KV * 4, row = threadX() / T::KV;
    UNROLL for (int i = 0; i < COUNT; i++) UNROLL for (int j = 0; j < 4; j++)
      chunk[(k + j) * T::BM + T::template swizzled<APART>(row, i, k)] = v[i][j];
  }
};

// Turned is the operand that goes with Patches of dz: the window's weights, from the
// phase's last line and pixel to its first, along the outputs; columns are channels.
template <typename T> struct Turned {
  static constexpr int APART = T::THREADS / T::KV, COUNT = T::BN / APART;
  static_assert(APART * COUNT == T::BN, "every thread loads as much");
  const float *weights;
  u32 last[COUNT]; // where the weights of the last tap begin; beyond the columns, those of the last one
  u32 line, pixel; // from a line, or a pixel, of the phase to the next
  float4 v[COUNT];

  DEVICE_MEMBER Turned(const float *weights, const View &g, const Window &over, int ry, int rx, u32 col0) : weights(weights) {
    pixel = over.stride * over.channels * g.channels, line = over.kernel * pixel;
    u32 tap = (ry + (g.lines - 1) * over.stride) * over.kernel + rx + (g.pixels - 1) * over.stride;
    UNROLL for (int i = 0; i < COUNT; i++) {
      u32 col = smaller(col0 + threadX() / T::KV + i * APART, over.channels - 1);
      last[i] = (tap * over.channels + col) * g.channels;
    }
  }

  DEVICE_MEMBER const float *at(int i, const Digits &tap) const {
    return weights + (u32)(last[i] - tap.high * line - tap.middle * pixel + tap.low);
  }

  DEVICE_MEMBER void fetch(const View &g, Digits tap) {
    if (g.channels % 4 == 0) {
      UNROLL for (int i = 0; i < COUNT; i++) v[i] = loadVector(at(i, tap), tap.high < g.lines);
      return;
    }
    UNROLL for (int j = 0; j < 4; j++) {
      UNROLL for (int i = 0; i < COUNT; i++) v[i][j] = loadNumber(at(i, tap), tap.high < g.lines);
      tap.next(g.pixels, g.channels);
    }
  }

  DEVICE_MEMBER void keep(float *chunk) const {
    int k = threadX() % T::KV * 4, col = threadX() / T::KV;
    UNROLL for (int i = 0; i < COUNT; i++) UNROLL for (int j = 0; j < 4; j++)
      chunk[(k + j) * T::BN + T::template swizzled<APART>(col, i, k)] = v[i][j];
  }
};

// Rows is the operand that is a matrix in memory, from row begin to row end, which the
// sum goes over.
template <typename T> struct Rows {
  static constexpr int VECTORS = T::BN / 4, APART = T::THREADS / VECTORS, COUNT = T::BK / APART;
  static_assert(APART * COUNT == T::BK, "every thread loads as much");
  const float *at;
  u32 col;
  int left; // rows
  float4 v[COUNT];

  DEVICE_MEMBER Rows(const float *matrix, u32 begin, u32 end, u32 col0, u32 cols) {
    u32 k = threadX() / VECTORS;
    col = col0 + threadX() % VECTORS * 4;
    at = matrix + (u64)(begin + k) * cols + col;
    left = (int)(end - begin - k);
  }

  DEVICE_MEMBER void fetch(u32 cols) {
    UNROLL for (int i = 0; i < COUNT; i++) v[i] = load(at + (u64)(i * APART) * cols, cols, col, i * APART < left);
    at += (u64)T::BK * cols, left -= T::BK;
  }

  DEVICE_MEMBER void keep(float *chunk) const {
    int k = threadX() / VECTORS, col = threadX() % VECTORS * 4;
    UNROLL for (int i = 0; i < COUNT; i++)
      *(float4 *)(chunk + (k + i * APART) * T::BN + (col ^ T::swizzle(k + i * APART))) = v[i];
  }
};

// Places is the operand whose columns are the windows of a View, which the sum goes over
// from place begin to place end. A thread has four neighbours in the window, of which
// each has its own place where channels are not whole vectors.
template <typename T> struct Places {
  static constexpr int VECTORS = T::BM / 4, APART = T::THREADS / VECTORS, COUNT = T::BK / APART;
  static_assert(APART * COUNT == T::BK, "every thread loads as much");
  const float *images;
  Digits place, step; // the next place, and how far it is to the one after
  int remaining;      // places
  int top[4], left[4];
  u32 base[4];
  float4 v[COUNT];

  DEVICE_MEMBER Places(const float *images, const View &g, u32 row0, u32 rows, u32 begin, u32 end)
      : images(images), place(begin + threadX() / VECTORS, g.down, g.across), step(APART, g.down, g.across),
        remaining((int)(end - begin - threadX() / VECTORS)) {
    UNROLL for (u32 j = 0; j < 4; j++) {
      u32 row = row0 + threadX() % VECTORS * 4 + j;
      Digits tap(row, g.pixels, g.channels);
      top[j] = g.top + tap.high, left[j] = g.left + tap.middle;
      base[j] = (u32)((top[j] * g.width + left[j]) * g.channels + tap.low);
      if (row >= rows) top[j] = nowhere;
    }
  }

  DEVICE_MEMBER void fetch(const View &g) {
    UNROLL for (int i = 0; i < COUNT; i++) {
      int y = place.middle * g.stepDown, x = place.low * g.stepAcross;
      const float *image = images + (i64)(int)((((u32)place.high * g.height + y) * g.width + x) * g.channels);
      bool there = remaining > 0;
      if (g.channels % 4 == 0) v[i] = loadVector(image + (int)base[0], there && inside(y + top[0], x + left[0], g));
      else UNROLL for (int j = 0; j < 4; j++) v[i][j] = loadNumber(image + (int)base[j], there && inside(y + top[j], x + left[j], g));
      place.add(step, g.down, g.across);
      remaining -= APART;
    }
  }

  DEVICE_MEMBER void keep(float *chunk) const {
    int k = threadX() / VECTORS, row = threadX() % VECTORS * 4;
    UNROLL for (int i = 0; i < COUNT; i++)
      *(float4 *)(chunk + (k + i * APART) * T::BM + row) = v[i];
  }
};
