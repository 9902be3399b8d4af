package relevance

import (
	"math"
	"testing"

	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// plane has two observations and two actions.
var plane = replay.Shape{Obs: 2, Act: 2}

// transitions makes transitions s' = s + 0.4·tanh(a + s) per dimension in the known region. In the
// unknown region s lies elsewhere and the action pushes the other way.
func transitions(b *replay.Batch, known bool, stream string, occasion uint64) {
	q := rng.New(61, stream).At(occasion)
	for i := range b.Size {
		for k := range 2 {
			obs, act := 2*q.Float64()-1, 2*q.Float64()-1
			push := 0.4 * math.Tanh(act+obs)
			if !known {
				obs += 2.5
				push = -push
			}
			b.Obs[2*i+k], b.Act[2*i+k], b.Next[2*i+k] = float32(obs), float32(act), float32(obs+push)
		}
	}
}

func meanScore(t *testing.T, m *ICM, b *replay.Batch) (mean float64) {
	t.Helper()
	scores := make([]float32, b.Size)
	if err := m.Score(scores, b, b.Size); err != nil {
		t.Fatal(err)
	}
	for _, f := range scores {
		mean += float64(f) / float64(b.Size)
	}
	return mean
}

// A model that is trained on one region finds it ever less curious and another region much more so,
// and can tell the action from the observations. A model that had learned nothing about the forward
// dynamics would score both regions alike.
func TestCuriosityFallsOnWhatIsKnown(t *testing.T) {
	c := DefaultICM()
	c.Hidden, c.Batch, c.LR = 32, 128, 1e-3
	m := newICMFor(t, c, plane)
	seen, novel := replay.NewBatch(plane, 512), replay.NewBatch(plane, 512)
	transitions(seen, true, "seen", 0)
	transitions(novel, false, "novel", 0)
	untrained := meanScore(t, m, novel) / meanScore(t, m, seen)
	scores := []float64{}
	for update := range 1500 {
		if update%300 == 200 {
			scores = append(scores, meanScore(t, m, seen))
		}
		transitions(m.Batch(), true, "train", uint64(update))
		if _, err := m.Train(); err != nil {
			t.Fatal(err)
		}
	}
	known, unknown := meanScore(t, m, seen), meanScore(t, m, novel)
	scores = append(scores, known)
	t.Logf("curiosity of the known region %.3g, of the other %.3g; before training the ratio was %.2g", scores, unknown, untrained)
	if !(known < scores[0]/3) {
		t.Errorf("curiosity of known transitions fell from %.3g to %.3g, want less than a third", scores[0], known)
	}
	if !(unknown > 20*known) || !(unknown/known > 5*untrained) {
		t.Errorf("novel transitions score %.3g, known ones %.3g (ratio %.3g before training); want 20 times as much", unknown, known, untrained)
	}

	actions := make([]float32, 2*seen.Size)
	if err := m.PredictActions(actions, seen, seen.Size); err != nil {
		t.Fatal(err)
	}
	wrong, spread := 0.0, 0.0
	for i, a := range actions {
		wrong += math.Pow(float64(a-seen.Act[i]), 2)
		spread += math.Pow(float64(seen.Act[i]), 2)
	}
	if !(wrong < spread/10) {
		t.Errorf("the inverse model explains %.2f of the actions' variance, want 0.9", 1-wrong/spread)
	}
}
