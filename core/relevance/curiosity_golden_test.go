package relevance

import (
	"testing"

	"pgrlab/core/nn"
	"pgrlab/core/op"
	"pgrlab/core/replay"
	"pgrlab/core/testing/golden"
)

// givenCuriosity is what the authors' program needs for the same updates.
type givenCuriosity struct {
	Obs, Act, Hidden int
	LR               float64
	Weights          []golden.Tensor
	Batches          []givenRows
	Scored           givenRows
}

type givenRows struct{ Obs, Act, Next []float32 }

func givenRowsOf(b *replay.Batch) givenRows {
	return givenRows{append([]float32(nil), b.Obs...), append([]float32(nil), b.Act...), append([]float32(nil), b.Next...)}
}

// TestGoldenCuriosity compares twenty updates of the curiosity model, its weights and the running statistics of its
// batch norms after them, and F before and after, with the authors' own class from the same weights and batches
// (testdata/curiosity.py imports it).
func TestGoldenCuriosity(t *testing.T) {
	c := smallICM()
	c.LR = 3e-3
	m, err := NewICM(c, three, newDevice(t), 4)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	// So small a network as PyTorch begins it hardly passes anything on, and Adam makes whole steps of gradients that are
	// nothing but rounding.
	for _, layers := range [][]nn.Linear{m.net.encoder, m.net.forward[0], m.net.block, m.net.forward[1]} {
		for _, l := range layers {
			for i := range l.W.Data {
				l.W.Data[i] *= 2.5
			}
		}
	}
	const updates, scored = 20, 8
	given := givenCuriosity{Obs: three.Obs, Act: three.Act, Hidden: c.Hidden, LR: c.LR, Weights: golden.Tensors(m.state)}
	for i := range uint64(updates) {
		fillBatch(m.Batch(), 10+i)
		given.Batches = append(given.Batches, givenRowsOf(m.Batch()))
	}
	b := replay.NewBatch(three, scored)
	fillBatch(b, 5)
	given.Scored = givenRowsOf(b)
	golden.Given(t, "testdata/curiosity-input.json", given)
	var want struct {
		Losses        []float64
		Before, After []float64
		Weights       []golden.Tensor
	}
	golden.Read(t, "testdata/curiosity-golden.json", &want)
	if golden.Writing() {
		return
	}
	score := func(when string, want []float64) {
		t.Helper()
		got := make([]float32, scored)
		if err := m.Score(got, b, scored); err != nil || len(want) != scored {
			t.Fatal(err, len(want))
		}
		for i, f := range want {
			golden.Near(t, "F "+when, float64(got[i]), f, 1e-5)
		}
	}
	score("before", want.Before)
	if len(want.Losses) != updates {
		t.Fatalf("they made %d updates", len(want.Losses))
	}
	for i, loss := range want.Losses {
		fillBatch(m.Batch(), 10+uint64(i))
		got, err := m.Train()
		if err != nil {
			t.Fatal(err)
		}
		golden.Near(t, "loss", got, loss, 1e-5)
	}
	// A batch norm takes away what the bias before it adds, so the gradient of that bias is rounding, and so is the
	// running mean after it. They have no biased variance: what scores read is the unbiased one.
	var got []*op.Tensor
	var theirs []golden.Tensor
	for i, x := range m.state {
		switch x.Name {
		case "curiosity.inverse0.b", "curiosity.inverse1.b":
			continue
		case "curiosity.norm0.running", "curiosity.norm1.running":
			copy(want.Weights[i].Data[:op.StatsUnbiased*c.Hidden], x.Data)
		}
		got, theirs = append(got, x), append(theirs, want.Weights[i])
	}
	golden.NearTensors(t, "after", got, theirs, 1e-4)
	score("after", want.After)
}
