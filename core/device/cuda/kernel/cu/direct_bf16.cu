// targets: sm_90a
// Matrix products with factors rounded to BF16, by Hopper's warpgroups, on operands as they stand in
// memory. Twins: core/device/cpu/linear.go and linear_joined.go.
#include "direct.h"

DIRECT(BF16, NN)
DIRECT(BF16, NT)
DIRECT(BF16, TN)
