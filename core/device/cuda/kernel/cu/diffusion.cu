// targets: sm_70
// What a diffusion model's network is fed. Twin: core/device/cpu/diffusion.go.
#include "elements.h"

KERNEL void fourier(float *out, const float *t, const float *w, u32 frequencies, u32 n) {
  u32 width = 1 + 2 * frequencies;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim())
    out[i] = fourierOf(t[i / width], w, frequencies, i % width);
}

KERNEL void edm_noised(float *out, const float *x, const float *noise, const float *z, const float *spread, double pMean, double pStd, u32 d, u32 n) {
  u32 width = 2 * d + 1;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 row = i / width;
    out[i] = noisedOf(x + row * d, noise + row * d, z[row], spread, pMean, pStd, d, i % width);
  }
}
