// targets: sm_70
// The end of a program: whether its numbers are finite, the optimiser, averages. Twins:
// core/device/cpu/guard.go, optimise.go.
//
// Many tensors go through one launch: a table in device memory has their addresses.
// A tensor is cut into chunks of 1024 elements, chunks are counted through the whole
// table, and a block of 256 threads takes one at a time.
#include "float64.h"
#include "gate.h"
#include "reduce.h"

typedef volatile double Partial; // read by another block than wrote it

// State outlives the launch; the host reads t and norm after a run.
struct State {
  u64 t;       // steps that the optimiser has taken
  double norm; // of the gradients
  u32 arrived; // blocks of the check that are done; 0 between launches
  u32 none;
  float step, inverse, decay, scale; // of this step of the optimiser
};

// The row of a table whose chunk it is. Rows are of width words; the first one is
// the number of chunks before it.
DEVICE const u64 *rowOf(const u64 *table, u32 rows, u32 width, u32 chunk) {
  u32 low = 0, high = rows; // table[low].first ≤ chunk < table[high].first
  while (high - low > 1) {
    u32 middle = (low + high) / 2;
    if (table[middle * width] <= chunk) low = middle;
    else high = middle;
  }
  return table + low * width;
}

// The elements of a chunk that a thread has: four, or fewer at the end.
struct Share { u64 at; u32 n; };
DEVICE Share shareOf(const u64 *row, u32 chunk) {
  u64 at = (chunk - row[0]) * 1024 + threadX() * 4, n = row[1];
  return Share{at, at >= n ? 0u : (u32)smaller(n - at, (u64)4)};
}

DEVICE float4 load(const float *x, Share s) {
  x += s.at;
  if (s.n == 4) return *(const float4 *)x;
  return float4{x[0], s.n > 1 ? x[1] : 0.0f, s.n > 2 ? x[2] : 0.0f, 0.0f};
}
DEVICE void store(float *x, Share s, float4 v) {
  x += s.at;
  if (s.n == 4) {
    *(float4 *)x = v;
    return;
  }
  x[0] = v.x;
  if (s.n > 1) x[1] = v.y;
  if (s.n > 2) x[2] = v.z;
}

struct Constants { double beta1, beta2, decay, clip; };

// What a step needs beside the tensors: bias corrections and the clip.
DEVICE void prepare(State *s, const float *rate, Constants c) {
  double t = 1.0 - power(c.beta1, s->t), u = 1.0 - power(c.beta2, s->t), r = (double)*rate;
  s->step = (float)(r / t);
  s->inverse = (float)(1.0 / __builtin_sqrt(u));
  s->decay = (float)(r * c.decay);
  double clip = c.clip / (s->norm + 1e-6); // as torch.nn.utils.clip_grad_norm_
  s->scale = c.clip > 0.0 && clip < 1.0 ? (float)clip : 1.0f;
}

// Sums the squares of all tensors of the table, rows {chunks before, n, address, 0
// for a gradient, 1 for what must only be finite, 2 for sums of squares of gradients, float64, of which there are n}. The block that is last to arrive
// adds up the blocks' sums and decides; where it closes the gate it leaves its turn there.
// rate is absent where there is no optimiser.
KERNEL void check(State *state, Gate *gate, u32 turn, Partial *partial, const u64 *table, u32 rows, u32 chunks, const float *rate, double beta1, double beta2, double decay, double clip, double most) {
  __shared__ double sums[32];
  __shared__ u32 arrived;
  double grads = 0.0, others = 0.0;
  for (u32 chunk = blockX(); chunk < chunks; chunk += gridX()) {
    const u64 *row = rowOf(table, rows, 4, chunk);
    Share s = shareOf(row, chunk);
    if (s.n == 0) continue;
    if (row[3] == 2) {
      for (u32 i = 0; i < s.n; i++) grads += ((const double *)row[2])[s.at + i];
      continue;
    }
    float4 v = load((const float *)row[2], s);
    double square = (double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z + (double)v.w * (double)v.w;
    if (row[3]) others += square;
    else grads += square;
  }
  grads = blockSum(grads, sums);
  others = blockSum(others, sums);
  if (threadX() == 0) {
    partial[2 * blockX()] = grads;
    partial[2 * blockX() + 1] = others;
    __nvvm_membar_gl();
    arrived = __nvvm_atom_inc_gen_ui(&state->arrived, gridX() - 1); // back to 0 with the last one
  }
  syncThreads();
  if (arrived != gridX() - 1) return;
  __nvvm_membar_gl();
  grads = others = 0.0;
  for (u32 i = threadX(); i < gridX(); i += blockDim()) {
    grads += partial[2 * i];
    others += partial[2 * i + 1];
  }
  grads = blockSum(grads, sums);
  others = blockSum(others, sums);
  if (threadX() != 0 || gate->closed) return;
  state->norm = __builtin_sqrt(grads);
  if (!(state->norm < most) || !(others - others == 0.0)) {
    gate->closed = turn;
    return;
  }
  if (!rate) return;
  state->t += 1;
  prepare(state, rate, Constants{beta1, beta2, decay, clip});
}

// What gradients are clipped by, one by one: a block has a tensor, a row of the table {n, tensor,
// gradient}. The bound on a gradient's norm is a share of the tensor's norm, or of least.
KERNEL __launch_bounds__(1024) void clip_tensors(float *scales, const State *state, const Gate *gate, const u64 *table, double share, double least) {
  __shared__ double sums[32];
  if (gate->closed) return;
  const u64 *row = table + 3 * blockX();
  const float *w = (const float *)row[1], *g = (const float *)row[2];
  double param = 0.0, gradient = 0.0;
  for (u64 i = threadX(); i < row[0]; i += blockDim()) {
    param += (double)w[i] * (double)w[i];
    gradient += (double)g[i] * (double)g[i];
  }
  param = __builtin_sqrt(blockSum(param, sums));
  double scale = (double)state->scale, norm = scale * __builtin_sqrt(blockSum(gradient, sums));
  double bound = share * (param > least ? param : least);
  if (threadX() == 0) scales[blockX()] = (float)(norm > bound ? scale * bound / norm : scale);
}

struct Step { float b1, r1, b2, r2, eps, step, inverse, keep, scale; };

// one element, in PyTorch's order of operations
struct Adam {
  DEVICE_MEMBER static void step(const Step &h, float &w, float &m, float &v, float g) {
    m = fma(g, h.r1, m * h.b1);
    v = fma(g * g, h.r2, v * h.b2);
    w = fma(-h.step, m / fma(squareRoot(v), h.inverse, h.eps), w * h.keep);
  }
};

// the quotient before the average; a v below the normal numbers has to stay as it is
struct LaProp {
  DEVICE_MEMBER static void step(const Step &h, float &w, float &m, float &v, float g) {
    v = fma(g * g, h.r2, v * h.b2);
    m = fma(g / fma(squareRoot(v), h.inverse, h.eps), h.r1, m * h.b1);
    w = fma(-h.step, m, w * h.keep);
  }
};

// the elements of w that a thread has, after the step
template <typename Rule> DEVICE float4 stepped(const Step &h, Share s, const u64 *row, float4 w) {
  float4 m = load((const float *)row[3], s), v = load((const float *)row[4], s), g = load((const float *)row[5], s);
  float scale = row[8] ? *(const float *)row[8] : h.scale;
  float parts[4][4] = {{w.x, m.x, v.x, g.x}, {w.y, m.y, v.y, g.y}, {w.z, m.z, v.z, g.z}, {w.w, m.w, v.w, g.w}};
  UNROLL
  for (int k = 0; k < 4; k++) Rule::step(h, parts[k][0], parts[k][1], parts[k][2], parts[k][3] * scale);
  w = float4{parts[0][0], parts[1][0], parts[2][0], parts[3][0]};
  store((float *)row[2], s, w);
  store((float *)row[3], s, float4{parts[0][1], parts[1][1], parts[2][1], parts[3][1]});
  store((float *)row[4], s, float4{parts[0][2], parts[1][2], parts[2][2], parts[3][2]});
  return w;
}

DEVICE float average(float dst, float src, float rate) { return fma(rate, src - dst, dst); }
DEVICE float4 average4(float4 d, float4 s, float rate) {
  return float4{average(d.x, s.x, rate), average(d.y, s.y, rate), average(d.z, s.z, rate), average(d.w, s.w, rate)};
}

// Rows {chunks before, n, w, m, v, gradient, average of w or 0, its rate or 0: a copy, a factor of
// the gradient or 0: that of the state}; without m only the average moves.
template <typename Rule> DEVICE void stepAll(const State *state, const Gate *gate, const u64 *table, u32 rows, u32 chunks, float beta1, float beta2, float eps) {
  if (gate->closed) return;
  Step h = {beta1, 1.0f - beta1, beta2, 1.0f - beta2, eps, state->step, state->inverse, 1.0f - state->decay, state->scale};
  for (u32 chunk = blockX(); chunk < chunks; chunk += gridX()) {
    const u64 *row = rowOf(table, rows, 9, chunk);
    Share s = shareOf(row, chunk);
    if (s.n == 0) continue;
    float4 w = load((const float *)row[2], s);
    if (row[3]) w = stepped<Rule>(h, s, row, w);
    if (!row[6]) continue;
    float *to = (float *)row[6];
    store(to, s, row[7] ? average4(load(to, s), w, *(const float *)row[7]) : w);
  }
}

#define STEP(name, Rule) \
  KERNEL __launch_bounds__(256) void name(const State *state, const Gate *gate, const u64 *table, u32 rows, u32 chunks, float beta1, float beta2, float eps) { \
    stepAll<Rule>(state, gate, table, rows, chunks, beta1, beta2, eps); \
  }
STEP(adam, Adam)
STEP(laprop, LaProp)

// Rows {chunks before, n, dst, src, rate or 0: a copy}.
KERNEL __launch_bounds__(256) void averages(const Gate *gate, const u64 *table, u32 rows, u32 chunks) {
  if (gate->closed) return;
  for (u32 chunk = blockX(); chunk < chunks; chunk += gridX()) {
    const u64 *row = rowOf(table, rows, 5, chunk);
    Share s = shareOf(row, chunk);
    if (s.n == 0) continue;
    float *to = (float *)row[2];
    float4 v = load((const float *)row[3], s);
    store(to, s, row[4] ? average4(load(to, s), v, *(const float *)row[4]) : v);
  }
}
