package replica

import (
	"math"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/testing/tiny"
)

// β rises to 1 over the run, and every transition has a priority, which follows the error in its
// last batch.
func TestPrioritiesFollowTheBatches(t *testing.T) {
	c := tiny.Config()
	c.Method, c.Generator.Kind, c.Generator.Conditional = config.MethodSAC, config.GeneratorNone, false
	c.Knobs.Relevance, c.Knobs.Ratio, c.Steps = relevance.None, 0, 20
	c.Replay = config.Replay{Priority: config.PriorityTD}
	m, now := newReplica(t, c)
	for step, want := range map[int]float64{0: 0.4, 10: 0.7, 20: 1} {
		now.Step = step
		if got := m.beta(now); math.Abs(got-want) > 1e-12 {
			t.Errorf("β is %v at step %d of 20, want %v", got, step, want)
		}
	}
	train(t, m, now.Settings, 1, 20)
	if m.priorities.Len() != 20 {
		t.Fatalf("%d priorities of 20 transitions", m.priorities.Len())
	}
	learner := m.Agent.Batches
	b, err := learner.Batch(8)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.sampleBatch(Now{Step: 20, Settings: now.Settings}, b, replay.Mix{Real: 8}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := learner.Update(8, Rates(now.Settings), false); err != nil {
		t.Fatal(err)
	}
	if err := m.prioritise(b); err != nil {
		t.Fatal(err)
	}
	first, last := m.priorities.Rows()[0], m.priorities.Rows()[7]
	ratio := m.priorities.Probability(first) / m.priorities.Probability(last)
	want := math.Pow((float64(m.curious[0])+1e-6)/(float64(m.curious[7])+1e-6), 0.6)
	if first == last || math.Abs(ratio/want-1) > 1e-6 {
		t.Errorf("slots %d and %d: the probabilities' ratio is %v, that of the errors %v", first, last, ratio, want)
	}
}
