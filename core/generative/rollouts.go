package generative

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"pgrlab/core/dynamics"
	"pgrlab/core/op"
	"pgrlab/core/plan"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
)

// rollouts are a generation of an Ensemble under way. A piece is a number of rollouts, to their end.
type rollouts struct {
	knobs    GenKnobs
	occasion uint64
	starts   rng.Stream // of the states in which rollouts begin, by rollout
	elites   rng.Stream // of the networks, by step and rollout
	fill     *filled    // the noise of the networks
	real     int        // transitions from which states are taken
	first    int        // rollouts done
	counted  Rollouts
	out      []float32
}

// acting keeps the noise of the policy in rollouts apart from that of env steps.
const acting = 1 << 63

// serve takes the scores of a fit that is complete. Those that are NaN are of transitions that are gone.
func (e *Ensemble) serve(scores []float32) {
	e.scores, e.ranked = scores, nil
	for i, f := range scores {
		if f == f {
			e.ranked = append(e.ranked, int32(i))
		}
	}
	slices.SortStableFunc(e.ranked, func(a, b int32) int { return cmp.Compare(scores[b], scores[a]) })
}

// growing is a ring of transitions, of which new ones overwrite the oldest.
type growing interface {
	Total() uint64
	Newest(age int) int
}

// total is how many transitions a ring has ever had; 0 of rows that do not grow.
func total(real Rows) uint64 {
	if ring, grows := real.(growing); grows {
		return ring.Total()
	}
	return 0
}

// forget drops F of transitions that were overwritten since it was computed, as they are where D_syn is generated
// again without a fit: what stands in their place has another F, and no rollout begins there.
func (e *Ensemble) forget() {
	ring, grows := e.real.(growing)
	if !grows || e.ranked == nil || ring.Total() == e.scoredAt {
		return
	}
	for age := range int(min(ring.Total()-e.scoredAt, uint64(e.real.Len()))) {
		if slot := ring.Newest(age); slot < len(e.scores) {
			e.scores[slot] = float32(math.NaN())
		}
	}
	e.scoredAt = ring.Total()
	e.serve(e.scores)
}

// StartGenerate begins rollouts with the elites of the last complete fit. It uses the knobs Samples,
// Horizon and TopFraction.
func (e *Ensemble) StartGenerate(knobs GenKnobs, occasion uint64) error {
	if e.model.Fitting() || e.generation != nil {
		return fmt.Errorf("generate: %w", errBusy)
	}
	e.forget()
	g, err := e.newRollouts(knobs, occasion, e.stream)
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	e.generation = g
	return nil
}

func (e *Ensemble) newRollouts(knobs GenKnobs, occasion uint64, s rng.Stream) (*rollouts, error) {
	switch {
	case e.model.Serving() == nil:
		return nil, errors.New("no fit is complete yet")
	case e.real == nil:
		return nil, errors.New("no real transitions are at hand to begin from")
	case e.policy == nil:
		return nil, errors.New("there is no policy to roll out")
	}
	if err := knobs.validate(); err != nil {
		return nil, err
	}
	fill, err := e.fills.Of(noiseKey{s.Sub("noise"), e.piece(knobs)})
	if err != nil {
		return nil, err
	}
	g := e.begun(knobs, occasion, s)
	g.fill, g.real, g.counted = fill, e.real.Len(), Rollouts{Horizon: int64(knobs.rollout()), Begun: int64(knobs.starts())}
	return g, nil
}

// begun are the random numbers of rollouts.
func (e *Ensemble) begun(knobs GenKnobs, occasion uint64, s rng.Stream) *rollouts {
	return &rollouts{knobs: knobs, occasion: occasion, starts: s.Sub("starts"), elites: s.Sub("elites")}
}

// noiseKey is what a noise program is compiled for.
type noiseKey struct {
	stream rng.Stream
	rows   int
}

// filled is a program that draws the noise of a step of a piece on the device, which has quicker ways
// than the host.
type filled struct {
	*plan.Program
	items plan.Items
	noise []float32
}

func (e *Ensemble) newFilled(key noiseKey) (*filled, error) {
	f := &filled{}
	var in, out *op.Node
	g, err := op.Build(fmt.Sprintf("noise of %d rollouts", key.rows), func(g *op.Graph) {
		in = g.Input("noise", key.rows, 1+e.shape.Obs)
		out = g.Scale(in, 1)
	})
	if err != nil {
		return nil, err
	}
	f.Program, err = plan.Compile(g, plan.Spec{Outputs: []*op.Node{out}, Fills: []plan.Fill{{Node: in, Stream: key.stream, Items: &f.items}}}, e.device)
	if err == nil {
		f.noise = f.Data(out)
	}
	return f, err
}

// starts is the number of rollouts.
func (k GenKnobs) starts() int { return (k.Samples + k.rollout() - 1) / k.rollout() }

// rollout is the number of steps of a rollout.
func (k GenKnobs) rollout() int { return max(1, k.Horizon) }

// mostActing is the most rows for which a policy acts at once.
const mostActing = 4096

// piece is how many rollouts make up a piece.
func (e *Ensemble) piece(k GenKnobs) int {
	return min(max(1, e.config.Chunk/k.rollout()), k.starts(), mostActing)
}

// GenerateSlice makes the rollouts of one piece.
func (e *Ensemble) GenerateSlice() (rows []float32, done, total int, err error) {
	g := e.generation
	if g == nil {
		return nil, 0, 0, errors.New("generate: no generation is under way")
	}
	if rows, done, total, err = e.roll(g); err != nil {
		return nil, 0, 0, fmt.Errorf("generate: %w", err)
	}
	if done == total {
		e.generation, e.rolled = nil, g.counted
	}
	return rows, done, total, nil
}

// roll makes the next piece. The policy's noise belongs to the place in the piece; all other random
// numbers belong to the rollout and its step.
func (e *Ensemble) roll(g *rollouts) (rows []float32, done, total int, err error) {
	n, k := e.piece(g.knobs), g.knobs
	r := e.begin(g, n)
	g.out = g.out[:0]
	for step := range k.rollout() {
		if err := e.policy.Sample(r.act, r.obs, n, acting|g.occasion<<31|uint64(g.first*k.rollout()+step)); err != nil {
			return nil, 0, 0, err
		}
		if err := e.predict(g, r, step); err != nil {
			return nil, 0, 0, err
		}
		e.take(g, r)
	}
	g.first += n
	return g.out, (g.first + n - 1) / n, (k.starts() + n - 1) / n, nil
}

// rolling are the rollouts of a piece at a step.
type rolling struct {
	obs, act, in, outcome []float32
	elite                 []int8 // of each row; dynamics.None if its rollout has ended
	ended                 []bool
	begins                []int32 // the real transition in whose state a rollout begins
}

func newRolling(shape replay.Shape, n int) *rolling {
	obs, act := shape.Obs, shape.Act
	return &rolling{
		obs: make([]float32, n*obs), act: make([]float32, n*act), in: make([]float32, n*(obs+act)), outcome: make([]float32, n*(1+obs)),
		elite: make([]int8, n), ended: make([]bool, n), begins: make([]int32, n),
	}
}

// begin places the rollouts of a piece. As in learned, states are touched before they are copied.
func (e *Ensemble) begin(g *rollouts, n int) *rolling {
	if e.rolling == nil || len(e.rolling.ended) != n {
		e.rolling = newRolling(e.shape, n)
	}
	r, obs := e.rolling, e.shape.Obs
	touched := float32(0)
	for i := range n {
		if r.ended[i] = g.first+i >= g.knobs.starts(); !r.ended[i] {
			r.begins[i] = int32(e.start(g, g.first+i))
			touched += e.real.Row(int(r.begins[i]))[0]
		}
	}
	e.touched = touched
	for i, ended := range r.ended {
		if !ended {
			copy(r.obs[i*obs:(i+1)*obs], e.real.Row(int(r.begins[i])))
		}
	}
	return r
}

// below returns number item of an occasion of a stream as a number from 0 to n−1. Its bias is at most
// n/2³², far below what a generation could show.
func below(n int, s rng.Stream, occasion, item uint64) int {
	words := s.Block(occasion, item/4)
	return int(uint64(words[item%4]) * uint64(n) >> 32)
}

// start returns the real transition in whose state rollout i begins.
func (e *Ensemble) start(g *rollouts, i int) int {
	n := g.real
	if e.ranked != nil {
		n = max(1, int(g.knobs.TopFraction*float64(len(e.ranked))))
	}
	at := below(n, g.starts, g.occasion, uint64(i))
	if e.ranked != nil {
		return int(e.ranked[at])
	}
	return at
}

// predict samples the outcomes of a step.
func (e *Ensemble) predict(g *rollouts, r *rolling, step int) error {
	obs, act := e.shape.Obs, e.shape.Act
	first := uint64(step*g.knobs.starts() + g.first) // of the places of all steps and rollouts
	for i := range r.elite {
		if r.elite[i] = dynamics.None; r.ended[i] {
			continue
		}
		r.elite[i] = int8(below(e.own.Elites, g.elites, g.occasion, first+uint64(i)))
		in := r.in[i*(obs+act) : (i+1)*(obs+act)]
		copy(in, r.obs[i*obs:(i+1)*obs])
		copy(in[obs:], r.act[i*act:(i+1)*act])
	}
	g.fill.items.First = first * uint64(1+obs)
	if err := g.fill.Run(g.occasion); err != nil {
		return err
	}
	return e.model.Sample(r.outcome, r.in, g.fill.noise, r.elite)
}

// take adds the transitions of a step to the generation, and moves the rollouts that go on.
func (e *Ensemble) take(g *rollouts, r *rolling) {
	obs, act := e.shape.Obs, e.shape.Act
	for i, elite := range r.elite {
		if elite == dynamics.None {
			continue
		}
		s, a, next := r.obs[i*obs:(i+1)*obs], r.act[i*act:(i+1)*act], r.outcome[i*(1+obs)+1:(i+1)*(1+obs)]
		if e.own.Target == TargetDelta {
			for j := range next {
				next[j] += s[j]
			}
		}
		if !finite(r.outcome[i*(1+obs) : (i+1)*(1+obs)]) {
			r.ended[i] = true
			g.counted.Dropped++
			continue
		}
		terminal := float32(0)
		if e.ends != nil && e.ends(s, a, next) {
			terminal, r.ended[i] = 1, true
		}
		if g.counted.Rows < int64(g.knobs.Samples) { // the last rollouts may be one step too long
			g.out = append(append(append(append(append(g.out, s...), a...), r.outcome[i*(1+obs)]), next...), terminal)
			g.counted.Rows++
			g.counted.Ended += int64(terminal)
		}
		copy(s, next)
	}
}

// PromptScores returns, for the first n rows of a generation, F of the transitions in whose states their
// rollouts begin; nil without scores, and where rollouts ended early, so that it is not known of which one a row is.
func (e *Ensemble) PromptScores(knobs GenKnobs, occasion uint64, n int) []float32 {
	if e.ranked == nil || e.rolled.Dropped > 0 || e.rolled.Ended > 0 && knobs.rollout() > 1 {
		return nil
	}
	return e.startScores(knobs, occasion, n, func(row int) int { return e.rolloutOf(knobs, row) })
}

// StartScores returns F of the transitions in whose states the first n rollouts of a generation begin, also
// where it is not known of which rollout a row is; nil without scores.
func (e *Ensemble) StartScores(knobs GenKnobs, occasion uint64, n int) []float32 {
	if e.ranked == nil {
		return nil
	}
	return e.startScores(knobs, occasion, n, func(rollout int) int { return rollout })
}

func (e *Ensemble) startScores(knobs GenKnobs, occasion uint64, n int, rollout func(i int) int) []float32 {
	g, out := e.begun(knobs, occasion, e.stream), make([]float32, n)
	for i := range out {
		out[i] = e.scores[e.start(g, rollout(i))]
	}
	return out
}

// rolloutOf is the rollout of row i where none ends early: rows are made piece by piece, and within a piece step
// by step.
func (e *Ensemble) rolloutOf(k GenKnobs, i int) int {
	n := e.piece(k)
	whole := n * k.rollout()
	first := i / whole * n
	return first + i%whole%max(1, min(n, k.starts()-first))
}

// Sketch begins rollouts beside a fit or a generation under way.
func (e *Ensemble) Sketch(knobs GenKnobs, occasion uint64) (next func() (rows []float32, done, total int, err error), err error) {
	g, err := e.newRollouts(knobs, occasion, e.stream.Sub("sketch"))
	if err != nil {
		return nil, fmt.Errorf("sketch: %w", err)
	}
	of := e.model.Serving()
	return func() ([]float32, int, int, error) {
		if of != e.model.Serving() {
			return nil, 0, 0, errors.New("sketch: a fit has been completed since it began")
		}
		return e.roll(g)
	}, nil
}
