// Operands as the tensor cores of Hopper read them from shared memory: rounded, along the sum, in
// chunks of 128 bytes, 32 numbers in TF32 or 64 in BF16; [member][chunk][row][128 bytes], with zeros
// where a matrix ends before its last chunk or its last rows. Vectors of 16 bytes are exchanged
// within a row: vector c of row r stands at c XOR r mod 8, which makes reads of eight rows free of
// bank conflicts.
#pragma once
#include "cuda.h"

struct TF32 {
  static constexpr int K = 32, VECTOR = 4; // numbers in a chunk, in 16 bytes
  typedef uint4 Four;                      // four rounded numbers
  static DEVICE_MEMBER u32 one(float x) {
    u32 r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
  }
  static DEVICE_MEMBER Four four(const float *x) { return Four{one(x[0]), one(x[1]), one(x[2]), one(x[3])}; }
  static DEVICE_MEMBER uint4 vector(const float *x) { return four(x); }
};
struct BF16 {
  static constexpr int K = 64, VECTOR = 8;
  typedef uint2 Four;
  static DEVICE_MEMBER u32 pair(float low, float high) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
  }
  static DEVICE_MEMBER Four four(const float *x) { return Four{pair(x[0], x[1]), pair(x[2], x[3])}; }
  static DEVICE_MEMBER uint4 vector(const float *x) { return uint4{pair(x[0], x[1]), pair(x[2], x[3]), pair(x[4], x[5]), pair(x[6], x[7])}; }
};

// placeOfVector is the place of vector c of a row, in vectors. line: the row's number over all
// members and chunks.
DEVICE u64 placeOfVector(u64 line, u32 row, u32 c) { return line * 8 + (c ^ row % 8); }
