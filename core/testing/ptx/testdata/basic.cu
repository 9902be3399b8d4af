// Plain fp32 kernels: shared memory, barriers, loops, divergence, tables, calls.
// -O0 too
#include "cuda.h"

// y = max(x w + b, 0) for x of m x k and w of k x n in tiles of 64 x 64.
__global__ THREADS(256) void gemm(float *y, const float *x, const float *w, const float *b, int m, int n, int k) {
  __shared__ float sx[16][64 + 4], sw[16][64];
  int t = TID, tx = t % 16, ty = t / 16;
  int m0 = __nvvm_read_ptx_sreg_ctaid_y() * 64, n0 = BID * 64;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int i = t; i < 16 * 64; i += 256) {
      int r = i / 16, c = i % 16;
      sx[c][r] = m0 + r < m && k0 + c < k ? x[(m0 + r) * k + k0 + c] : 0;
    }
    for (int i = t; i < 16 * 64; i += 256) {
      int r = i / 64, c = i % 64;
      sw[r][c] = k0 + r < k && n0 + c < n ? w[(k0 + r) * n + n0 + c] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; j++) {
      float a[4], c[4];
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = sx[j][ty * 4 + i], c[i] = sw[j][tx * 4 + i];
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int l = 0; l < 4; l++) acc[i][l] = __builtin_fmaf(a[i], c[l], acc[i][l]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++)
    for (int l = 0; l < 4; l++) {
      int r = m0 + ty * 4 + i, c = n0 + tx * 4 + l;
      if (r < m && c < n) {
        float v = acc[i][l] + b[c];
        y[r * n + c] = v > 0 ? v : 0;
      }
    }
}

// Sums of rows of 256: a tree in dynamic shared memory.
extern __shared__ float dynamic[];
__global__ void rowsum(float *y, const float *x) {
  int t = TID;
  dynamic[t] = x[BID * 256 + t];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) dynamic[t] += dynamic[t + s];
    __syncthreads();
  }
  if (t == 0) y[BID] = dynamic[0];
}

// The length of the Collatz sequence: lanes leave the loop at different times.
__global__ void collatz(int *y, int n) {
  int i = BID * 64 + TID, steps = 0;
  if (i >= n) return;
  for (ulong v = i + 1; v != 1; steps++) v = v % 2 ? 3 * v + 1 : v / 2;
  y[i] = steps;
}

// Tables, a stack array indexed at run time, structures by value, calls that
// stay calls, one of them from lanes apart.
__constant__ float weights[4] = {0.5f, -1, 2, 8};
__device__ int primes[5] = {2, 3, 5, 7, 11};
__device__ const int *second = primes + 1;
struct pair { float a; int b; double c; };
__device__ __noinline__ float blend(float x, pair p, int *out) {
  *out = p.b * 3;
  return x * p.a + (float)p.c;
}
__device__ __noinline__ float twice(float x, pair p) {
  int q;
  return blend(x, p, &q) * 2 + q;
}
__global__ void mixture(float *y, int n, pair p) {
  int t = TID, q = 0;
  float stack[8];
  for (int i = 0; i < 8; i++) stack[i] = t * i;
  float v = t % 3 == 0 ? blend(stack[t % 8], p, &q) : twice(stack[n & 7], p);
  y[t] = v + weights[t % 4] + primes[t % 5] + second[t % 4] + q;
}

// A branch of many ways.
__global__ void ways(int *y, const int *x) {
  int v = x[TID], r;
  switch (v) {
  case 0: r = v + y[TID]; break;
  case 1: r = 77 * y[TID]; break;
  case 2: r = y[TID] / 3; break;
  case 3: r = y[TID] % 5; break;
  case 4: r = -y[TID]; break;
  case 5: r = y[TID] << 3; break;
  default: r = 1000;
  }
  y[TID] = r;
}
