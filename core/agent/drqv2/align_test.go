package drqv2

import (
	"math"
	"testing"

	"pgrlab/core/rng"
)

// An update reads generated rows as if D_syn held the aligned rows.
func TestUpdatesReadAlignedRows(t *testing.T) {
	plain, aligned := small(), small()
	aligned.AlignEvery = 10
	x, y := newLatent(t, plain, newDevice(t, 1)), newLatent(t, aligned, newDevice(t, 1))
	a := y.alignment
	rng.New(5, "map").FillNormal(a.W.Data, 0, 0)
	rng.New(5, "map").FillNormal(a.B.Data, 1, 0)
	for i := range a.W.Data {
		a.W.Data[i] *= 0.3
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

// Aligned latents stay in the range of tanh, as updates have them.
func TestAlignedLatentsAreBounded(t *testing.T) {
	c := small()
	c.AlignEvery = 10
	x := newLatent(t, c, newDevice(t, 1))
	for i := range x.alignment.W.Data {
		x.alignment.W.Data[i] *= 2
	}
	z := make([]float32, c.latents().Obs)
	z[0], z[1], z[2] = 0.9, -0.9, 0.25
	if got := x.Align(z); got[0] != largest || got[1] != -largest || got[2] != 0.5 {
		t.Errorf("twice %v is %v", z[:3], got[:3])
	}
}
