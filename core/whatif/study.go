package whatif

import (
	"fmt"
	"math"
	"slices"

	"pgrlab/core/agent"
	"pgrlab/core/analysis"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/run"
)

// Progress is how far a study is. Done and Total are in thousandths of a critic update,
// other work by about what it takes of its time.
type Progress struct {
	Doing       string
	Done, Total int
}

// Who makes rows.
const (
	MadeByNone      = "" // of real rows only
	MadeByGenerator = "generator"
	MadeBySimulator = "simulator"
)

// Arm is what became of the agent that was trained with one kind of rows: a line of the
// table and one of its two columns. The slices have a number for each repeat.
type Arm struct {
	Rows   Rows   `json:"rows"`
	MadeBy string `json:"made_by,omitempty"`
	D      int    `json:"synthetic,omitempty"` // rows of D_syn
	Left   int    `json:"left_out,omitempty"`  // rows of all repeats that the simulator did not take: they are in neither column

	TDError    []run.Float `json:"td_error"`
	ValueError []run.Float `json:"value_error"`
	Bias       []run.Float `json:"bias"`    // mean of Q − G
	Scatter    []run.Float `json:"scatter"` // its standard deviation: value error² = bias² + scatter²
	Return     []run.Float `json:"return"`

	// Of rows that a generator made, beside the simulator's: in units of the variance of
	// real s' − s and of real rewards (see analysis.DynamicsError).
	Change []run.Float `json:"change_error,omitempty"`
	Reward []run.Float `json:"reward_error,omitempty"`
	// What the best constant guess of each has on these rows.
	ConstantChange []run.Float `json:"constant_change,omitempty"`
	ConstantReward []run.Float `json:"constant_reward,omitempty"`
	// Relevant is the share of the simulator's rows whose F is in the upper quarter of
	// the real ones: whether more relevant rows are asked for.
	Relevant []run.Float `json:"relevant,omitempty"`
}

// Table is what a study found.
type Table struct {
	Plan     Plan      `json:"plan"`
	Real     int       `json:"real"`                // rows of D_real
	HeldOut  int       `json:"held_out"`            // rows
	Judged   int       `json:"judged"`              // of them with a whole future
	Spread   run.Float `json:"return_spread"`       // standard deviation of their G: a constant guess has this value error
	NoOracle string    `json:"no_oracle,omitempty"` // why there are no rows of the simulator; "": there are

	Saved Arm   `json:"saved"` // the checkpoint's agent as it was; its return has one evaluation for each repeat
	Arms  []Arm `json:"arms"`

	Findings []Finding `json:"findings"`
}

// study is one under way.
type study struct {
	Subject
	plan    Plan
	breathe func(Progress) error
	Progress
	held  *heldOut
	sim   analysis.Simulator // nil: there is none
	ref   analysis.Reference
	quart float64 // upper quartile of F of the real rows
	table *Table
}

// What work takes, as Progress counts it.
const (
	costUpdate   = 1000
	costStep     = 60  // an env step with its action
	costSample   = 200 // a row of D_syn
	costSimulate = 60  // and its twin of the simulator
)

// Run makes the table. Between two pieces of work it breathes; an error of that ends
// it. The same subject and plan give the same table.
func Run(s Subject, p Plan, breathe func(Progress) error) (*Table, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	mix := s.Mix(p.Sampling.Samples)
	if mix.Synthetic == 0 {
		return nil, fmt.Errorf("a batch of %d rows has no synthetic ones of %d: raise the ratio r or the number of samples", mix.Size(), p.Sampling.Samples)
	}
	x := &study{Subject: s, plan: p, breathe: breathe, table: &Table{Plan: p, Real: s.Real.Len()}}
	x.Total = x.cost()
	if err := x.prepare(); err != nil {
		return nil, err
	}
	if err := x.all(); err != nil {
		return nil, err
	}
	x.table.conclude()
	return x.table, nil
}

// cost is about all there is to do.
func (x *study) cost() (all int) {
	p, rows := x.plan, x.plan.rows()
	evaluation := p.Episodes * x.EpisodeSteps * costStep
	arm := 2*p.Updates*costUpdate + evaluation
	all = evaluation + p.Repeats*(evaluation+arm) // held out, as saved, real only
	for i, r := range rows[1:] {
		if r.Relevance != rows[i].Relevance {
			all += x.FitCost(r.Relevance) * costUpdate
		}
		all += p.Repeats * (2*arm + p.Sampling.Samples*(costSample+costSimulate))
	}
	return all
}

// count notes a piece of work and breathes.
func (x *study) count(cost int) error {
	x.Done = min(x.Done+cost, x.Total)
	return x.breathe(x.Progress)
}

// prepare plays the held-out episodes and finds out what can be simulated.
func (x *study) prepare() (err error) {
	x.Doing = "held-out episodes"
	if x.held, err = x.hold(); err != nil {
		return err
	}
	t := x.table
	t.HeldOut, t.Judged, t.Spread = x.held.rows, len(x.held.judged), run.Float(x.held.spread)
	x.ref = analysis.NewReference(x.Real.Shape(), x.Real.Len(), x.Real.Row)
	x.quart = math.NaN()
	if x.Score == nil {
		return nil
	}
	scores := make([]float32, x.Real.Len())
	if err := x.Score(scores, x.Real); err != nil {
		return err
	}
	x.quart = analysis.Quantile(scores, 0.75)
	return nil
}

// all fills the table, one generator after the other.
func (x *study) all() error {
	sim, closeSim, err := x.Simulator()
	if err != nil {
		x.table.NoOracle = err.Error()
	} else {
		defer closeSim()
		x.sim = sim
	}
	if err := x.asSaved(); err != nil {
		return err
	}
	rows := x.plan.rows()
	real := Arm{Rows: rows[0]}
	for i := range x.plan.Repeats {
		if err := x.train(&real, i, nil); err != nil {
			return err
		}
	}
	x.table.Arms = append(x.table.Arms, real)
	for _, f := range generators(rows) {
		if err := x.generator(f, rows); err != nil {
			return err
		}
	}
	return nil
}

// generators are the relevance functions that rows need a generator of, each once.
func generators(rows []Rows) (all []string) {
	for _, r := range rows {
		if !r.real() && (len(all) == 0 || all[len(all)-1] != r.Relevance) {
			all = append(all, r.Relevance)
		}
	}
	return all
}

// generator makes all rows of one F.
func (x *study) generator(relevance string, rows []Rows) error {
	x.Doing = "fit a generator, relevance " + relevance
	begun, cost := x.Done, float64(x.FitCost(relevance)*costUpdate)
	upTo := func(share float64) error {
		x.Done = begun + int(share*cost)
		return x.breathe(x.Progress)
	}
	g, release, err := x.Generator(relevance, upTo)
	if err != nil {
		return err
	}
	defer release()
	if err := upTo(1); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Relevance != relevance {
			continue
		}
		made, oracle := Arm{Rows: r, MadeBy: MadeByGenerator}, Arm{Rows: r, MadeBy: MadeBySimulator}
		for i := range x.plan.Repeats {
			if err := x.repeat(g, i, &made, &oracle); err != nil {
				return fmt.Errorf("%s: %w", r, err)
			}
		}
		x.table.Arms = append(x.table.Arms, made)
		if x.sim != nil {
			x.table.Arms = append(x.table.Arms, oracle)
		}
	}
	return nil
}

// repeat makes a D_syn and its twin of the simulator, and trains with each.
func (x *study) repeat(g Generator, i int, made, oracle *Arm) error {
	x.Doing = made.Rows.String()
	syn, err := x.generate(g, made.Rows.knobs(x.plan), i)
	if err != nil {
		return err
	}
	if x.sim == nil {
		return x.train(made, i, syn)
	}
	told, true_, err := x.oracle(syn, made)
	if err != nil {
		return err
	}
	if x.sim == nil { // it took none of the rows
		return x.train(made, i, syn)
	}
	oracle.Left = made.Left
	if err := x.train(made, i, told); err != nil {
		return err
	}
	return x.train(oracle, i, true_)
}

// firstOccasion is that of the first repeat's generation: no run has as many.
const firstOccasion = 1 << 30

// generate makes a D_syn. Generations of one repeat share their noise.
func (x *study) generate(g Generator, knobs generative.GenKnobs, i int) (*replay.Ring, error) {
	syn := replay.NewRing(x.Real.Shape(), knobs.Samples)
	if err := g.StartGenerate(knobs, firstOccasion+uint64(i)); err != nil {
		return nil, err
	}
	before, cost := x.Done, knobs.Samples*costSample
	for {
		rows, done, total, err := g.GenerateSlice()
		if err != nil {
			return nil, err
		}
		syn.AddRows(rows)
		x.Done = before
		if err := x.count(cost * done / total); err != nil {
			return nil, err
		}
		if done == total {
			return syn, nil
		}
	}
}

// streams are the random numbers of a repeat.
func (x *study) stream(i int) rng.Stream {
	return rng.New(x.plan.Seed, "what-if").Sub(fmt.Sprintf("repeat %d", i))
}

// asSaved measures the checkpoint's agent before any update.
func (x *study) asSaved() error {
	x.Doing = "as saved"
	l, err := x.Learner(x.plan.Seed)
	if err != nil {
		return err
	}
	defer l.Close()
	a := &x.table.Saved
	td, value, bias, err := x.held.measure(l, x.Gamma)
	if err != nil {
		return err
	}
	a.judge(td, value, bias)
	for i := range x.plan.Repeats {
		mean, err := x.play(l, i)
		if err != nil {
			return err
		}
		a.Return = append(a.Return, run.Float(mean))
	}
	return nil
}

// train trains with D_real and syn, twice from the checkpoint: critics alone, for the
// errors, and the whole agent, for the return. syn is nil for real rows only.
func (x *study) train(a *Arm, i int, syn *replay.Ring) error {
	mix := replay.Mix{Real: x.Mix(x.plan.Sampling.Samples).Size()}
	if syn != nil {
		mix = x.Mix(syn.Len())
		a.D = syn.Len()
	}
	x.Doing = a.Rows.String()
	if a.MadeBy == MadeBySimulator {
		x.Doing += ", by the simulator"
	}
	critics := x.Rates
	critics.LRActor = 0 // neither the policy nor α moves
	err := x.updated(i, mix, syn, critics, func(l Learner) error {
		td, value, bias, err := x.held.measure(l, x.Gamma)
		a.judge(td, value, bias)
		return err
	})
	if err != nil {
		return err
	}
	return x.updated(i, mix, syn, x.Rates, func(l Learner) error {
		mean, err := x.play(l, i)
		a.Return = append(a.Return, run.Float(mean))
		return err
	})
}

// judge notes the errors of a repeat.
func (a *Arm) judge(td, value, bias float64) {
	scatter := math.Sqrt(max(0, value*value-bias*bias))
	a.TDError, a.ValueError = append(a.TDError, run.Float(td)), append(a.ValueError, run.Float(value))
	a.Bias, a.Scatter = append(a.Bias, run.Float(bias)), append(a.Scatter, run.Float(scatter))
}

// updatesPiece is how many updates are a piece of work.
const updatesPiece = 25

// updated makes the updates of a repeat from the checkpoint, and measures.
func (x *study) updated(i int, mix replay.Mix, syn *replay.Ring, rates agent.Rates, measure func(Learner) error) error {
	s := x.stream(i)
	l, err := x.Learner(s.Sub("learner").At(0).Uint64())
	if err != nil {
		return err
	}
	defer l.Close()
	batch, err := l.Batch(mix.Size())
	if err != nil {
		return err
	}
	mixer := replay.NewMixer(s.Sub("batches"))
	for n := range x.plan.Updates {
		if err := mixer.Sample(batch, mix, x.Real, syn, uint64(n)); err != nil {
			return err
		}
		last := n%x.UTD == x.UTD-1 || n == x.plan.Updates-1
		if _, _, err := l.Update(mix.Size(), rates, last); err != nil {
			return fmt.Errorf("update %d: %w", n, err)
		}
		if (n+1)%updatesPiece == 0 {
			if err := x.count(updatesPiece * costUpdate); err != nil {
				return err
			}
		}
	}
	return measure(l)
}

// play is the mean return of the policy's mean action over the episodes of a repeat.
func (x *study) play(l Learner, i int) (float64, error) {
	n := x.plan.Episodes
	envs, err := x.Episodes(n, x.stream(i).Sub("evaluation").At(0).Uint64())
	if err != nil {
		return 0, err
	}
	defer envs.Close()
	obs, act := make([]float32, n*envs.ObsSize()), make([]float32, n*envs.ActSize())
	rewards, over := make([]float64, n), make([]bool, n)
	if err := envs.Reset(0, obs); err != nil {
		return 0, fmt.Errorf("evaluate: %w", err)
	}
	sum := 0.0
	for t := 0; t < x.EpisodeSteps && slices.Contains(over, false); t++ {
		if err := l.Act(&agent.Acting{Copies: n, Obs: obs, Actions: act, Mode: agent.Mean}); err != nil {
			return 0, err
		}
		if err := envs.Step(act, obs, rewards, over); err != nil {
			return 0, fmt.Errorf("evaluate: %w", err)
		}
		for _, r := range rewards {
			sum += r / float64(n)
		}
		if err := x.count(n * costStep); err != nil {
			return 0, err
		}
	}
	return sum, nil
}
