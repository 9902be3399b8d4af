// Functions of float64 numbers, for what is computed once and not for each element.
#pragma once
#include "math.h"

// xⁿ
DEVICE double power(double x, u64 n) {
  double y = 1.0;
  for (; n; n >>= 1, x *= x)
    if (n & 1) y *= x;
  return y;
}

// e^x (FreeBSD's e_exp.c), of what is below −708 that of −708.
DEVICE double expOf64(double x) {
  if (x > 709.0) return (double)infinity();
  if (x < -708.0) x = -708.0;
  if (x != x) return x;
  double k = __builtin_rint(x * 1.44269504088896338700e+00);
  double high = x - k * 6.93147180369123816490e-01, low = k * 1.90821492927058770002e-10;
  double r = high - low, t = r * r;
  double c = 4.13813679705723846039e-08 * t - 1.65339022054652515390e-06;
  c = ((c * t + 6.61375632143793436117e-05) * t - 2.77777777770155933842e-03) * t + 1.66666666666666019037e-01;
  c = r - t * c;
  double y = 1.0 - ((low - r * c / (2.0 - c)) - high);
  return bitsToDouble(doubleToBits(y) + ((u64)(i64)k << 52));
}
