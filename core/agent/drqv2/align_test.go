package drqv2

import (
	"math"
	"testing"

	"pgrlab/core/rng"
)

// An affine map is found from latents that vary along few directions, as those of frames do,
// and holds for others of the kind; across them it is the identity, and it is where nothing
// has moved.
func TestAlignmentFindsAnAffineMap(t *testing.T) {
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
	a := newAlignment(size)
	z, fresh := latents("z"), latents("fresh")
	if err := a.fit(z, moved(z)); err != nil {
		t.Fatal(err)
	}
	far, off, spread := 0.0, 0.0, 0.0
	for i, want := range moved(fresh) {
		off += math.Pow(float64(a.apply(fresh)[i]-want), 2)
		far += math.Pow(float64(fresh[i]-want), 2)
		spread += math.Pow(float64(want), 2)
	}
	if off > 1e-3*far || far < spread/10 {
		t.Errorf("mapped latents are off by %g, unmapped ones by %g", off, far)
	}
	if err := a.fit(z, z); err != nil {
		t.Fatal(err)
	}
	for i, want := range fresh {
		if got := a.apply(fresh)[i]; math.Abs(float64(got-want)) > 1e-6 {
			t.Fatalf("nothing has moved, and %v becomes %v", want, got)
		}
	}
}

// An update reads generated rows as if D_syn held them aligned.
func TestUpdatesReadAlignedRows(t *testing.T) {
	plain, aligned := small(), small()
	aligned.AlignEvery = 10
	x, y := newLatent(t, plain, newDevice(t, 1)), newLatent(t, aligned, newDevice(t, 1))
	a := y.alignment
	rng.New(5, "map").FillNormal(a.w.Data, 0, 0)
	rng.New(5, "map").FillNormal(a.b.Data, 1, 0)
	for i := range a.w.Data {
		a.w.Data[i] *= 0.3
	}
	one, other := newSession(x.Agent, newFilm(plain, 30), 6), newSession(y.Agent, newFilm(plain, 30), 6)
	one.dream(5)
	other.dream(5)
	mapped, size := one.work.Source.Synthetic, plain.latents().Obs
	for i := range mapped.Len() {
		row := mapped.Row(i)
		copy(row, y.Align(row[:size]))
		next := row[size+plain.Act+1:][:size]
		copy(next, y.Align(next))
	}
	for range 5 {
		one.update(t)
		other.update(t)
	}
	p, q := numbers(x.nets.state()), numbers(y.nets.state())
	worst := 0.0
	for i := range p {
		worst = max(worst, math.Abs(float64(p[i]-q[i])))
	}
	if worst > 1e-5 {
		t.Errorf("after five updates weights differ by %g", worst)
	}
}
