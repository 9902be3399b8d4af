// Matrix products of Hopper's warpgroups on packed operands, as in warpgroup.h, in which two
// warpgroups take tiles of the result in turn: while one finishes a tile, the tensor cores work for
// the other. A third warpgroup, one thread of it, has chunks of the sum copied to shared memory,
// STAGES of them at most, in the order in which they are multiplied; its registers go to the others.
//
// A block takes every gridX-th tile. Each stage has two barriers (mbarrier): full, which the copies
// complete, and empty, at which the four warps arrive that have multiplied. Each warpgroup has one
// more, at which the other's warps arrive when it may multiply: a wait for full two uses of a stage
// ahead would end at once, because a phase is named by its parity.
#pragma once
#include "wgmma.h"

DEVICE void initBarrier(u32 at, u32 count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory"); }
DEVICE void fenceBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void arrive(u32 at) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory"); }
// arriveFor also has the barrier wait for copies of so many bytes.
DEVICE void arriveFor(u32 at, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}
// waitFor waits until the barrier's phase of this parity is complete.
DEVICE void waitFor(u32 at, u32 parity) {
  u32 done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(at), "r"(parity)
                 : "memory");
}
DEVICE void copyBulk(u32 to, const char *from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
// syncWarpgroup is a barrier of this thread's warpgroup.
DEVICE void syncWarpgroup() { asm volatile("bar.sync %0, 128;" ::"r"(1 + threadX() / 128) : "memory"); }

template <typename T> struct Alternate {
  static constexpr int BM = 128, BN = 128, STAGES = 4, OPERAND = 128 * 128, STAGE = 2 * OPERAND, SUMS = BN / 2;
  static constexpr int STAGED = STAGES * STAGE, BARRIERS = STAGED + 2 * Staged<BN>::BYTES, TURNS = BARRIERS + STAGES * 16;

  // Stage is a place in the sequence of chunks, of all tiles of the block.
  struct Stage {
    u32 at, barrier, parity;
    DEVICE_MEMBER Stage(u32 shared, u32 chunk) : at(shared + chunk % STAGES * STAGE), barrier(shared + BARRIERS + chunk % STAGES * 16), parity(chunk / STAGES % 2) {}
    DEVICE_MEMBER u32 full() const { return barrier; }
    DEVICE_MEMBER u32 empty() const { return barrier + 8; }
  };

  static DEVICE_MEMBER u32 tilesOf(const Product &p) { return ((p.m + BM - 1) / BM) * ((p.n + BN - 1) / BN); }
  static DEVICE_MEMBER Place placeOfTile(const Product &p, u32 tile, u32 tiles) { return placeAt<BM, BN, T::K>(p, tile % tiles, tile / tiles); }

  static DEVICE_MEMBER void produce(const Product &p, const Packed &x, u32 shared, u32 members) {
    u32 tiles = tilesOf(p), count = 0;
    _Pragma("unroll 1") for (u32 tile = blockX(); tile < tiles * members; tile += gridX()) {
      Place at = placeOfTile(p, tile, tiles);
      const char *a = x.a + at.member * x.strideA + ((i64)at.begin * x.rowsA + at.m0) * 128;
      const char *b = x.b + at.member * x.strideB + ((i64)at.begin * x.rowsB + at.n0) * 128;
      _Pragma("unroll 1") for (int chunk = at.begin; chunk < at.end; chunk++, count++) {
        Stage s(shared, count);
        waitFor(s.empty(), s.parity ^ 1);
        arriveFor(s.full(), STAGE);
        copyBulk(s.at, a, OPERAND, s.full());
        copyBulk(s.at + OPERAND, b, OPERAND, s.full());
        a += (i64)x.rowsA * 128, b += (i64)x.rowsB * 128;
      }
    }
  }

  // other: at which to arrive when the other warpgroup may multiply
  static DEVICE_MEMBER void sum(int chunks, u32 shared, u32 other, u32 &count, float (&d)[2][SUMS]) {
    _Pragma("unroll 1") for (int i = 0; i < chunks; i++, count++) {
      Stage s(shared, count);
      waitFor(s.full(), s.parity);
      u64 from = descriptorOf(s.at), by = descriptorOf(s.at + OPERAND);
      fenceSums();
      UNROLL for (int k = 0; k < 4; k++) UNROLL for (int h = 0; h < 2; h++)
        multiply<T, SUMS>(d[h], from + h * (OPERAND / 2 / 16) + k * 2, by + k * 2);
      commitProducts();
      waitProducts<1>();
      if (i > 0 && threadX() % 32 == 0) arrive(Stage(shared, count - 1).empty());
    }
    if (threadX() % 32 == 0) arrive(other);
    waitProducts<0>();
    if (chunks > 0 && threadX() % 32 == 0) arrive(Stage(shared, count - 1).empty());
  }

  static DEVICE_MEMBER void consume(const Product &p, u32 shared, u32 members) {
    u32 tiles = tilesOf(p), count = 0, own = threadX() / 128, turn = 0, turns = 0;
    float *staged = dynamicShared + (STAGED + own * Staged<BN>::BYTES) / 4;
    _Pragma("unroll 1") for (u32 tile = blockX(); tile < tiles * members; tile += gridX(), turn ^= 1) {
      Place at = placeOfTile(p, tile, tiles);
      int chunks = at.end - at.begin;
      if (turn != own) {
        count += chunks;
        continue;
      }
      float d[2][SUMS];
      UNROLL for (int i = 0; i < SUMS; i++) d[0][i] = d[1][i] = 0.0f;
      if (own || turns) waitFor(shared + TURNS + own * 8, (turns - (own ^ 1)) % 2);
      turns++;
      sum(chunks, shared, shared + TURNS + (own ^ 1) * 8, count, d);
      _Pragma("unroll 1") for (int h = 0; h < 2; h++) {
        if (h) Staged<BN>::put(staged, d[1]);
        else Staged<BN>::put(staged, d[0]);
        syncWarpgroup();
        Staged<BN>::template finish<T, 64, 128>(p, at, staged, at.m0 + h * 64, threadX() % 128);
        syncWarpgroup();
      }
    }
  }

  static DEVICE_MEMBER void run(const Product &p, const Packed &x, u32 members) {
    u32 shared = sharedAddress(dynamicShared);
    if (threadX() == 0) {
      UNROLL for (int i = 0; i < STAGES; i++) {
        Stage s(shared, i);
        initBarrier(s.full(), 1), initBarrier(s.empty(), 4);
      }
      UNROLL for (int i = 0; i < 2; i++) initBarrier(shared + TURNS + i * 8, 4);
      fenceBarriers();
    }
    syncThreads();
    if (threadX() < 256) {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      consume(p, shared, members);
    } else {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (threadX() == 256) produce(p, x, shared, members);
    }
  }
};

// members: of the result, times splits
#define ALTERNATE(T)                                                                                                     \
  KERNEL __launch_bounds__(384, 1) void packed_##T##_alternate(                                                         \
      float *c, const char *a, const char *b, const float *__restrict__ bias, const float *__restrict__ mask,           \
      const float *__restrict__ index, const u64 *after, int m, int n, int each, int rowsA, int rowsB, i64 strideA,     \
      i64 strideB, i64 strideC, i64 partStride, int inner, int splits, int chunks, u32 flags, u32 members) {            \
    Product p = {c, 0, 0, 0, bias, mask, index, after, m, n, each * T::K, 0, 0, 0, 0, n, strideC, partStride, inner, splits, chunks, flags}; \
    Packed x = {a, b, rowsA, rowsB, strideA, strideB};                                                                  \
    Alternate<T>::run(p, x, members);                                                                                   \
  }
