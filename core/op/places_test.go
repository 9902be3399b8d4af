package op

import (
	"slices"
	"testing"

	"pgrlab/core/window"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// compute64 is the reference's result for an operation.
func compute64(t *testing.T, kind Kind, a Attr, operands ...*tensor.Dense) []float64 {
	t.Helper()
	values := make([]gorgonia.Value, len(operands))
	for i, x := range operands {
		values[i] = x
	}
	v, err := (&Op{Kind: kind, Attr: a, of: tensor.Float64}).Do(values...)
	if err != nil {
		t.Fatal(err)
	}
	return v.Data().([]float64)
}

// Pixels stay whole, channels side by side; what lies between the images of a batch stays apart.
func TestUpsampleRepeatsPixels(t *testing.T) {
	over := window.Geometry{Height: 2, Width: 2, Channels: 2}
	x := matrix64([]float64{1, -1, 2, -2, 3, -3, 4, -4, 5, 0, 6, 0, 7, 0, 8, 0}, 2, 8)
	y := evaluate64(t, Upsample, over, x)
	want := []float64{
		1, -1, 1, -1, 2, -2, 2, -2, 1, -1, 1, -1, 2, -2, 2, -2, 3, -3, 3, -3, 4, -4, 4, -4, 3, -3, 3, -3, 4, -4, 4, -4,
		5, 0, 5, 0, 6, 0, 6, 0, 5, 0, 5, 0, 6, 0, 6, 0, 7, 0, 7, 0, 8, 0, 8, 0, 7, 0, 7, 0, 8, 0, 8, 0,
	}
	if !slices.Equal(y, want) {
		t.Errorf("got %v, want %v", y, want)
	}
}

// Two members, two rows, three places of two columns: the tens are the member and the row, the ones count
// the columns.
func TestJoinPlaces(t *testing.T) {
	apart := matrix64([]float64{
		0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15,
		20, 21, 22, 23, 24, 25, 30, 31, 32, 33, 34, 35,
	}, 2, 2, 6)
	joined := []float64{
		0, 1, 20, 21, 2, 3, 22, 23, 4, 5, 24, 25,
		10, 11, 30, 31, 12, 13, 32, 33, 14, 15, 34, 35,
	}
	if got := compute64(t, JoinMembers, Attr{I: [2]int{0, 3}}, apart); !slices.Equal(got, joined) {
		t.Errorf("joined: %v, want %v", got, joined)
	}
	if got := compute64(t, SplitColumns, Attr{I: [2]int{2, 3}}, matrix64(joined, 2, 12)); !slices.Equal(got, apart.Data().([]float64)) {
		t.Errorf("apart again: %v, want %v", got, apart)
	}
}

// Groups of columns are normalised as if each were a row.
func TestRMSNormOfGroups(t *testing.T) {
	numbers, gamma := []float64{1, 2, -3, 4, 5, -6, 7, 8, 0, 1, 0.5, 0.25}, matrix64([]float64{2, -1, 3}, 3)
	dout := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}
	a := Attr{F: [3]float64{1e-2}, I: [2]int{3}}
	for kind, operands := range map[Kind]func(rows, cols int) []*tensor.Dense{
		RMSNorm: func(rows, cols int) []*tensor.Dense { return []*tensor.Dense{matrix64(numbers, rows, cols), gamma} },
		RMSNormDX: func(rows, cols int) []*tensor.Dense {
			return []*tensor.Dense{matrix64(numbers, rows, cols), gamma, matrix64(dout, rows, cols)}
		},
		RMSNormDGamma: func(rows, cols int) []*tensor.Dense {
			return []*tensor.Dense{matrix64(numbers, rows, cols), matrix64(dout, rows, cols)}
		},
	} {
		want := compute64(t, kind, a, operands(4, 3)...)
		if got := compute64(t, kind, a, operands(2, 6)...); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", kind, got, want)
		}
	}
}
