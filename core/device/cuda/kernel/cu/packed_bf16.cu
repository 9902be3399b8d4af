// targets: sm_90a
// Large matrix products on packed operands, rounded to BF16, by Hopper's warpgroups. Twins:
// core/device/cpu/linear.go and linear_joined.go.
#include "warpgroup.h"

WARPGROUPS(BF16, 128, 256, 4)
WARPGROUPS(BF16, 128, 128, 6)
