// Random numbers by position: Philox4x32-10 (Salmon et al. 2011), as package core/rng
// draws them, to the last bit.
#pragma once
#include "math.h"

struct Words { u32 w[4]; };

DEVICE Words philox(u64 occasion, u64 block, u32 k0, u32 k1) {
  u32 c0 = (u32)block, c1 = (u32)(block >> 32), c2 = (u32)occasion, c3 = (u32)(occasion >> 32);
  UNROLL
  for (int round = 0; round < 10; round++) {
    u64 a = (u64)c0 * 0xd2511f53u, b = (u64)c2 * 0xcd9e8d57u;
    c0 = (u32)(b >> 32) ^ c1 ^ k0;
    c1 = (u32)b;
    c2 = (u32)(a >> 32) ^ c3 ^ k1;
    c3 = (u32)a;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return Words{{c0, c1, c2, c3}};
}

// ln((w+½)/2³²), FreeBSD's e_log.c without its branches (core/rng logUnit)
DEVICE double logUnit(u32 w) {
  u64 bits = doubleToBits((double)w + 0.5);
  i64 up = (i64)(bits - 0x3fe6a09e667f3bcdull) >> 52; // √½·2^up ≤ w+½ < √2·2^up
  double f = bitsToDouble(bits - ((u64)up << 52)) - 1.0, k = (double)(up - 32);
  double s = f / (2.0 + f), s2 = s * s, s4 = s2 * s2;
  double even = add2(add2(add2(1.479819860511658591e-01, s4, 1.818357216161805012e-01), s4, 2.857142874366239149e-01), s4, 6.666666666666735130e-01);
  double odd = add2(add2(1.531383769920937332e-01, s4, 2.222219843214978396e-01), s4, 3.999999999940941908e-01);
  double r = s2 * even + s4 * odd, half = 0.5 * f * f;
  return k * 6.93147180369123816490e-01 - ((half - (s * (half + r) + k * 1.90821492927058770002e-10)) - f);
}

// two independent N(0,1) numbers of two words (Box and Muller 1958)
DEVICE void normals(u32 a, u32 b, float *x, float *y) {
  double radius = __builtin_sqrt(-2.0 * logUnit(a)), sin, cos;
  u32 quarter = (b + (1u << 29)) >> 30; // the nearest quarter turn; z is what is left
  double z = (double)(int)(b - (quarter << 30)) * 1.4629180792671596e-09; // 2π/2³²
  sincosAt(z, quarter, &sin, &cos);
  *x = (float)(radius * cos);
  *y = (float)(radius * sin);
}

// The four items of a block.
DEVICE void normalItems(u64 occasion, u64 block, u32 k0, u32 k1, float *item) {
  Words w = philox(occasion, block, k0, k1);
  normals(w.w[0], w.w[1], &item[0], &item[1]);
  normals(w.w[2], w.w[3], &item[2], &item[3]);
}
DEVICE void uniformItems(u64 occasion, u64 block, u32 k0, u32 k1, float *item) {
  Words w = philox(occasion, block, k0, k1);
  UNROLL
  for (int k = 0; k < 4; k++) item[k] = (float)(w.w[k] >> 8) * 5.9604644775390625e-08f; // 24 bits: exact
}
