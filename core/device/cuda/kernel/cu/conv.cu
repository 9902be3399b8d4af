// targets: sm_70
// Windows that move over images: convolutions, their gradients, and pooling, each in
// its plain form, a thread for each number of the result. Twins:
// core/device/cpu/conv.go, maxpool.go.
//
// Every number is one thread's sum, in an order that the geometry alone decides; that of
// the weights is one of parts of the images, which a second launch adds in order.
#include "math.h"

// An image in NHWC order, the window over it, and the places that it takes, down and
// across (package window).
struct Window {
  u32 height, width, channels, kernel, stride, pad, down, across;
  __device__ u32 size() const { return height * width * channels; }
  __device__ u32 places() const { return down * across; }
};
#define WINDOW u32 height, u32 width, u32 channels, u32 kernel, u32 stride, u32 pad, u32 down, u32 across
#define GIVEN Window{height, width, channels, kernel, stride, pad, down, across}

// Coordinates left of an image or above it are beyond its side, as unsigned numbers.
DEVICE u32 pixelAt(u32 place, u32 tap, const Window &g) { return place * g.stride + tap - g.pad; }

// A window's first place that covers a pixel, of one side: places before it end too soon.
DEVICE u32 firstPlace(u32 pixel, const Window &g) {
  u32 at = pixel + g.pad;
  return at < g.kernel ? 0 : (at - g.kernel) / g.stride + 1;
}

// b + Σ x·w, over lines of the window, their pixels and channels, in this order
KERNEL void conv(float *out, const float *x, const float *w, const float *b, WINDOW, u32 outputs, u32 relu, u32 n) {
  Window g = GIVEN;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 o = i % outputs, place = i / outputs % g.places(), image = i / outputs / g.places();
    const float *from = x + (u64)image * g.size();
    float sum = 0.0f;
    for (u32 ky = 0; ky < g.kernel; ky++) {
      u32 py = pixelAt(place / g.across, ky, g);
      if (py >= g.height) continue;
      for (u32 kx = 0; kx < g.kernel; kx++) {
        u32 px = pixelAt(place % g.across, kx, g);
        if (px >= g.width) continue;
        const float *pixel = from + (py * g.width + px) * g.channels, *row = w + (ky * g.kernel + kx) * g.channels * outputs + o;
        for (u32 c = 0; c < g.channels; c++) sum = fma(pixel[c], row[c * outputs], sum);
      }
    }
    sum += b[o];
    out[i] = relu && sum <= 0.0f ? 0.0f : sum;
  }
}

// What the windows over a pixel send back: by places down, places across and outputs;
// 0 where mask, if there is one, is not positive
KERNEL void conv_dx(float *dx, const float *dz, const float *w, const float *mask, WINDOW, u32 outputs, u32 n) {
  Window g = GIVEN;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 c = i % g.channels, px = i / g.channels % g.width, py = i / g.channels / g.width % g.height;
    const float *from = dz + (u64)(i / g.size()) * g.places() * outputs;
    float sum = 0.0f;
    for (u32 oy = firstPlace(py, g); oy < g.down && oy * g.stride <= py + g.pad; oy++) {
      u32 ky = py + g.pad - oy * g.stride;
      for (u32 ox = firstPlace(px, g); ox < g.across && ox * g.stride <= px + g.pad; ox++) {
        u32 kx = px + g.pad - ox * g.stride;
        const float *slope = from + (oy * g.across + ox) * outputs, *row = w + ((ky * g.kernel + kx) * g.channels + c) * outputs;
        for (u32 o = 0; o < outputs; o++) sum = fma(slope[o], row[o], sum);
      }
    }
    dx[i] = mask && !(mask[i] > 0.0f) ? 0.0f : sum;
  }
}

// Σ x·dz of one part of the images, blockY of gridY: float32 over the places of an image,
// float64 over images. A thread has a weight; n is their number.
KERNEL void conv_dw(double *partial, const float *x, const float *dz, WINDOW, u32 outputs, u32 images, u32 n) {
  Window g = GIVEN;
  u32 i = blockX() * blockDim() + threadX();
  if (i >= n) return;
  u32 o = i % outputs, c = i / outputs % g.channels, tap = i / outputs / g.channels;
  u32 end = (u32)((u64)images * (blockY() + 1) / gridY());
  double sum = 0.0;
  for (u32 image = (u32)((u64)images * blockY() / gridY()); image < end; image++) {
    const float *from = x + (u64)image * g.size() + c, *slope = dz + (u64)image * g.places() * outputs + o;
    float own = 0.0f;
    for (u32 oy = 0; oy < g.down; oy++) {
      u32 py = pixelAt(oy, tap / g.kernel, g);
      if (py >= g.height) continue;
      for (u32 ox = 0; ox < g.across; ox++) {
        u32 px = pixelAt(ox, tap % g.kernel, g);
        if (px < g.width) own = fma(from[(py * g.width + px) * g.channels], slope[(oy * g.across + ox) * outputs], own);
      }
    }
    sum += (double)own;
  }
  partial[(u64)blockY() * n + i] = sum;
}

KERNEL void conv_dw_end(float *dw, const double *partial, u32 parts, u32 n) {
  u32 i = blockX() * blockDim() + threadX();
  if (i >= n) return;
  double sum = 0.0;
  for (u32 part = 0; part < parts; part++) sum += partial[(u64)part * n + i];
  dw[i] = (float)sum;
}

// Where the largest number of a window is, from the image's first number of the channel
// on: the first of equals, and NaN is larger than anything.
DEVICE u32 largestOf(const float *from, u32 oy, u32 ox, const Window &g) {
  u32 best = 0;
  bool none = true;
  for (u32 ky = 0; ky < g.kernel; ky++) {
    u32 py = pixelAt(oy, ky, g);
    if (py >= g.height) continue;
    for (u32 kx = 0; kx < g.kernel; kx++) {
      u32 px = pixelAt(ox, kx, g);
      if (px >= g.width) continue;
      u32 at = (py * g.width + px) * g.channels;
      if (none || from[at] > from[best] || from[at] != from[at]) best = at;
      none = false;
    }
  }
  return best;
}

KERNEL void max_pool(float *out, const float *x, WINDOW, u32 n) {
  Window g = GIVEN;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 place = i / g.channels % g.places();
    const float *from = x + (u64)(i / g.channels / g.places()) * g.size() + i % g.channels;
    out[i] = from[largestOf(from, place / g.across, place % g.across, g)];
  }
}

// Each number receives what the windows send whose largest it is, in their order.
KERNEL void max_pool_grad(float *dx, const float *x, const float *dy, WINDOW, u32 n) {
  Window g = GIVEN;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 c = i % g.channels, px = i / g.channels % g.width, py = i / g.channels / g.width % g.height, image = i / g.size();
    const float *from = x + (u64)image * g.size() + c, *slope = dy + (u64)image * g.places() * g.channels + c;
    u32 own = (py * g.width + px) * g.channels;
    float sum = 0.0f;
    for (u32 oy = firstPlace(py, g); oy < g.down && oy * g.stride <= py + g.pad; oy++)
      for (u32 ox = firstPlace(px, g); ox < g.across && ox * g.stride <= px + g.pad; ox++)
        if (largestOf(from, oy, ox, g) == own) sum += slope[(oy * g.across + ox) * g.channels];
    dx[i] = sum;
  }
}
