// targets: sm_70
// What stands between gradient steps: batches, subsets, the temperature. Twins:
// core/replay/batch.go, core/rng/sequence.go, core/agent/sac/temperature.go.
#include "float64.h"
#include "gate.h"
#include "random.h"
#include "reduce.h"

// The numbers of an occasion, in order.
struct Sequence { u64 occasion, block; u32 k0, k1, left; Words words; };

DEVICE Sequence sequence(u64 occasion, u32 k0, u32 k1) { return Sequence{occasion, 0, k0, k1, 0, Words{{0, 0, 0, 0}}}; }

DEVICE u32 wordOf(const Words &w, u32 i) { return i < 2 ? (i ? w.w[1] : w.w[0]) : (i == 2 ? w.w[2] : w.w[3]); }

DEVICE u32 next(Sequence &q) {
  if (q.left == 0) {
    q.words = philox(q.occasion, q.block++, q.k0, q.k1);
    q.left = 4;
  }
  return wordOf(q.words, 4 - q.left--);
}

// The words that Lemire's method (2019) rejects for numbers of [0,n) are those whose
// product with n has a low half below 2³² mod n.
DEVICE u32 rejects(u32 n) { return (0u - n) % n; }

DEVICE u32 intN(Sequence &q, u32 n, u32 low) {
  for (;;) {
    u64 product = (u64)next(q) * n;
    if ((u32)product >= low) return (u32)(product >> 32);
  }
}

// A part of a batch: numbers from to to−1 of the occasion name rows of a store of n.
struct Part { const float *store; u32 n, width, k0, k1; u64 occasion; };

const u32 tile = 32; // rows of a block

// Leaves the addresses of rows from to to−1 of the part in rows. Thread i takes number
// i; only where one up to there is rejected, which moves all that follow, one thread
// goes through them again in order.
DEVICE void find(const Part &p, u32 from, u32 to, const float **rows, double (&sums)[32]) {
  u32 low = rejects(p.n);
  double rejected = 0.0;
  for (u32 block = threadX(); 4 * block < to; block += blockDim()) {
    Words w = philox(p.occasion, block, p.k0, p.k1);
    UNROLL
    for (u32 k = 0; k < 4; k++)
      if (4 * block + k < to && (u32)((u64)w.w[k] * p.n) < low) rejected += 1.0;
  }
  if (blockSum(rejected, sums) == 0.0) {
    u32 i = from + threadX();
    if (i < to) {
      Words w = philox(p.occasion, i / 4, p.k0, p.k1);
      rows[threadX()] = p.store + (((u64)wordOf(w, i % 4) * p.n) >> 32) * p.width;
    }
  } else if (threadX() == 0) {
    Sequence q = sequence(p.occasion, p.k0, p.k1);
    for (u32 i = 0; i < to; i++) {
      u32 row = intN(q, p.n, low);
      if (i >= from) rows[i - from] = p.store + (u64)row * p.width;
    }
  }
}

// Blocks take tiles of the batch's n rows. live says how many rows of the batch are of
// the first store, and how many rows each store has. columns are rows {address, first,
// count} of the parts of a row that go to different places.
KERNEL __launch_bounds__(128) void sample_batch(const Gate *gate, const u64 *occasion, const u64 *live, const float *real, const float *synthetic, u32 real0, u32 real1, u32 synthetic0,
                                        u32 synthetic1, u32 width, const u64 *columns, u32 parts, u32 n) {
  __shared__ const float *rows[tile];
  __shared__ double sums[32];
  if (gate->closed) return;
  u32 split = (u32)live[0];
  for (u32 first = blockX() * tile; first < n; first += gridX() * tile) {
    u32 end = smaller(first + tile, n);
    if (first < split) find(Part{real, (u32)live[1], width, real0, real1, *occasion}, first, smaller(end, split), rows, sums);
    if (end > split) {
      u32 from = larger(first, split);
      find(Part{synthetic, (u32)live[2], width, synthetic0, synthetic1, *occasion}, from - split, end - split, rows + (from - first), sums);
    }
    syncThreads();
    for (u32 part = 0; part < parts; part++) {
      float *to = (float *)columns[3 * part];
      u32 at = (u32)columns[3 * part + 1], count = (u32)columns[3 * part + 2];
      for (u32 i = threadX(); i < (end - first) * count; i += blockDim()) to[(u64)first * count + i] = rows[i / count][at + i % count];
    }
    syncThreads();
  }
}

// n different numbers of [0,of), in the order of the sequence.
KERNEL void choose(const Gate *gate, float *out, const u64 *occasion, u32 k0, u32 k1, u32 of, u32 n) {
  if (gate->closed || blockX() > 0 || threadX() > 0) return;
  Sequence q = sequence(*occasion, k0, k1);
  u32 low = rejects(of);
  for (u32 i = 0; i < n; i++) {
    float number = (float)intN(q, of, low);
    for (u32 j = 0; j < i;) {
      if (out[j++] != number) continue;
      number = (float)intN(q, of, low);
      j = 0;
    }
    out[i] = number;
  }
}

// One block. state: log α, m, v, steps; result: the loss, α.
KERNEL void temperature(const Gate *gate, const float *logp, u64 *state, float *alpha, float *result, const double *rate, u32 n, double target, double beta1, double beta2, double eps) {
  __shared__ double sums[32];
  if (gate->closed) return;
  double sum = 0.0;
  for (u32 i = threadX(); i < n; i += blockDim()) sum += (double)logp[i] + target;
  sum = blockSum(sum, sums);
  if (threadX() > 0) return;
  double gradient = -sum / (double)n, log = bitsToDouble(state[0]);
  double m = beta1 * bitsToDouble(state[1]) + (1.0 - beta1) * gradient;
  double v = beta2 * bitsToDouble(state[2]) + (1.0 - beta2) * gradient * gradient;
  u64 t = state[3] + 1;
  result[0] = (float)(log * gradient);
  log -= *rate * (m / (1.0 - power(beta1, t))) / (__builtin_sqrt(v / (1.0 - power(beta2, t))) + eps);
  state[0] = doubleToBits(log);
  state[1] = doubleToBits(m);
  state[2] = doubleToBits(v);
  state[3] = t;
  *alpha = result[1] = (float)expOf64(log);
}

DEVICE u32 inside(int i, u32 n) { return i < 0 ? 0 : smaller((u32)i, n - 1); }

// Bytes of images that are stacks of shifted frames; n counts the words of all images, each of which
// has words of them. A row of picks is columns long: the stack's frames, the shift down and across. A
// frame is held words of the store.
KERNEL void stack_frames(const Gate *gate, u32 *out, const float *picks, const u32 *frames, u32 height, u32 width, u32 channels, u32 pad, u32 stack, u32 columns, u32 words, u32 held, u32 n) {
  if (gate->closed) return;
  u32 depth = stack * channels;
  for (u32 i = blockX() * blockDim() + threadX(); i < n; i += gridX() * blockDim()) {
    const float *pick = picks + (u64)(i / words) * columns;
    int down = (int)pick[stack] - (int)pad, across = (int)pick[stack + 1] - (int)pad;
    u32 at = i % words * 4, pixel = at / depth, within = at % depth; // of the word's first byte
    u32 y = pixel / width, x = pixel % width, frame = within / channels, channel = within % channels, word = 0;
    for (u32 k = 0; k < 4 && y < height; k++) {
      u32 from = (inside((int)y + down, height) * width + inside((int)x + across, width)) * channels + channel;
      word |= (frames[(u64)pick[frame] * held + from / 4] >> 8 * (from % 4) & 255) << 8 * k;
      if (++channel < channels) continue;
      channel = 0;
      if (++frame < stack) continue;
      frame = 0;
      if (++x < width) continue;
      x = 0;
      y++;
    }
    out[i] = word;
  }
}
