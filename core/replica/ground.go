package replica

import (
	"bytes"
	"cmp"
	"fmt"

	"pgrlab/core/agent"
	"pgrlab/core/ground"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/source"
)

// Ground plays the present policy and its neighbours, each of which is one update away (see package
// ground). It keeps what it takes of the replica, which may go on meanwhile; nothing in the replica
// changes by it. config.CheckGround says for which runs it can be done.
type Ground struct {
	Present    []float64 // returns so far, of the starts of the evaluation in their order
	Neighbours []float64 // returns so far

	of         *Replica
	settings   knob.Settings
	evaluation uint64
	stream     rng.Stream
	saved      []byte          // the learner
	batches    []*replay.Batch // of the updates
	learner    *agent.Made     // a copy of the learner, with random numbers of its own
	yield      func() error
}

// The length of a piece, in lockstep steps of the episodes: a millisecond or two at small scales.
const groundSteps = 25

// NewGround takes what probe number needs of the replica as it is. Starts are those of the evaluation
// of that number.
func (r *Replica) NewGround(now Now, number, evaluation uint64) (*Ground, error) {
	s := rng.New(r.Seed, "ground").Sub(fmt.Sprintf("probe %d", number))
	g := &Ground{of: r, settings: *now.Settings, evaluation: evaluation, stream: s}
	var saved bytes.Buffer
	if err := r.Agent.Save(&saved); err != nil {
		return nil, err
	}
	g.saved = saved.Bytes()
	mix, mixer, prior := r.mix(now), replay.NewMixer(s.Sub("batches")), s.Sub("prior")
	for i := range uint64(ground.Neighbours) {
		b := replay.NewBatch(r.Parts.Shape, mix.Size())
		if err := mixer.Sample(b, mix, r.Real, r.Synthetic, i); err != nil {
			return nil, err
		}
		r.samplePrior(now, b, mix, prior.At(i))
		g.batches = append(g.batches, b)
	}
	return g, nil
}

// Episodes are how many are over, and of how many.
func (g *Ground) Episodes() (over, of int) {
	return len(g.Present) + len(g.Neighbours), g.starts() + ground.Neighbours
}

// starts is how many of the evaluation's starts are used: the first ones.
func (g *Ground) starts() int { return min(g.of.Config.Evaluation.Episodes, ground.MostStarts) }

// Pieces is the work. When it has ended without an error, Present and Neighbours are complete.
func (g *Ground) Pieces() inspect.Pieces {
	return inspect.InPieces(func(yield func() error) (err error) {
		g.yield = yield
		if g.learner, err = g.of.Parts.Learner(nil, g.stream.Sub("learner").At(0).Uint64()); err != nil {
			return err
		}
		defer g.learner.Close()
		if err := yield(); err != nil {
			return err
		}
		if err := g.learner.Load(bytes.NewReader(g.saved)); err != nil {
			return err
		}
		starts := g.of.Config.Evaluation.Episodes
		err = g.with(starts, func(t *Trial) error {
			err := g.play(t, g.evaluation, &g.Present)
			g.Present = g.Present[:min(len(g.Present), g.starts())]
			return err
		})
		if err != nil {
			return err
		}
		return g.with(1, func(t *Trial) error { return g.neighbours(t, uint64(starts)) })
	})
}

// with makes environments as the run's evaluations have them, for a number of episodes in lockstep.
func (g *Ground) with(copies int, play func(*Trial) error) error {
	r := g.of
	from, host := source.Config{Task: r.Task, Name: r.Config.Task, Seed: evaluationSeed(r.Seed), Copies: copies}, &aside{}
	judge, err := source.NewJudge(from, 0, host)
	if err != nil {
		return err
	}
	defer judge.Close()
	if err := g.yield(); err != nil {
		return err
	}
	err = play(&Trial{of: r, policy: g.learner, judge: judge})
	return cmp.Or(host.why, err)
}

// neighbours makes the updates, and plays an episode after each. Episode starts·evaluation+i of one
// copy is that of copy i of as many as there are starts.
func (g *Ground) neighbours(t *Trial, starts uint64) error {
	for i := range uint64(ground.Neighbours) {
		if err := g.update(int(i)); err != nil {
			return err
		}
		if err := g.play(t, starts*g.evaluation+i%uint64(g.starts()), &g.Neighbours); err != nil {
			return err
		}
	}
	return nil
}

// update makes the copy of the learner neighbour i.
func (g *Ground) update(i int) error {
	if err := g.learner.Load(bytes.NewReader(g.saved)); err != nil {
		return err
	}
	from := g.batches[i]
	to, err := g.learner.Batches.Batch(from.Size)
	if err != nil {
		return err
	}
	if err := g.yield(); err != nil { // the first one compiles the programs
		return err
	}
	copy(to.Obs, from.Obs)
	copy(to.Act, from.Act)
	copy(to.Reward, from.Reward)
	copy(to.Next, from.Next)
	copy(to.Done, from.Done)
	if _, _, err := g.learner.Batches.Update(from.Size, Rates(&g.settings), true); err != nil {
		return fmt.Errorf("update %d: %w", i+1, err)
	}
	return g.yield()
}

// play adds the returns of the episodes of that number to those before.
func (g *Ground) play(t *Trial, number uint64, returns *[]float64) error {
	if err := t.open(number, g.settings.TV); err != nil {
		return err
	}
	for over := false; !over; {
		var err error
		if over, err = t.Step(groundSteps); err != nil {
			return err
		}
		if over {
			*returns = append(*returns, t.now.returns...)
		}
		if err := g.yield(); err != nil {
			return err
		}
	}
	return nil
}

// aside is the host of environments that are no part of the run: their lines are not its lines.
type aside struct{ why error } // why they cannot go on; nil: they can

func (*aside) Emit(string, any)            {}
func (h *aside) Fault(_ string, why error) { h.why = why }
