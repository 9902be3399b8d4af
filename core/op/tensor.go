package op

import (
	"unsafe"

	"gorgonia.org/tensor"
)

// Tensor is float32 memory that outlives the graphs that bind it: a parameter,
// a running statistic, a live scalar. Data is row-major, 64-byte aligned, and
// its address never changes.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32

	dense *tensor.Dense
}

// NewTensor returns a tensor of zeros, which may be empty (a batch without rows).
func NewTensor(name string, shape ...int) *Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	t := &Tensor{Name: name, Shape: append([]int(nil), shape...), Data: Aligned(n)}
	if n > 0 { // Gorgonia's tensors cannot be empty, its nodes can
		t.dense = tensor.New(tensor.WithShape(shape...), tensor.WithBacking(t.Data))
	}
	return t
}

// Aligned returns n zeros that start at a multiple of 64 bytes, the size of a cache line and of an
// AVX-512 register.
func Aligned(n int) []float32 {
	const line = 16
	raw := make([]float32, n+line)
	skip := 0
	for uintptr(unsafe.Pointer(&raw[skip]))%64 != 0 {
		skip++
	}
	return raw[skip : skip+n : skip+n]
}
