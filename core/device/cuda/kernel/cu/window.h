// Windows that move over images: the geometry of convolutions and pooling.
#pragma once
#include "cuda.h"

// An image in NHWC order, the window over it, and the places that it takes, down and
// across (package window).
struct Window {
  u32 height, width, channels, kernel, stride, pad, down, across;
  __device__ u32 size() const { return height * width * channels; }
  __device__ u32 places() const { return down * across; }
};
#define WINDOW u32 height, u32 width, u32 channels, u32 kernel, u32 stride, u32 pad, u32 down, u32 across
#define GIVEN Window{height, width, channels, kernel, stride, pad, down, across}
