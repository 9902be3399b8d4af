// targets: sm_70
// Convolutions and their gradients as matrix products (implicit GEMM): the windows over
// the images are the rows of a matrix that is never written, but read from the images
// in place. Twin: core/device/cpu/conv.go.
#include "conv.h"

// conv: rows are places, columns outputs, and the sum runs over the window's lines,
// their pixels and channels.
template <typename T> struct Forward {
  View g;
  Patches<T> a;
  Rows<T> b;
  float *out;
  const float *bias;
  u32 row0, col0, rows, outputs, relu;

  DEVICE_MEMBER int chunks() const { return (g.lines * g.pixels * g.channels + T::BK - 1) / T::BK; }
  DEVICE_MEMBER void fetch() {
    a.fetch(g);
    b.fetch(outputs);
  }
  DEVICE_MEMBER void keep(float *chunk) const {
    a.keep(chunk);
    b.keep(chunk + T::BM * T::BK);
  }
  DEVICE_MEMBER float4 finished(u32, u32 col, float4 v) const {
    col += col0;
    v += load(bias + col, outputs, col, true);
    if (relu) UNROLL for (u32 j = 0; j < 4; j++) v[j] = v[j] <= 0.0f ? 0.0f : v[j];
    return v;
  }
  DEVICE_MEMBER void write(u32 row, u32 col, float4 v) const {
    row += row0, col += col0;
    if (row < rows && col < outputs) store(out + (u64)row * outputs + col, outputs, col, v);
  }
};

// conv_dx: a phase of the pixels, those with one remainder modulo the stride, down and
// across. Only every stride-th line and pixel of the window meets them, and what these
// send is a convolution of dz with that part of the window, turned around. Rows are the
// phase's pixels, columns channels, and the sum runs over lines, pixels and outputs.
template <typename T> struct Backward {
  View g;
  Patches<T> a;
  Turned<T> b;
  Window over;
  int top, left; // the phase's first pixel
  float *dx;
  const float *mask;
  u32 row0, col0, rows;

  DEVICE_MEMBER int chunks() const { return (g.lines * g.pixels * g.channels + T::BK - 1) / T::BK; }
  DEVICE_MEMBER void fetch() {
    b.fetch(g, a.tap);
    a.fetch(g);
  }
  DEVICE_MEMBER void keep(float *chunk) const {
    a.keep(chunk);
    b.keep(chunk + T::BM * T::BK);
  }
  // The first number of a row of the product, in dx.
  DEVICE_MEMBER u64 from(u32 row) const {
    if (over.stride == 1) return (u64)row * over.channels;
    Digits at(row, g.down, g.across);
    return (u64)((at.high * over.height + top + at.middle * over.stride) * over.width + left + at.low * over.stride) * over.channels;
  }
  DEVICE_MEMBER float4 finished(u32 row, u32 col, float4 v) const {
    if (!mask) return v;
    row += row0, col += col0;
    float4 keep = load(mask + from(row) + col, over.channels, col, row < rows);
    UNROLL for (u32 j = 0; j < 4; j++) v[j] = keep[j] > 0.0f ? v[j] : 0.0f;
    return v;
  }
  DEVICE_MEMBER void write(u32 row, u32 col, float4 v) const {
    row += row0, col += col0;
    if (row < rows && col < over.channels) store(dx + from(row) + col, over.channels, col, v);
  }
};

// conv_dw: rows are the weights of an output, in the order of the sum of conv, columns
// outputs, and the sum runs over a part of the places of all images.
template <typename T> struct Weights {
  View g;
  Places<T> a;
  Rows<T> b;
  float *partial;
  u32 places, row0, col0, rows, outputs;

  DEVICE_MEMBER int chunks() const { return (places + T::BK - 1) / T::BK; }
  DEVICE_MEMBER void fetch() {
    a.fetch(g);
    b.fetch(outputs);
  }
  DEVICE_MEMBER void keep(float *chunk) const {
    a.keep(chunk);
    b.keep(chunk + T::BM * T::BK);
  }
  DEVICE_MEMBER float4 finished(u32, u32, float4 v) const { return v; }
  DEVICE_MEMBER void write(u32 row, u32 col, float4 v) const {
    row += row0, col += col0;
    if (row < rows && col < outputs) store(partial + (u64)row * outputs + col, outputs, col, v);
  }
};

template <typename T>
DEVICE void convolve(float *out, const float *x, const float *w, const float *b, const Window &over, u32 outputs, u32 relu, u32 images, float *memory) {
  u32 columns = (outputs + T::BN - 1) / T::BN, row0 = blockX() / columns * T::BM, col0 = blockX() % columns * T::BN;
  u32 rows = images * over.places(), sum = over.kernel * over.kernel * over.channels;
  View g = viewOf(over);
  Forward<T> p = {g, Patches<T>(x, g, row0, rows), Rows<T>(w, 0, sum, col0, outputs), out, b, row0, col0, rows, outputs, relu};
  T::run(p, memory);
}

// A side of a phase of remainder r: a pixel at −pad + r + stride·q meets line
// r + stride·j of the windows at place q − j.
struct Side {
  int first, pixels; // the phase's first pixel, and how many it has
  int taps, place;   // how many of the window's lines meet them; the first pixel's first place, of the last of these lines
  DEVICE_MEMBER Side(int r, int side, const Window &g) {
    int stride = g.stride, pad = g.pad, kernel = g.kernel;
    int q = r < pad ? (pad - r + stride - 1) / stride : 0;
    first = r - pad + stride * q;
    pixels = first < side ? (side - 1 - first) / stride + 1 : 0;
    taps = r < kernel ? (kernel - r - 1) / stride + 1 : 0;
    place = q - taps + 1;
  }
};

template <typename T>
DEVICE void convolveBack(float *dx, const float *dz, const float *w, const float *mask, const Window &over, u32 outputs, u32 images, float *memory) {
  int ry = blockY() / over.stride, rx = blockY() % over.stride;
  Side down(ry, over.height, over), across(rx, over.width, over);
  u32 columns = (over.channels + T::BN - 1) / T::BN, row0 = blockX() / columns * T::BM, col0 = blockX() % columns * T::BN;
  u32 rows = images * down.pixels * across.pixels;
  if (row0 >= rows) return;
  View g = {(int)over.down, (int)over.across, (int)outputs, down.pixels, across.pixels, 1, 1, down.place, across.place, down.taps, across.taps};
  Backward<T> p = {g, Patches<T>(dz, g, row0, rows), Turned<T>(w, g, over, ry, rx, col0), over, down.first, across.first, dx, mask, row0, col0, rows};
  T::run(p, memory);
}

// Tiles: 128×32 and 128×64 have 32 sums a thread; of 32×32 there are enough for a
// batch of a few images, and each of its blocks has four groups of threads, which
// divide each chunk of the sum.
#define CONV(tile, blocks, ...)                                                                                         \
  KERNEL __launch_bounds__(Tile<__VA_ARGS__>::THREADS, blocks) void conv_##tile(                                        \
      float *out, const float *__restrict__ x, const float *__restrict__ w, const float *__restrict__ b, WINDOW,        \
      u32 outputs, u32 relu, u32 images) {                                                                              \
    __shared__ __attribute__((aligned(16))) float memory[Tile<__VA_ARGS__>::SHARED];                                    \
    convolve<Tile<__VA_ARGS__>>(out, x, w, b, GIVEN, outputs, relu, images, memory);                                    \
  }                                                                                                                     \
  KERNEL __launch_bounds__(Tile<__VA_ARGS__>::THREADS, blocks) void conv_dx_##tile(                                     \
      float *dx, const float *__restrict__ dz, const float *__restrict__ w, const float *__restrict__ mask, WINDOW,     \
      u32 outputs, u32 images) {                                                                                        \
    __shared__ __attribute__((aligned(16))) float memory[Tile<__VA_ARGS__>::SHARED];                                    \
    convolveBack<Tile<__VA_ARGS__>>(dx, dz, w, mask, GIVEN, outputs, images, memory);                                   \
  }
CONV(128x32, 4, 128, 32, 8, 4, 1, 16)
CONV(128x64, 2, 128, 64, 8, 4, 1, 16)
CONV(32x32, 2, 32, 32, 4, 4, 4, 64)

// A block takes a tile of the weights and a part of the places, blockIdx.y, whose sums
// it writes to partial: conv_parts adds the parts. 96 rows are three taps of 32 channels,
// so that the windows of 3×3 are whole tiles.
KERNEL __launch_bounds__(96, 5) void conv_dw(float *partial, const float *__restrict__ x, const float *__restrict__ dz,
                                             WINDOW, u32 outputs, u32 images, u32 placesOfPart) {
  typedef Tile<96, 32, 8, 4, 1, 12> T;
  __shared__ __attribute__((aligned(16))) float memory[T::SHARED];
  Window over = GIVEN;
  u32 columns = (outputs + T::BN - 1) / T::BN, row0 = blockX() / columns * T::BM, col0 = blockX() % columns * T::BN;
  u32 rows = kernel * kernel * channels, all = images * over.places(), begin = blockY() * placesOfPart;
  u32 end = smaller(begin + placesOfPart, all);
  View g = viewOf(over);
  Weights<T> p = {g, Places<T>(x, g, row0, rows, begin, end), Rows<T>(dz, begin, end, col0, outputs),
                  partial + (u64)blockY() * rows * outputs, end - begin, row0, col0, rows, outputs};
  T::run(p, memory);
}

// Σ of parts of n numbers each, in float64. A block has 32 of the numbers; each of its
// warps adds every eighth part, and the warps' sums are added in order.
KERNEL __launch_bounds__(256) void conv_parts(float *sum, const float *__restrict__ partial, u32 parts, u32 n) {
  __shared__ double sums[8][32];
  u32 lane = threadX() % 32, warp = threadX() / 32, i = blockX() * 32 + lane;
  double s = 0.0;
  if (i < n) {
    UNROLL_BY(8) for (u32 part = warp; part < parts; part += 8) s += (double)partial[(u64)part * n + i];
  }
  sums[warp][lane] = s;
  syncThreads();
  if (warp != 0 || i >= n) return;
  UNROLL for (u32 k = 1; k < 8; k++) s += sums[k][lane];
  sum[i] = (float)s;
}
