package align

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

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

// A fit finds what gonum's own solution finds, to the bit, whatever was fitted before by the same map.
// One that finds no map leaves the earlier one.
func TestFitsLeaveNoTrace(t *testing.T) {
	const size = 5
	used := New("map", size)
	for _, rows := range []int{30, 12, 12, 30} {
		then, now := make([]float32, rows*size), make([]float32, rows*size)
		rng.New(4, "then").FillNormal(then, uint64(rows), 0)
		rng.New(4, "now").FillNormal(now, uint64(rows), 0)
		if err := used.Fit(then, now); err != nil {
			t.Fatal(err)
		}
		want := byGonum(t, then, now, size)
		if got := slices.Concat(used.W.Data, used.B.Data); !slices.Equal(got, want) {
			t.Fatalf("%d rows give %v, want %v", rows, got, want)
		}
		then[0] = float32(math.NaN())
		if err := used.Fit(then, now); err == nil || !slices.Equal(slices.Concat(used.W.Data, used.B.Data), want) {
			t.Errorf("%d rows with one that is no number: %v, and the map is %v", rows, err, used.W.Data)
		}
	}
}

// byGonum is the map that Fit describes, W and then B.
func byGonum(t *testing.T, then, now []float32, size int) (all []float32) {
	t.Helper()
	n := len(then) / size
	x, moved := mat.NewDense(n, size+1, nil), mat.NewDense(n, size, nil)
	for i, v := range then {
		x.Set(i/size, i%size, float64(v))
		x.Set(i/size, size, 1)
		moved.Set(i/size, i%size, float64(now[i])-float64(v))
	}
	squares := mat.NewSymDense(size+1, nil)
	squares.SymOuterK(1, x.T())
	for i := range size + 1 {
		squares.SetSym(i, i, squares.At(i, i)+float64(n)/1000)
	}
	var products, solved mat.Dense
	products.Mul(x.T(), moved)
	var c mat.Cholesky
	if !c.Factorize(squares) {
		t.Fatal("the squares have no factors")
	}
	if err := c.SolveTo(&solved, &products); err != nil {
		t.Fatal(err)
	}
	for i := range size + 1 {
		for j := range size {
			v := float32(solved.At(i, j))
			if i == j {
				v = 1 + v
			}
			all = append(all, v)
		}
	}
	return all
}
