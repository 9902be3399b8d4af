package generative

import (
	"math"
	"strings"
	"testing"

	"pgrlab/core/replay"
)

// table implements Rows with literal numbers.
type table [][]float32

func (t table) Len() int            { return len(t) }
func (t table) Row(i int) []float32 { return t[i] }

// fourRows are rows [s, a, r, s', d] of one observation and one action, with a constant s'.
var fourRows = table{{0, -1, 10, 1000, 0}, {2, 1, 20, 1000, 0}, {4, 0.5, 40, 1000, 1}, {6, 0, 10, 1000, 0}}

func TestMinMaxNormaliser(t *testing.T) {
	c := Default()
	l := newLayout(c, replay.Shape{Obs: 1, Act: 1})
	n, err := fitNormaliser(c, fourRows, l)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, l.width())
	n.normalise(x, fourRows[2])
	for j, want := range []float64{4/(6+1e-5)*2 - 1, 1.5/(2+1e-5)*2 - 1, 30/(30+1e-5)*2 - 1, -1} {
		near(t, "normalised", float64(x[j]), want, 1e-6)
	}
	checkRestored(t, n, l)
}

func TestStandardNormaliser(t *testing.T) {
	c := Default()
	c.Normaliser = NormaliserStandard
	c.SkipReward = true
	c.ModelTerminals = true
	l := newLayout(c, replay.Shape{Obs: 1, Act: 1})
	n, err := fitNormaliser(c, fourRows, l)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, l.width())
	n.normalise(x, fourRows[2])
	// Deviations use n−1, as torch.std does: that of {0,2,4,6} is √(20/3).
	for j, want := range []float64{1 / (math.Sqrt(20.0/3) + 1e-5), 0.375 / (math.Sqrt(2.1875/3) + 1e-5), 40, 0, 1} {
		near(t, "normalised", float64(x[j]), want, 1e-5)
	}
	checkRestored(t, n, l)
	// Values generated around a constant stay next to it.
	restored := make([]float32, l.width())
	n.restore(restored, []float32{0, 0, 0, 3, 0})
	near(t, "constant dimension", float64(restored[3]), 1000, 1e-4)
}

func checkRestored(t *testing.T, n normaliser, l layout) {
	t.Helper()
	x, back := make([]float32, l.width()), make([]float32, l.width())
	for _, row := range fourRows {
		n.normalise(x, row)
		vector := make([]float32, l.width())
		n.coordinates.leave(vector, x)
		n.restore(back, vector)
		for j, want := range row[:l.width()] {
			if math.IsNaN(float64(x[j])) {
				t.Errorf("column %d is NaN after normalising", j)
			}
			near(t, "restored", float64(back[j]), float64(want), 1e-5*math.Max(1, math.Abs(float64(want))))
		}
	}
}

func TestNormaliserRefuses(t *testing.T) {
	c := Default()
	l := newLayout(c, replay.Shape{Obs: 1, Act: 1})
	if _, err := fitNormaliser(c, table{}, l); err == nil {
		t.Error("an empty buffer passes")
	}
	for _, kind := range []string{NormaliserMinMax, NormaliserStandard} {
		c.Normaliser = kind
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			for at := range 3 {
				rows := table{{0, 0, 0, 0, 0}, {1, 1, 1, 1, 0}, {2, 2, 2, 2, 0}}
				rows[at][2] = float32(bad)
				if _, err := fitNormaliser(c, rows, l); err == nil || !strings.Contains(err.Error(), "column 2") {
					t.Errorf("%s: a reward of %g in row %d gives error %v", kind, bad, at, err)
				}
			}
		}
	}
	if _, err := fitNormaliser(c, table{{0, 0, 0, 0, 0}}, l); err == nil {
		t.Error("standard deviation of one row passes")
	}
}

func TestFinishedRows(t *testing.T) {
	shape := replay.Shape{Obs: 1, Act: 2}
	plain := newLayout(Default(), shape)
	if plain.width() != 5 || plain.row() != 6 || plain.reward() != 3 {
		t.Errorf("layout without terminals: width %d, row %d, reward %d; want 5 6 3", plain.width(), plain.row(), plain.reward())
	}
	c := Default()
	c.ModelTerminals = true
	modelled := newLayout(c, shape)
	if modelled.width() != 6 {
		t.Errorf("width with terminals is %d, want 6", modelled.width())
	}
	var within normaliser // of which angles alone would need the range
	row := func() []float32 { return []float32{5, 1.2, -1.3, 2, 3, 0.6} }
	for _, want := range []struct {
		layout      layout
		limits      *normaliser
		act1, act2  float32
		done, input float32
	}{
		{plain, &within, 1, -1, 0, 0.6}, {plain, nil, 1.2, -1.3, 0, 0.6},
		{modelled, &within, 1, -1, 1, 0.6}, {modelled, &within, 1, -1, 0, 0.5}, {modelled, nil, 1.2, -1.3, 0, -4},
	} {
		got := row()
		got[5] = want.input
		want.layout.finish(got, want.limits)
		if got[0] != 5 || got[1] != want.act1 || got[2] != want.act2 || got[5] != want.done {
			t.Errorf("finished row %v, want actions %g %g and terminal %g", got, want.act1, want.act2, want.done)
		}
	}
}
