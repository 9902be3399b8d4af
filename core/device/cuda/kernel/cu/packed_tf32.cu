// targets: sm_90a
// Large matrix products on packed operands, rounded to TF32, by Hopper's warpgroups. Twins:
// core/device/cpu/linear.go and linear_joined.go.
#include "warpgroup.h"

WARPGROUPS(TF32, 128, 256, 4)
WARPGROUPS(TF32, 128, 128, 6)
