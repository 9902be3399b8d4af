// targets: sm_90a
// Matrix products with factors rounded to TF32, by Hopper's warpgroups, on operands as they stand in
// memory. Twins: core/device/cpu/linear.go and linear_joined.go.
#include "direct.h"

DIRECT(TF32, NN)
DIRECT(TF32, NT)
DIRECT(TF32, TN)
