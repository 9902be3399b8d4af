// The matrix instructions of Hopper's warpgroups (wgmma, compute capability 9.0 alone) on operands
// in shared memory, both along the sum, in rows of 128 bytes (packed.h), and what becomes of the
// sums.
#pragma once
#include "packed.h"
#include "reduce.h"
#include "several.h"

extern __shared__ __attribute__((aligned(1024))) float dynamicShared[];

// What this thread has written to shared memory is visible to the tensor cores, after a barrier.
DEVICE void fenceCopies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEVICE void fenceSums() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
template <int PENDING> DEVICE void waitProducts() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory"); }
DEVICE void commitProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// descriptorOf describes rows of 128 bytes along the sum from a shared address on: start, 1024
// bytes from eight rows to the next eight, vectors of 16 bytes exchanged within these.
DEVICE u64 descriptorOf(u32 address) { return (u64)1 << 62 | (u64)(1024 >> 4) << 32 | (u64)1 << 16 | (address & 0x3ffff) >> 4; }

#define SUM(i) "+f"(d[i])
#define SUMS8(i) SUM(i), SUM(i + 1), SUM(i + 2), SUM(i + 3), SUM(i + 4), SUM(i + 5), SUM(i + 6), SUM(i + 7)
#define SUMS64(i) SUMS8(i), SUMS8(i + 8), SUMS8(i + 16), SUMS8(i + 24), SUMS8(i + 32), SUMS8(i + 40), SUMS8(i + 48), SUMS8(i + 56)
#define NAMES64                                                                                                         \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,"  \
  "%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,"    \
  "%59,%60,%61,%62,%63"
#define NAMES128                                                                                                        \
  NAMES64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,"   \
          "%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,"   \
          "%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

// multiply starts d += A·Bᵀ of 64 rows, as many columns as d has sums for, and 32 bytes of the sum.
template <typename T, int COUNT> DEVICE void multiply(float (&d)[COUNT], u64 from, u64 by);
#define MULTIPLY(T, type, shape, majors, count, names, sums, a, b)                                                       \
  template <> __device__ __attribute__((always_inline)) inline void multiply<T, count>(float (&d)[count], u64 from, u64 by) { \
    asm volatile("{.reg .pred add; setp.eq.u32 add, 0, 0; "                                                             \
                 "wgmma.mma_async.sync.aligned." shape ".f32." type "." type " {" names "}, " a ", " b ", add, 1, 1" majors ";}" \
                 : sums                                                                                                 \
                 : "l"(from), "l"(by));                                                                                 \
  }
MULTIPLY(TF32, "tf32", "m64n128k8", "", 64, NAMES64, SUMS64(0), "%64", "%65")
MULTIPLY(BF16, "bf16", "m64n128k16", ", 0, 0", 64, NAMES64, SUMS64(0), "%64", "%65")
#define SUMS128 SUMS64(0), SUMS64(64)
MULTIPLY(TF32, "tf32", "m64n256k8", "", 128, NAMES128, SUMS128, "%128", "%129")
MULTIPLY(BF16, "bf16", "m64n256k16", ", 0, 0", 128, NAMES128, SUMS128, "%128", "%129")

// Staged is the sums of two warpgroups, 64 rows each, of a tile of 128×BN, on their way to the result
// through shared memory, so that each row is written, and what follows it read, in whole vectors
// side by side.
template <typename T, int BN> struct Staged {
  static constexpr int THREADS = 256, PITCH = BN + 8, BYTES = 128 * PITCH * 4;

  // Lane 4g+t of a warp has of its 16 rows g and g+8, and of each 8 columns 2t and 2t+1.
  static DEVICE_MEMBER void put(const float *d) {
    float *to = dynamicShared + (threadX() / 32 * 16 + threadX() % 32 / 4) * PITCH + threadX() % 4 * 2;
    UNROLL for (int j = 0; j < BN / 8; j++) {
      *(float2 *)(to + j * 8) = float2{d[j * 4], d[j * 4 + 1]};
      *(float2 *)(to + 8 * PITCH + j * 8) = float2{d[j * 4 + 2], d[j * 4 + 3]};
    }
  }

  static DEVICE_MEMBER void finish(const Product &p, const Place &at, double *squares) {
    constexpr int LINE = BN / 4; // vectors
    double square = 0.0;
    _Pragma("unroll 1") for (int i = threadX(); i < 128 * LINE; i += THREADS * SEVERAL) {
      float4 v[SEVERAL];
      int rows[SEVERAL], cols[SEVERAL];
      UNROLL for (int j = 0; j < SEVERAL; j++) {
        int vector = i + j * THREADS, row = vector / LINE, col = vector % LINE * 4;
        v[j] = *(const float4 *)(dynamicShared + row * PITCH + col);
        rows[j] = at.m0 + row, cols[j] = at.n0 + col;
      }
      if (squares) { // of results whose rows are whole vectors
        UNROLL for (int j = 0; j < SEVERAL; j++) if (rows[j] < p.m && cols[j] < p.n) UNROLL for (int k = 0; k < 4; k++)
          square += (double)v[j][k] * (double)v[j][k];
      }
      finishSeveral<T>(p, at, rows, cols, v);
    }
    if (!squares) return;
    // In dynamicShared, whose numbers all threads have read at blockSum's first barrier: static shared memory
    // would stand before it, and wgmma wants its operands at multiples of 1024 bytes.
    double (&sums)[32] = *(double (*)[32])dynamicShared;
    square = blockSum(square, sums);
    if (threadX() == 0) squares[blockZ() * gridX() + blockX()] = square;
  }
};
template <typename T, int BN> DEVICE void finishTogether(const Product &p, const Place &at, const float *d, double *squares = 0) {
  syncThreads(); // the last chunks are read
  Staged<T, BN>::put(d);
  syncThreads();
  Staged<T, BN>::finish(p, at, squares);
}
