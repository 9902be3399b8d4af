// What clang makes of plain C: integers of every width, floats, structures. Compiled with and without optimisation.
// -O0 too
#include "cuda.h"
typedef long long slong;
typedef signed char schar;
typedef unsigned __int128 u128;
typedef __int128 s128;

// Operation j of each pair of words; the test has the same list in Go.
#define INTEGERS 45
__global__ void integers(ulong *out, const ulong *in, int n) {
  int i = BID * 64 + TID;
  if (i >= n) return;
  ulong a = in[2 * i], b = in[2 * i + 1], *o = out + INTEGERS * i;
  slong sa = a, sb = b;
  uint x = a, y = b;
  int sx = x, sy = y, k = b & 31, l = b & 63;
  ushort h = a, g = b;
  short sh = h, sg = g;
  uchar c = a, d = b;
  schar sc = c, sd = d;
  *o++ = a + b;
  *o++ = a - b;
  *o++ = a * b;
  *o++ = a / (b | 1);
  *o++ = a % (b | 1);
  *o++ = sa / (slong)(b >> 1 | 1);
  *o++ = sa % (slong)(b >> 1 | 1);
  *o++ = (u128)a * b >> 64;
  *o++ = (s128)sa * sb >> 64;
  *o++ = a << l;
  *o++ = a >> l;
  *o++ = sa >> l;
  *o++ = a & b;
  *o++ = a | b;
  *o++ = a ^ ~b;
  *o++ = a < b;
  *o++ = sa < sb;
  *o++ = sa >= sb ? a : b;
  *o++ = a > b ? a : b;
  *o++ = x + y;
  *o++ = x - y;
  *o++ = x * y;
  *o++ = (ulong)x * y;
  *o++ = (slong)sx * sy;
  *o++ = x / (y | 1);
  *o++ = x % 1000;
  *o++ = sx / 7;
  *o++ = sx % (int)(y >> 1 | 1);
  *o++ = x << k;
  *o++ = x >> k;
  *o++ = sx >> k;
  *o++ = sx < 0 ? 0 - x : x;
  *o++ = x > y ? x - y : y - x;
  *o++ = sx < sy ? sx : sy;
  *o++ = (x >> 5 & 0x7f) | (y & 0xff) << 9;
  *o++ = (ushort)(h * g);
  *o++ = (short)(sh / (short)(sg | 1));
  *o++ = (slong)(short)(sh + sg);
  *o++ = (ushort)(h >> (k & 15));
  *o++ = (uchar)(c + d);
  *o++ = (slong)(schar)(sc * sd);
  *o++ = c % (uchar)(d | 1);
  *o++ = (slong)sc;
  *o++ = __builtin_add_overflow(sx, sy, &sx) ? 1 : sx;
  *o++ = h == g || c != d && sc > sd;
}

#define FLOATS 32
__global__ void floating(float *out, const float *in, int n) {
  int i = BID * 64 + TID;
  if (i >= n) return;
  float a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], *o = out + FLOATS * i;
  double x = a, y = b, z = c;
  *o++ = a + b;
  *o++ = a - b;
  *o++ = a * b;
  *o++ = a / b;
  *o++ = __builtin_fmaf(a, b, c);
  *o++ = __builtin_fminf(a, b);
  *o++ = __builtin_fmaxf(a, b);
  *o++ = __builtin_fabsf(a);
  *o++ = -a;
  *o++ = __builtin_copysignf(a, b);
  *o++ = __builtin_floorf(a);
  *o++ = __builtin_ceilf(a);
  *o++ = __builtin_truncf(a);
  *o++ = __builtin_rintf(a);
  *o++ = __nvvm_sqrt_rn_f(a);
  *o++ = a < b;
  *o++ = a <= b;
  *o++ = a == b;
  *o++ = a != b;
  *o++ = !(a < b);
  *o++ = a > b ? c : a;
  *o++ = (int)b;
  *o++ = (uint)(int)b;
  *o++ = (slong)b;
  *o++ = (float)(x * y + z);
  *o++ = (float)(x / y);
  *o++ = (float)__builtin_fma(x, y, z);
  *o++ = __nvvm_add_rz_f(a, b);
  *o++ = __nvvm_mul_rp_f(a, b);
  *o++ = __nvvm_fma_rm_f(a, b, c);
  *o++ = __nvvm_rcp_rn_f(a);
  *o++ = (float)(slong)(x * 1000);
}

// Structures and arrays on the stack, indexed at run time; copies of both; vectors of four.
struct node { int key; float weights[3]; struct { schar tag; ushort mark; } end; };
typedef float float4v __attribute__((ext_vector_type(4)));
__device__ __noinline__ node change(node v, int by) {
  v.key += by;
  v.weights[by % 3] *= 2;
  v.end.tag = -by;
  v.end.mark += 60000;
  return v;
}
__global__ void structures(node *out, const node *in, float4v *quads) {
  int t = TID;
  node all[4], copy;
  for (int i = 0; i < 4; i++) all[i] = in[(t + i) % 4];
  copy = all[t % 4];
  copy = change(copy, t);
  __builtin_memcpy(&all[t & 1], &copy, sizeof copy);
  out[t] = all[t % 3];
  quads[t] = quads[t].wzyx * (float)t + quads[t];
}
