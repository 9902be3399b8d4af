// Shuffles, atomics, barriers.
#include "cuda.h"
#define ALL 0xffffffff

// Every mode of shfl with the width, as the intrinsics of CUDA pass it.
__global__ void shuffles(int *out, const int *in, int delta, int width) {
  int t = TID, x = in[t], c = (32 - width) << 8;
  int *o = out + t;
  o[0] = __nvvm_shfl_sync_idx_i32(ALL, x, delta, c | 31);
  o[32] = __nvvm_shfl_sync_up_i32(ALL, x, delta, c);
  o[64] = __nvvm_shfl_sync_down_i32(ALL, x, delta, c | 31);
  o[96] = __nvvm_shfl_sync_bfly_i32(ALL, x, delta, c | 31);
  int y, p;
  asm volatile("{ .reg .pred q; shfl.sync.down.b32 %0|q, %2, %3, %4, -1; selp.s32 %1, 1, 0, q; }" : "=r"(y), "=r"(p) : "r"(x), "r"(delta), "r"(c | 31));
  o[128] = p;
}

// The sum of a row by a butterfly; rows of 32, several a block.
__global__ void butterfly(float *out, const float *in) {
  int t = TID;
  float x = in[64 * BID + t];
  for (int d = 16; d; d /= 2) x += __nvvm_shfl_sync_bfly_f32(ALL, x, d, 31);
  out[64 * BID + t] = x;
}

// Halves of a warp that shuffle on ways of their own.
__global__ void halves(int *out) {
  int t = TID, x = t * t;
  if (t % 2) {
    x = __nvvm_shfl_sync_idx_i32(0xaaaaaaaa, x + 1, 31, 31);
    x += 1000;
  } else {
    for (int i = 0; i < t; i++) x += i;
    x = __nvvm_shfl_sync_idx_i32(0x55555555, x, 30, 31);
  }
  __nvvm_bar_warp_sync(ALL);
  out[t] = __nvvm_shfl_sync_bfly_i32(ALL, x, 1, 31);
}

// Old values and the shared count of each block.
__global__ void atomics(uint *u, uint *old) {
  __shared__ uint local;
  int t = TID;
  if (t == 0) local = 0;
  __syncthreads();
  __nvvm_atom_inc_gen_ui(&local, 1000);
  old[64 * BID + t] = __nvvm_atom_inc_gen_ui(u, 99);
  __syncthreads();
  if (t == 0) u[1 + BID] = local;
}

// The last block to come adds up what all have left.
__device__ uint arrived;
__global__ void last_block(float *out, float *part, const float *in) {
  __shared__ bool last;
  int t = TID;
  if (t == 0) {
    part[BID] = in[BID] * 2;
    __nvvm_membar_gl();
    last = __nvvm_atom_inc_gen_ui(&arrived, __nvvm_read_ptx_sreg_nctaid_x() - 1) == __nvvm_read_ptx_sreg_nctaid_x() - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    float sum = 0;
    for (int i = 0; i < __nvvm_read_ptx_sreg_nctaid_x(); i++) sum += ((volatile float *)part)[i];
    *out = sum;
  }
}

// bar.red, named barriers: two warps hand work to two others.
__global__ void barriers(int *out, const int *in) {
  __shared__ int box[64];
  int t = TID;
  out[t] = __nvvm_bar0_popc(in[t] > 0) * 100 + __nvvm_bar0_and(in[t] > -5) * 10 + __nvvm_bar0_or(in[t] > 50);
  if (t < 64) {
    box[t] = in[t] * 3;
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    out[t] += box[127 - t] * 1000;
  }
}
