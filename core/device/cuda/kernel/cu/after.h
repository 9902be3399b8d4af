// What instructions that follow a product do with its result, element by element,
// before it leaves the registers. From the functions of elements.h, to the same bits.
#pragma once
#include "elements.h"

// A table: how many steps, where the product's own result goes or 0, and of each step
// what it does, its other operand or 0, and where its result goes or 0 where nobody
// else reads it. All are of the product's shape. (several.h: the last result may be packed.)
// segment.go has these in the same order.
enum Following {
  after_add, after_sub, after_mul, after_relu, after_silu, after_mish, after_elu, after_tanh,
  after_relu_grad, after_silu_grad, after_mish_grad, after_elu_grad, after_tanh_grad,
};

DEVICE float followed(u32 what, float x, float b) {
  float a = x;
  switch (what) {
#define UNARY_AFTER(name, function) case after_##name: return function;
    UNARY_WIDE(UNARY_AFTER)
    BINARY_WIDE(UNARY_AFTER)
  case after_tanh: return tanhOf(x);
  case after_tanh_grad: return a * fma(-b, b, 1.0f);
  }
  return x;
}

// count neighbours from element index on, four of them where they are a vector
DEVICE float4 loadSome(const float *x, i64 index, u32 count) {
  x += index;
  if (count == 4 && ((u64)x & 15) == 0) return *(const float4 *)x;
  return float4{x[0], count > 1 ? x[1] : 0.0f, count > 2 ? x[2] : 0.0f, count > 3 ? x[3] : 0.0f};
}
DEVICE void storeSome(float *x, i64 index, u32 count, float4 v) {
  x += index;
  if (count == 4 && ((u64)x & 15) == 0) {
    *(float4 *)x = v;
    return;
  }
  x[0] = v.x;
  if (count > 1) x[1] = v.y;
  if (count > 2) x[2] = v.z;
  if (count > 3) x[3] = v.w;
}

DEVICE void follow(const u64 *after, i64 index, u32 count, float4 v) {
  if (after[1]) storeSome((float *)after[1], index, count, v);
  for (u32 s = 0; s < (u32)after[0]; s++) {
    const u64 *step = after + 2 + 3 * s;
    float4 b = step[1] ? loadSome((const float *)step[1], index, count) : float4{0, 0, 0, 0};
    _Pragma("unroll 1") for (u32 j = 0; j < 4; j++) {
      float y = followed((u32)step[0], v.x, b.x); // in turn, so that the functions stand here once
      v = float4{v.y, v.z, v.w, y};
      b = float4{b.y, b.z, b.w, b.x};
    }
    if (step[2]) storeSome((float *)step[2], index, count, v);
  }
}
