// targets: sm_70
// Operands that serve several rows, columns or members, and columns that move.
// Twins: core/device/cpu/broadcast.go, elementwise.go, members.go.
//
// Counts are below 2³¹, so that indices are divided in 32 bits.
#include "elements.h"

DEVICE u32 first() { return blockX() * blockDim() + threadX(); }
DEVICE u32 stride() { return gridX() * blockDim(); }

// row i of x by s[i mod count]
KERNEL void row_scale(float *out, const float *x, const float *s, u32 cols, u32 count, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = x[i] * s[i / cols % count];
}

// column j of member e by s[e,j]; member is rows·cols
KERNEL void col_scale(float *out, const float *x, const float *s, u32 cols, u32 member, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = x[i] * s[i / member * cols + i % cols];
}

KERNEL void col_add(float *out, const float *x, const float *b, u32 cols, u32 member, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = x[i] + b[i / member * cols + i % cols];
}

// narrow columns, added to those of x from column at on
KERNEL void add_columns(float *out, const float *x, const float *b, u32 at, u32 narrow, u32 cols, u32 n) {
  for (u32 i = first(); i < n; i += stride()) {
    u32 j = i % cols - at;
    out[i] = j < narrow ? x[i] + b[i / cols * narrow + j] : x[i];
  }
}

// x over and over, divided by a number
KERNEL void repeat(float *out, const float *x, float divisor, u32 count, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = x[i % count] / divisor;
}

// each element of x cols times, times a factor
KERNEL void spread(float *out, const float *x, float factor, u32 cols, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = factor * x[i / cols];
}

// (±)x·y/divisor of scalars everywhere; y may be absent
KERNEL void spread_scalar(float *out, const float *x, const float *y, double divisor, u32 n) {
  float v = y ? *x * *y : *x;
  v = (float)((double)v / divisor);
  for (u32 i = first(); i < n; i += stride()) out[i] = v;
}

KERNEL void sum_members(float *out, const float *x, u32 members, float divisor, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = memberSum(x, members, divisor, n, i);
}

KERNEL void min_members(float *out, const float *q, u32 members, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = minMembers(q, members, n, i);
}

// dout to the first member that is the minimum, zero to the others
KERNEL void min_members_grad(float *dq, const float *q, const float *minimum, const float *dout, u32 members, u32 n) {
  for (u32 i = first(); i < n; i += stride()) {
    u32 to = firstMinimum(q, minimum[i], members, n, i);
    for (u32 e = 0; e < members; e++) dq[(u64)e * n + i] = e == to ? dout[i] : 0.0f;
  }
}

// up to four arrays side by side, each of w columns, from column at on of rows of width
KERNEL void concat(float *out, const float *a, const float *b, const float *c, const float *d, u32 wa, u32 wb, u32 wc, u32 wd, u32 at, u32 width, u32 n) {
  u32 all = wa + wb + wc + wd;
  for (u32 i = first(); i < n; i += stride()) {
    u32 row = i / all, j = i % all;
    float v;
    if (j < wa) v = a[row * wa + j];
    else if (j < wa + wb) v = b[row * wb + j - wa];
    else if (j < wa + wb + wc) v = c[row * wc + j - wa - wb];
    else v = d[row * wd + j - wa - wb - wc];
    out[row * width + at + j] = v;
  }
}

// cols columns from column at on of x, of rows of width
KERNEL void slice(float *out, const float *x, u32 at, u32 cols, u32 width, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = x[i / cols * width + at + i % cols];
}

// x from column at on, zero elsewhere
KERNEL void pad(float *out, const float *x, u32 at, u32 cols, u32 width, u32 n) {
  for (u32 i = first(); i < n; i += stride()) {
    u32 j = i % width - at;
    out[i] = j < cols ? x[i / width * cols + j] : 0.0f;
  }
}

// columns i·cols to (i+1)·cols of x as member i of members; member is rows·cols
KERNEL void split_columns(float *out, const float *x, u32 members, u32 cols, u32 member, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = x[(i % member / cols * members + i / member) * cols + i % cols];
}

// the reverse
KERNEL void join_members(float *out, const float *x, u32 members, u32 cols, u32 member, u32 n) {
  for (u32 i = first(); i < n; i += stride()) out[i] = x[i / cols % members * member + i / (members * cols) * cols + i % cols];
}
