// What the kernels need of CUDA C, so that clang compiles them without CUDA's
// headers and without its device library.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#define KERNEL extern "C" __global__ // a kernel: its name in the PTX is its name here
#define DEVICE static __device__ __attribute__((always_inline)) inline
// DEVICE_MEMBER is DEVICE for a static function of a struct.
#define DEVICE_MEMBER __device__ __attribute__((always_inline)) inline
#define UNROLL _Pragma("unroll")
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(n) PRAGMA(unroll n)

typedef unsigned u32;
typedef unsigned long long u64;
typedef long long i64;
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef u32 uint4 __attribute__((ext_vector_type(4)));
typedef u32 uint2 __attribute__((ext_vector_type(2)));

DEVICE u32 threadX() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 blockX() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 blockY() { return __nvvm_read_ptx_sreg_ctaid_y(); }
DEVICE u32 blockZ() { return __nvvm_read_ptx_sreg_ctaid_z(); }
DEVICE u32 blockDim() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE u32 gridX() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE u32 gridY() { return __nvvm_read_ptx_sreg_nctaid_y(); }

// A loop over elements with the grid's stride:
// for (i64 i = firstElement(); i < n; i += elementStride()) …
DEVICE i64 firstElement() { return (i64)blockX() * blockDim() + threadX(); }
DEVICE i64 elementStride() { return (i64)gridX() * blockDim(); }

DEVICE void syncThreads() { __syncthreads(); }

// shuffles over a whole warp: every lane must take part
DEVICE float shuffleDown(float x, u32 by) { return __nvvm_shfl_sync_down_f32(0xffffffffu, x, by, 31); }
DEVICE float shuffleXor(float x, u32 mask) { return __nvvm_shfl_sync_bfly_f32(0xffffffffu, x, mask, 31); }

template <typename T> DEVICE T smaller(T a, T b) { return a < b ? a : b; }
template <typename T> DEVICE T larger(T a, T b) { return a > b ? a : b; }

DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

DEVICE u32 bitsOf(float x) { return __builtin_bit_cast(u32, x); }
DEVICE float floatOf(u32 x) { return __builtin_bit_cast(float, x); }
