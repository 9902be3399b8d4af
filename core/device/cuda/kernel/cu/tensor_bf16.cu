// targets: sm_80
// Large matrix products with factors rounded to BF16. Twins: core/device/cpu/linear.go
// and linear_joined.go.
#include "tensor.h"

TENSOR_TILES(NN, BF16)
TENSOR_TILES(NT, BF16)
TENSOR_TILES(TN, BF16)
TENSOR_WIDE(NN, BF16)
TENSOR_WIDE(TN, BF16)
