package golden

import (
	"math"
	"slices"
	"testing"

	"pgrlab/core/op"
)

// Tensor is a tensor in a file, row-major.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// Tensors copies tensors as they are now.
func Tensors(all []*op.Tensor) []Tensor {
	var out []Tensor
	for _, x := range all {
		out = append(out, Tensor{x.Name, slices.Clone(x.Shape), slices.Clone(x.Data)})
	}
	return out
}

// NearTensors compares tensors with those of the other program. Each number may differ by up to tolerance·(1+|want|).
func NearTensors(t *testing.T, what string, got []*op.Tensor, want []Tensor, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d tensors, the other program has %d", what, len(got), len(want))
	}
	for i, w := range want {
		if len(got[i].Data) != len(w.Data) {
			t.Fatalf("%s: %s has %d numbers, in the other program %d", what, w.Name, len(got[i].Data), len(w.Data))
		}
		for j, v := range w.Data {
			if d := math.Abs(float64(got[i].Data[j]) - float64(v)); !(d <= tolerance*(1+math.Abs(float64(v)))) {
				t.Errorf("%s: %s[%d] is %v, in the other program %v", what, w.Name, j, got[i].Data[j], v)
				break
			}
		}
	}
}
