package relevance

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgrlab/core/nn"
	"pgrlab/core/replay"
)

func newRND(t *testing.T, c RNDConfig) *RND { return newRNDFor(t, c, three) }

func newRNDFor(t *testing.T, c RNDConfig, shape replay.Shape) *RND {
	t.Helper()
	m, err := NewRND(c, shape, newDevice(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func smallRND() RNDConfig {
	return RNDConfig{Hidden: 5, Features: 4, Batch: 6, LR: 1e-3, ScoreRows: 4}
}

// plainMLP evaluates a network in plain arithmetic.
func plainMLP(m nn.MLP, x []float64) []float64 {
	for i, l := range m.Layers {
		out := make([]float64, l.B.Shape[0])
		for j := range out {
			out[j] = float64(l.B.Data[j])
			for k, v := range x {
				if i > 0 {
					v = max(v, 0)
				}
				out[j] += v * float64(l.W.Data[k*len(out)+j])
			}
		}
		x = out
	}
	return x
}

// Score and loss agree with plain arithmetic, whitening included.
func TestRNDAgainstTheFormula(t *testing.T) {
	m := newRND(t, smallRND())
	fillBatch(m.Batch(), 1)
	for i := range m.Batch().Next {
		m.Batch().Next[i] = 3*m.Batch().Next[i] + 7
	}
	var mean, deviation [3]float64
	for k := range mean {
		for i := range 6 {
			mean[k] += float64(m.Batch().Next[3*i+k]) / 6
		}
		for i := range 6 {
			deviation[k] += math.Pow(float64(m.Batch().Next[3*i+k])-mean[k], 2) / 6
		}
		deviation[k] = math.Sqrt(deviation[k])
	}
	value := func(next []float32) (f float64) {
		x := make([]float64, 3)
		for k := range x {
			x[k] = min(max((float64(next[k])-mean[k])/deviation[k], -5), 5)
		}
		target, guess := plainMLP(m.target, x), plainMLP(m.predictor, x)
		for k := range target {
			f += math.Pow(target[k]-guess[k], 2) / float64(len(target))
		}
		return f
	}
	want := 0.0
	m.whitener.see(m.Batch().Next, 6)
	for i := range 6 {
		want += value(m.Batch().Next[3*i:]) / 6
	}
	m.whitener.setCount(0) // Train shows them to the whitener itself
	clear(m.whitener.mean.Data)
	clear(m.whitener.variance.Data)
	loss, err := m.Train()
	if err != nil {
		t.Fatal(err)
	}
	near(t, "loss", loss, want, 1e-5*want)
	scores := make([]float32, 6) // more than one run of the program
	far := replay.NewBatch(replay.Shape{Obs: 3, Act: 2}, 6)
	copy(far.Next, m.Batch().Next)
	far.Next[17] = 1e6 // cut off at 5
	if err := m.Score(scores, far, 6); err != nil {
		t.Fatal(err)
	}
	for i, f := range scores {
		near(t, "score", float64(f), value(far.Next[3*i:]), 1e-4*float64(f))
	}
	near(t, "paper's scale", m.PaperScale(), 2, 0)
}

// The statistics of many batches equal those of all their vectors together.
func TestWhitenerAddsBatches(t *testing.T) {
	one, many := newWhitener("one", 2), newWhitener("many", 2)
	x := make([]float32, 2*60)
	for i := range x {
		x[i] = float32(i*i%17) + 100*float32(i%2)
	}
	one.see(x, 60)
	for first := 0; first < 60; first += 20 {
		many.see(x[2*first:], 20)
	}
	for k := range 2 {
		near(t, "mean", float64(many.mean.Data[k]), float64(one.mean.Data[k]), 1e-4)
		near(t, "variance", float64(many.variance.Data[k]), float64(one.variance.Data[k]), 1e-3*float64(one.variance.Data[k]))
	}
	many.setCount(1<<40 + 3)
	if many.count() != 1<<40+3 {
		t.Errorf("the count is %v", many.count())
	}
}

// The variance stays what it is however many batches of that variance follow, which are less than the last digit of
// a sum of all of them.
func TestWhitenerGoesOnForever(t *testing.T) {
	w := newWhitener("w", 1)
	before, added := float64(1<<48), float64(1<<24)
	w.merge(0, 0, 3*before, 0, before)
	for range 1 << 20 {
		w.merge(0, 0, 3*added, before, added)
		before += added
	}
	near(t, "variance", float64(w.variance.Data[0]), 3, 1e-3)
}

// Vectors that it was trained on become less relevant, others do not.
func TestRNDFallsOnWhatIsKnown(t *testing.T) {
	c := DefaultRND()
	c.Hidden, c.Features, c.Batch, c.LR = 32, 16, 128, 1e-3
	m := newRNDFor(t, c, plane)
	seen, novel := replay.NewBatch(plane, 512), replay.NewBatch(plane, 512)
	transitions(seen, true, "seen", 0)
	transitions(novel, false, "novel", 0)
	score := func(b *replay.Batch) (mean float64) {
		scores := make([]float32, b.Size)
		if err := m.Score(scores, b, b.Size); err != nil {
			t.Fatal(err)
		}
		for _, f := range scores {
			mean += float64(f) / float64(b.Size)
		}
		return mean
	}
	var first float64
	for update := range 600 {
		transitions(m.Batch(), true, "train", uint64(update))
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
		if update == 0 {
			first = score(seen)
		}
	}
	known, unknown := score(seen), score(novel)
	t.Logf("known region %.3g, at first %.3g; the other %.3g", known, first, unknown)
	if !(known < first/20) || !(unknown > 5*known) {
		t.Errorf("known transitions score %.3g, at first %.3g, novel ones %.3g; want a twentieth and a fifth of these", known, first, unknown)
	}
}

func TestSavedRNDGoesOn(t *testing.T) {
	m := newRND(t, smallRND())
	train := func(m *RND, n int) (loss float64) {
		for i := range n {
			fillBatch(m.Batch(), uint64(i))
			var err error
			if loss, err = m.Train(); err != nil {
				t.Fatal(err)
			}
		}
		return loss
	}
	train(m, 300)
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	other := newRND(t, smallRND())
	if err := other.Load(&file); err != nil {
		t.Fatal(err)
	}
	if a, b := train(m, 20), train(other, 20); a != b {
		t.Errorf("the loaded pair goes on with loss %g, want %g", b, a)
	}
	for i, p := range m.state {
		if !slices.Equal(p.Data, other.state[i].Data) {
			t.Errorf("%s differs", p.Name)
		}
	}
	fresh := newRND(t, smallRND())
	if !slices.Equal(fresh.target.Layers[0].W.Data, m.target.Layers[0].W.Data) {
		t.Error("the target network was trained")
	}
}
