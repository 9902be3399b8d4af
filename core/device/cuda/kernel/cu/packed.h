// Operands as the tensor cores of Hopper read them from shared memory: rounded, along the sum, in
// chunks of 128 bytes, 32 numbers in TF32 or 64 in BF16; [member][chunk][row][128 bytes], with zeros
// where a matrix ends before its last chunk or its last rows. Vectors of 16 bytes are exchanged
// within a row: vector c of row r stands at c XOR r mod 8, which makes reads of eight rows free of
// bank conflicts.
#pragma once
#include "tensorcore.h"

struct TF32 {
  static constexpr int K = 32, VECTOR = 4; // numbers in a chunk, in 16 bytes
  typedef uint4 Four;                      // four rounded numbers
  static DEVICE_MEMBER Four four(const float *x) { return Four{roundTF32(x[0]), roundTF32(x[1]), roundTF32(x[2]), roundTF32(x[3])}; }
  static DEVICE_MEMBER uint4 vector(const float *x) { return four(x); }
};
struct BF16 {
  static constexpr int K = 64, VECTOR = 8;
  typedef uint2 Four;
  static DEVICE_MEMBER Four four(const float *x) { return Four{roundBF16(x[0], x[1]), roundBF16(x[2], x[3])}; }
  static DEVICE_MEMBER uint4 vector(const float *x) {
    return uint4{roundBF16(x[0], x[1]), roundBF16(x[2], x[3]), roundBF16(x[4], x[5]), roundBF16(x[6], x[7])};
  }
};

// placeOfVector is the place of vector c of a row, in vectors. line: the row's number over all
// members and chunks.
DEVICE u64 placeOfVector(u64 line, u32 row, u32 c) { return line * 8 + (c ^ row % 8); }
