// targets: sm_70
// Pooling over windows, and images of twice the size; a thread for each number of the result. Twins:
// core/device/cpu/maxpool.go, upsample.go.
#include "window.h"

// Coordinates left of an image or above it are beyond its side, as unsigned numbers.
DEVICE u32 pixelAt(u32 place, u32 tap, const Window &g) { return place * g.stride + tap - g.pad; }

// A window's first place that covers a pixel, of one side: places before it end too soon.
DEVICE u32 firstPlace(u32 pixel, const Window &g) {
  u32 at = pixel + g.pad;
  return at < g.kernel ? 0 : (at - g.kernel) / g.stride + 1;
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

// Each pixel four times. Two lines of the result come from one line of x, across all images.
KERNEL void upsample(float *out, const float *x, u32 width, u32 channels, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 pixel = i / channels, line = pixel / (2 * width), across = pixel % (2 * width);
    out[i] = x[(line / 2 * width + across / 2) * channels + i % channels];
  }
}

// the sum of the four, pairs of lines first
KERNEL void upsample_grad(float *dx, const float *dy, u32 width, u32 channels, u32 n) {
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 pixel = i / channels, line = 2 * width * channels;
    const float *upper = dy + pixel / width * 2 * line + pixel % width * 2 * channels + i % channels, *lower = upper + line;
    dx[i] = (upper[0] + lower[0]) + (upper[channels] + lower[channels]);
  }
}
