// targets: sm_80
// Large matrix products with factors rounded to TF32. Twins: core/device/cpu/linear.go
// and linear_joined.go.
#include "tensor.h"

TENSOR_TILES(NN, TF32)
TENSOR_TILES(NT, TF32)
TENSOR_TILES(TN, TF32)
TENSOR_WIDE(NN, TF32)
TENSOR_WIDE(TN, TF32)
