package whatif

import (
	"fmt"

	"pgrlab/core/analysis"
	"pgrlab/core/generative"
	"pgrlab/core/replay"
	"pgrlab/core/rng"
	"pgrlab/core/run"
)

// Progress is how far a study is. Done and Total are in thousandths of a critic update; other work
// counts by about the time it takes.
type Progress struct {
	Doing string `json:"doing"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// What makes rows.
const (
	MadeByNone      = "" // of real rows only
	MadeByGenerator = "generator"
	MadeBySimulator = "simulator"
)

// Arm is the result for the agent that was trained with one kind of rows: a line of the table in
// one of its two columns. The slices have a number for each repeat: NaN if its updates diverged.
type Arm struct {
	Rows   Rows   `json:"rows"`
	MadeBy string `json:"made_by,omitempty"`
	D      int    `json:"synthetic,omitempty"` // rows of D_syn
	Left   int    `json:"left_out,omitempty"`  // rows of all repeats that the simulator did not take: they are in neither column

	Diverged int `json:"diverged,omitempty"` // repeats in which an update of the critics, or of the agent, was not finite

	TDError    []run.Float `json:"td_error"`
	ValueError []run.Float `json:"value_error"`
	Bias       []run.Float `json:"bias"`    // mean of Q − G
	Scatter    []run.Float `json:"scatter"` // its standard deviation: value error² = bias² + scatter²
	Return     []run.Float `json:"return"`

	// Change and Reward are the errors of rows that a generator made, compared with the
	// simulator's, in units of the variance of real s' − s and of real rewards (see
	// analysis.DynamicsError).
	Change []run.Float `json:"change_error,omitempty"`
	Reward []run.Float `json:"reward_error,omitempty"`
	// ConstantChange and ConstantReward are the errors of the best constant guess on these rows.
	ConstantChange []run.Float `json:"constant_change,omitempty"`
	ConstantReward []run.Float `json:"constant_reward,omitempty"`
	// Relevant is the share of the simulator's rows whose F is in the upper quarter of the real
	// ones. It shows whether more relevant rows are asked for.
	Relevant []run.Float `json:"relevant,omitempty"`
}

// Table is what a study found.
type Table struct {
	Plan     Plan      `json:"plan"`
	Real     int       `json:"real"`                // rows of D_real
	HeldOut  int       `json:"held_out"`            // rows
	Judged   int       `json:"judged"`              // held-out rows with a complete future
	Spread   run.Float `json:"return_spread"`       // standard deviation of the judged rows' G: a constant guess has this value error
	NoOracle string    `json:"no_oracle,omitempty"` // why there are no rows of the simulator; "": there are

	Saved Arm   `json:"saved"` // the checkpoint's agent as it was; its return has one evaluation for each repeat
	Arms  []Arm `json:"arms"`

	Findings []Finding `json:"findings"`
}

// study is a study under way.
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

// The cost of work, as Progress counts it.
const (
	costUpdate   = 1000
	costStep     = 60  // an env step with its action
	costSample   = 200 // a row of D_syn
	costSimulate = 60  // the simulator's twin of such a row
)

// Run makes the table. It calls breathe between pieces of work; an error of breathe ends it. The
// same subject and plan give the same table.
func Run(s Subject, p Plan, breathe func(Progress) error) (*Table, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if s.Real.Len() == 0 {
		return nil, fmt.Errorf("there are no real transitions yet: want a checkpoint of later")
	}
	mix := s.Mix(p.Sampling.Samples)
	if mix.Synthetic == 0 {
		return nil, fmt.Errorf("a batch of %d rows has no synthetic ones of %d: raise the ratio r or the number of samples", mix.Size(), p.Sampling.Samples)
	}
	x := &study{Subject: s, plan: p, breathe: breathe, table: &Table{Plan: p, Real: s.Real.Len()}}
	x.Total = p.cost(s.EpisodeSteps, s.FitCost)
	if err := x.prepare(); err != nil {
		return nil, err
	}
	if err := x.all(); err != nil {
		return nil, err
	}
	x.table.conclude()
	return x.table, nil
}

// Cost estimates what a plan takes, in critic updates. An episode has at most episodeSteps steps;
// fit is the same estimate for fitting the generator of an F.
func (p Plan) Cost(episodeSteps int, fit func(relevance string) int) int {
	return p.cost(episodeSteps, fit) / costUpdate
}

// cost is Cost in the unit of Progress.
func (p Plan) cost(episodeSteps int, fit func(relevance string) int) (all int) {
	rows := p.rows()
	evaluation := p.Episodes * episodeSteps * costStep
	arm := 2*p.Updates*costUpdate + evaluation
	all = evaluation + p.Repeats*(evaluation+arm) // held out, as saved, real only
	for i, r := range rows[1:] {
		if r.Relevance != rows[i].Relevance {
			all += fit(r.Relevance) * costUpdate
		}
		all += p.Repeats * (2*arm + p.Sampling.Samples*(costSample+costSimulate))
	}
	return all
}

// count records a piece of work and calls breathe.
func (x *study) count(cost int) error {
	x.Done = min(x.Done+cost, x.Total)
	return x.breathe(x.Progress)
}

// prepare plays the held-out episodes and takes the statistics of the real rows.
func (x *study) prepare() (err error) {
	x.Doing = "held-out episodes"
	if x.held, err = x.hold(); err != nil {
		return err
	}
	t := x.table
	t.HeldOut, t.Judged, t.Spread = x.held.rows, len(x.held.judged), run.Float(x.held.spread)
	x.ref = analysis.NewReference(x.Real.Shape(), x.Real.Len(), x.Real.Row)
	return nil
}

// quartile takes the upper quartile of F of the real rows as F is now: counts may have changed
// since an earlier generator was made.
func (x *study) quartile() error {
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

// generators are the relevance functions whose generators the rows need, each once.
func generators(rows []Rows) (all []string) {
	for _, r := range rows {
		if !r.real() && (len(all) == 0 || all[len(all)-1] != r.Relevance) {
			all = append(all, r.Relevance)
		}
	}
	return all
}

// generator makes all rows of one F and trains with them.
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
	if err := x.quartile(); err != nil {
		return err
	}
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

// repeat makes a D_syn and the simulator's twin of it, and trains with each.
func (x *study) repeat(g Generator, i int, made, oracle *Arm) error {
	x.Doing = made.Rows.String()
	syn, err := x.generate(g, made.Rows.knobs(x.plan), i)
	if err != nil {
		return err
	}
	if x.sim == nil {
		return x.train(made, i, syn)
	}
	predicted, true_, err := x.oracle(syn, made)
	if err != nil {
		return err
	}
	if x.sim == nil { // it took too few of the rows
		return x.train(made, i, syn)
	}
	oracle.Left = made.Left
	if err := x.train(made, i, predicted); err != nil {
		return err
	}
	return x.train(oracle, i, true_)
}

// firstOccasion is the occasion of the first repeat's generation: no run has as many generations.
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

// stream returns the random numbers of a repeat.
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
