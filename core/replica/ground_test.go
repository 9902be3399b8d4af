package replica

import (
	"bytes"
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/ground"
	"pgrlab/core/inspect"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/testing/tiny"
)

// A probe finds what a plain loop over Update and an episode finds, and leaves the replica as it was.
func TestGroundEqualsAPlainLoop(t *testing.T) {
	c := tiny.Config()
	c.Knobs.LRActor = 3e-2 // neighbours differ
	m, now := newReplica(t, c)
	train(t, m, now.Settings, 1, 20)
	refit(t, m, now.Settings, 0)
	train(t, m, now.Settings, 21, 24)
	now.Step = 24
	state := func() string {
		var b bytes.Buffer
		if err := m.Agent.Save(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before := state()
	g, err := m.NewGround(now, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	train(t, m, now.Settings, 25, 26) // what the probe needs it has
	after := state()
	if err := inspect.Finish(g.Pieces()); err != nil {
		t.Fatal(err)
	}
	if after != state() {
		t.Error("the probe changes the agent")
	}
	if over, of := g.Episodes(); over != of || of != ground.Neighbours+c.Evaluation.Episodes || len(g.Present) != c.Evaluation.Episodes {
		t.Fatalf("%d of %d episodes, %v", over, of, g.Present)
	}

	if mix := g.batches[0].Size; mix != m.mix(now).Size() || m.mix(now).Synthetic == 0 {
		t.Fatalf("batches of %d, mixed as %+v", mix, m.mix(now))
	}
	stream := rng.New(m.Seed, "ground").Sub("probe 3")
	distinct := map[float64]bool{}
	for i, got := range g.Neighbours {
		l, err := m.Parts.Learner(nil, stream.Sub("learner").At(0).Uint64())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.Load(bytes.NewReader([]byte(before))); err != nil {
			t.Fatal(err)
		}
		b, err := l.Batches.Batch(c.Knobs.Batch)
		if err != nil {
			t.Fatal(err)
		}
		from := g.batches[i]
		for _, of := range [][2][]float32{{b.Obs, from.Obs}, {b.Act, from.Act}, {b.Reward, from.Reward}, {b.Next, from.Next}, {b.Done, from.Done}} {
			copy(of[0], of[1])
		}
		if _, stepped, err := l.Batches.Update(c.Knobs.Batch, Rates(now.Settings), true); err != nil || !stepped {
			t.Fatal(stepped, err)
		}
		want := plainEpisode(t, m, l, 2*uint64(c.Evaluation.Episodes)+uint64(i%c.Evaluation.Episodes))
		if math.Abs(got-want) > 0.1*math.Abs(want) {
			t.Errorf("neighbour %d returns %g, a plain loop %g", i, got, want)
		}
		distinct[got] = true
	}
	if len(distinct) < ground.Neighbours/4 {
		t.Errorf("%d different returns", len(distinct))
	}
	again, err := m.NewGround(now, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	other, err := m.NewGround(now, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	if same := equal(again.batches, g.batches); same {
		t.Error("the same batches two env steps later") // D_real has grown
	}
	if equal(other.batches, again.batches) {
		t.Error("another probe has the same batches")
	}
}

func equal(a, b []*replay.Batch) bool {
	for i := range a {
		for k, v := range a[i].Obs {
			if v != b[i].Obs[k] {
				return false
			}
		}
	}
	return true
}

// plainEpisode is the return of the mean action in the episode of that number.
func plainEpisode(t *testing.T, m *Replica, p agent.Policy, number uint64) (sum float64) {
	t.Helper()
	env, err := m.Task.NewVec(1, evaluationSeed(m.Seed))
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	obs, act, reward, over := make([]float32, tiny.Obs), make([]float32, tiny.Act), make([]float64, 1), make([]bool, 1)
	if err := env.Reset(number, obs); err != nil {
		t.Fatal(err)
	}
	for !over[0] {
		if err := p.Act(&agent.Acting{Copies: 1, Obs: obs, Actions: act, Mode: agent.Mean}); err != nil {
			t.Fatal(err)
		}
		if err := env.Step(act, obs, reward, over); err != nil {
			t.Fatal(err)
		}
		sum += reward[0]
	}
	return sum
}

// Each start that is used has several neighbours, however many episodes evaluations have.
func TestGroundHasSeveralNeighboursOfEachStart(t *testing.T) {
	c := tiny.Config()
	c.Evaluation.Episodes = ground.Neighbours
	m, now := newReplica(t, c)
	train(t, m, now.Settings, 1, 20)
	now.Step = 20
	g, err := m.NewGround(now, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := inspect.Finish(g.Pieces()); err != nil {
		t.Fatal(err)
	}
	if n := len(g.Neighbours) / len(g.Present); n < 4 {
		t.Errorf("%d neighbours of each start", n)
	}
}
