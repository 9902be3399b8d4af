// Matrix instructions: sm_80 only.
#include "cuda.h"

// Fragments as registers, in and out: thread t holds word r of an operand at [r][t].
#define MMA(name, shape, kinds, NA, NB)                                                                              \
  __global__ void name(float *d, const uint *a, const uint *b, const float *c) {                                    \
    int t = TID;                                                                                                     \
    uint A[4] = {}, B[2] = {};                                                                                       \
    float D[4];                                                                                                      \
    for (int i = 0; i < NA; i++) A[i] = a[32 * i + t];                                                               \
    for (int i = 0; i < NB; i++) B[i] = b[32 * i + t];                                                               \
    for (int i = 0; i < 4; i++) D[i] = c[32 * i + t];                                                                \
    MMA_##NA(shape "." kinds);                                                                                       \
    for (int i = 0; i < 4; i++) d[32 * i + t] = D[i];                                                                \
  }
#define MMA_4(text)                                                                                                  \
  asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                    \
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])                                                      \
               : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]))
#define MMA_2(text)                                                                                                  \
  asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                             \
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])                                                      \
               : "r"(A[0]), "r"(A[1]), "r"(B[0]))
MMA(tf32_8, "m16n8k8", "row.col.f32.tf32.tf32.f32", 4, 2)
MMA(tf32_4, "m16n8k4", "row.col.f32.tf32.tf32.f32", 2, 1)
MMA(bf16_16, "m16n8k16", "row.col.f32.bf16.bf16.f32", 4, 2)
MMA(bf16_8, "m16n8k8", "row.col.f32.bf16.bf16.f32", 2, 1)

static __device__ uint address(const void *p) { return (uint)(ulong)(__attribute__((address_space(3))) const void *)p; }

// y = x x' for x of 32 x n in tf32: stages of shared memory filled by cp.async, as a real kernel does.
// WAIT is the number of groups that may be under way; more than STAGES - 2 is wrong.
#define STAGES 3
template <int WAIT> static __device__ void gram(float *y, const float *x, int n) {
  __shared__ __attribute__((aligned(16))) float s[STAGES][32][12];
  int t = TID, g = t / 4 % 8, q = t % 4, w = t / 32, tiles = n / 8;
  float d[4] = {};
  auto fetch = [&](int i) {
    if (i < tiles && t < 64) {
      uint to = address(&s[i % STAGES][t / 2][t % 2 * 4]);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + t / 2 * n + 8 * i + t % 2 * 4));
    }
    asm volatile("cp.async.commit_group;");
  };
  for (int i = 0; i < STAGES - 1; i++) fetch(i);
  for (int i = 0; i < tiles; i++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(WAIT));
    __syncthreads();
    fetch(i + STAGES - 1);
    auto v = [&](int row, int col) {
      uint u;
      asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u) : "f"(s[i % STAGES][row][col]));
      return u;
    };
    int r = w / 4 * 16, c = w % 4 * 8;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(v(r + g, q)), "r"(v(r + g + 8, q)), "r"(v(r + g, q + 4)), "r"(v(r + g + 8, q + 4)), "r"(v(c + g, q)), "r"(v(c + g, q + 4)));
  }
  int r = w / 4 * 16 + g, c = w % 4 * 8 + 2 * q;
  y[32 * r + c] = d[0], y[32 * r + c + 1] = d[1], y[32 * (r + 8) + c] = d[2], y[32 * (r + 8) + c + 1] = d[3];
}
__global__ THREADS(256) void gram_right(float *y, const float *x, int n) { gram<STAGES - 2>(y, x, n); }
__global__ THREADS(256) void gram_hasty(float *y, const float *x, int n) { gram<STAGES>(y, x, n); }

// cp.async of every size, with zero fill.
__global__ void copies(uint *out, const uint *in, int bytes) {
  __shared__ __attribute__((aligned(16))) uint s[3][32][4];
  int t = TID;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(s[0][t])), "l"(in + 4 * t));
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8;" ::"r"(address(s[1][t])), "l"(in + 4 * t));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address(s[2][t])), "l"(in + 4 * t), "r"(bytes));
  asm volatile("cp.async.wait_all;");
  out[t] = s[0][t][0];
  for (int i = 0; i < 2; i++) out[32 * (1 + i) + t] = s[1][t][i];
  for (int i = 0; i < 4; i++) out[32 * (3 + i) + t] = s[2][t][i];
}
