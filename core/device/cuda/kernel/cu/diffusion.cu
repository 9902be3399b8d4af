// targets: sm_70
// What a diffusion model's network is fed. Twin: core/device/cpu/diffusion.go.
#include "math.h"

// [t | sin 2πtw | cos 2πtw] for frequencies w; an element has a thread. t·w is exact
// in float64, and so is what is left of it beyond whole quarters of a turn.
KERNEL void fourier(float *out, const float *t, const float *w, u32 frequencies, u32 n) {
  u32 width = 1 + 2 * frequencies;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 row = i / width, j = i % width;
    if (j == 0) {
      out[i] = t[row];
      continue;
    }
    bool cosine = j > frequencies;
    double turns = (double)t[row] * (double)w[j - 1 - (cosine ? frequencies : 0)], sin, cos;
    double quarters = __builtin_rint(turns * 4.0);
    double whole = __builtin_floor(quarters * 0.25) * 4.0; // of four quarters each
    sincosAt((turns * 4.0 - quarters) * 1.57079632679489661923, (u32)(quarters - whole), &sin, &cos);
    out[i] = (float)(cosine ? cos : sin);
  }
}

// EDM's training example (core/op EDMNoised): [c_in(x+σn) | target | ln σ/4] with
// σ = exp(pMean + pStd·z) and the data's spread of each of d coordinates. The target
// (x − c_skip(x+σn))/c_out is without the cancellation at small σ, since
// x − c_skip·x = x·σ²/(σ²+σ_d²).
KERNEL void edm_noised(float *out, const float *x, const float *noise, const float *z, const float *spread, double pMean, double pStd, u32 d, u32 n) {
  u32 width = 2 * d + 1;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    u32 row = i / width, j = i % width;
    double logSigma = pMean + pStd * (double)z[row];
    if (j == 2 * d) {
      out[i] = (float)(logSigma * 0.25);
      continue;
    }
    bool target = j >= d;
    if (target) j -= d;
    float sigma = expOf((float)logSigma), of = spread[j], root = squareRoot(fma(sigma, sigma, of * of));
    float a = x[row * d + j], b = noise[row * d + j];
    out[i] = target ? a * (sigma / (of * root)) - b * (of / root) : (a + sigma * b) / root;
  }
}
