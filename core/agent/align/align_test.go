package align

import (
	"math"
	"testing"

	"pgrlab/core/rng"
)

// Fit finds an affine map from latents that vary along few directions, as those of frames do. The
// map holds for other latents of the same kind. Perpendicular to these directions it is the
// identity, and where nothing has moved it is the identity altogether.
func TestAnAffineMapIsFound(t *testing.T) {
	const size, along, rows = 8, 3, 60
	normal := func(name string, n int) []float32 {
		all := make([]float32, n)
		rng.New(3, name).FillNormal(all, 0, 0)
		return all
	}
	directions, turn, shift := normal("directions", along*size), normal("turn", size*size), normal("shift", size)
	latents := func(name string) (z []float32) {
		for c := normal(name, rows*along); len(c) > 0; c = c[along:] {
			row := make([]float32, size)
			for i, x := range c[:along] {
				for j := range row {
					row[j] += x * directions[i*size+j]
				}
			}
			z = append(z, row...)
		}
		return z
	}
	moved := func(z []float32) (out []float32) {
		for ; len(z) > 0; z = z[size:] {
			row := append([]float32(nil), shift...)
			for i := range size {
				for j := range size {
					row[j] += z[i] * turn[i*size+j]
				}
			}
			out = append(out, row...)
		}
		return out
	}
	a := New("map", size)
	z, fresh := latents("z"), latents("fresh")
	if err := a.Fit(z, moved(z)); err != nil {
		t.Fatal(err)
	}
	far, off, spread := 0.0, 0.0, 0.0
	for i, want := range moved(fresh) {
		off += math.Pow(float64(a.Apply(fresh)[i]-want), 2)
		far += math.Pow(float64(fresh[i]-want), 2)
		spread += math.Pow(float64(want), 2)
	}
	if off > 1e-3*far || far < spread/10 {
		t.Errorf("mapped latents are off by %g, unmapped ones by %g", off, far)
	}
	if err := a.Fit(z, z); err != nil {
		t.Fatal(err)
	}
	for i, want := range fresh {
		if got := a.Apply(fresh)[i]; math.Abs(float64(got-want)) > 1e-6 {
			t.Fatalf("nothing has moved, and %v becomes %v", want, got)
		}
	}
}
