// What all kernels for the tensor cores have in common (compute capability 8.0 and up): copies to
// shared memory that are under way while others are used, and the rounding of factors.
#pragma once
#include "cuda.h"

// sharedAddress is a pointer to shared memory as instructions take it.
DEVICE u32 sharedAddress(const void *at) { return (u32)(u64)(__attribute__((address_space(3))) const void *)at; }

DEVICE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING> DEVICE void waitCopies() { asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory"); }

// To nearest, with ties away from zero for TF32 and to even for BF16, of which a word has two.
DEVICE u32 roundTF32(float x) {
  u32 r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}
DEVICE u32 roundBF16(float low, float high) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
