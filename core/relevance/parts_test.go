package relevance

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgrlab/core/device"
	"pgrlab/core/device/cpu"
	"pgrlab/core/testing/allocs"
)

// cutFrameRND makes a model whose updates of 7 rows are cut into parts of at most slice.
func cutFrameRND(t testing.TB, slice int) *FrameRND {
	c := smallFrameRND()
	c.Batch, c.Slice = 7, slice
	return newFrameRND(t, c, minFrameSide, cpu.Options{Threads: 2})
}

func TestPartsOfABatch(t *testing.T) {
	dev := newDevice(t)
	for _, c := range []struct {
		batch, slice int
		want         []int
	}{
		{256, 0, []int{256}}, {256, 256, []int{256}}, {256, 1000, []int{256}}, {256, 128, []int{128, 128}},
		{7, 4, []int{4, 3}}, {7, 3, []int{3, 3, 1}}, {7, 2, []int{2, 2, 2, 1}}, {3, 1, []int{1, 1, 1}},
	} {
		if got := partsOf(c.batch, c.slice, dev); !slices.Equal(got, c.want) {
			t.Errorf("%d rows in slices of %d: %v, want %v", c.batch, c.slice, got, c.want)
		}
	}
	if got := partsOf(256, 32, sequencer{}); !slices.Equal(got, []int{256}) {
		t.Errorf("on a device that runs programs alone: %v", got)
	}
}

// sequencer is a device that says that it does not need the host between programs.
type sequencer struct{ device.Sequencer }

// Updates in parts are those of the whole batch, to rounding: losses, weights and scores. All parts
// have to add their rows for that.
func TestAnUpdateInPartsIsThatOfTheWhole(t *testing.T) {
	type said struct {
		losses  []float64
		weights []float32
		scores  []float32
	}
	learn := func(slice int) (s said) {
		m := cutFrameRND(t, slice)
		for update := range uint64(5) {
			film(m.Batch(), minFrameSide, update)
			loss, err := m.Train()
			if err != nil {
				t.Fatal(err)
			}
			s.losses = append(s.losses, loss)
		}
		for _, p := range m.predictor.params() {
			s.weights = append(s.weights, p.Data...)
		}
		s.scores = make([]float32, 4)
		if err := m.Score(s.scores, filmed(4, minFrameSide, 9), 4); err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := learn(0)
	for _, slice := range []int{4, 2, 1} {
		cut := learn(slice)
		for i, want := range whole.losses {
			near(t, fmt.Sprintf("slices of %d: loss %d", slice, i), cut.losses[i], want, 1e-4*want)
		}
		for i, want := range whole.scores {
			near(t, fmt.Sprintf("slices of %d: score %d", slice, i), float64(cut.scores[i]), float64(want), 2e-3*float64(want))
		}
		far := 0.0
		for i, want := range whole.weights {
			far = max(far, math.Abs(float64(cut.weights[i]-want)))
		}
		if far > 1e-3 { // a fifth of what five steps of Adam move a weight
			t.Errorf("slices of %d: a weight differs by %g", slice, far)
		}
	}
}

// A model that is saved between two parts and loaded goes on with the same bits. Only the last part
// has a loss.
func TestAnUpdateGoesOnBetweenParts(t *testing.T) {
	learn := func(saved int) ([]byte, float64) {
		m := cutFrameRND(t, 2)
		film(m.Batch(), minFrameSide, 1)
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
		film(m.Batch(), minFrameSide, 2)
		var loss float64
		for done := range m.Parts() {
			if done == saved {
				var file bytes.Buffer
				if err := m.Save(&file); err != nil {
					t.Fatal(err)
				}
				m = cutFrameRND(t, 2)
				if err := m.Load(&file); err != nil {
					t.Fatal(err)
				}
				film(m.Batch(), minFrameSide, 2)
			}
			var err error
			if loss, err = m.TrainPart(done); err != nil {
				t.Fatal(err)
			}
			if last := done == m.Parts()-1; math.IsNaN(loss) == last {
				t.Errorf("part %d of %d has loss %g", done, m.Parts(), loss)
			}
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		return file.Bytes(), loss
	}
	want, loss := learn(-1)
	for saved := range 4 {
		if got, other := learn(saved); !bytes.Equal(got, want) || other != loss {
			t.Errorf("saved before part %d, it has loss %g and other weights, want %g", saved, other, loss)
		}
	}
}

func TestAnUpdateInPartsDoesNotAllocate(t *testing.T) {
	m := cutFrameRND(t, 2)
	film(m.Batch(), minFrameSide, 1)
	if n := allocs.Least(5, func() {
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an update", n)
	}
}
