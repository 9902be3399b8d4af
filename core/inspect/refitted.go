package inspect

import (
	"fmt"
	"math"

	"pgrlab/core/analysis"
	"pgrlab/core/event"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// Refitted is the result of an offline refit.
type Refitted struct {
	Dir       string             `json:"dir"`
	Task      string             `json:"task"`
	Step      int                `json:"step"` // of the checkpoint
	Relevance string             `json:"relevance"`
	Fitted    int                `json:"fitted_to"` // real transitions
	HeldOut   int                `json:"held_out"`  // real transitions that the fit did not see
	Steps     int                `json:"steps"`     // gradient steps; 0 for a kind of generator that makes none
	Loss      *run.Float         `json:"loss"`      // mean of the last tenth of the steps
	CPUs      run.Float          `json:"fit_cpu_s"` // processor time of the fit, in seconds
	Gaussian  *event.Dynamics    `json:"gaussian"`  // of a Gaussian fitted to the real transitions: the baseline of a generator
	Covering  run.Float          `json:"coverage_real"`
	Made      []*RefitGeneration `json:"generations"`
}

// RefitGeneration is one generation of an offline refit, compared with the task and with
// real transitions that the fit did not see.
type RefitGeneration struct {
	Guidance run.Float        `json:"guidance"` // ω
	Rows     int              `json:"rows"`
	CPUs     run.Float        `json:"cpu_s"` // processor time of the generation, in seconds
	Dynamics *event.Dynamics  `json:"dynamics,omitempty"`
	Relevant *RefitUpper      `json:"relevant,omitempty"` // missing without F, or if the task cannot be set to a state
	Asked    *event.Quantiles `json:"asked,omitempty"`    // F that the prompts asked for
	Achieved *event.Quantiles `json:"achieved,omitempty"` // F of the generated rows
	// RankCorrelation is that of the F asked for and the F achieved, row by row.
	RankCorrelation *run.Float `json:"obeyed,omitempty"`

	Nearest     run.Float `json:"nearest"`          // median distance to the nearest row of the fit
	NearestReal run.Float `json:"nearest_held_out"` // the same of held-out real rows
	Copies      run.Float `json:"copies"`           // share of rows nearer to a row of the fit than a twentieth of NearestReal
	Coverage    run.Float `json:"coverage"`         // share of held-out real rows with a row that is no copy in their neighbourhood
}

// RefitUpper is about the rows whose F, computed with what the task really does from their
// s by their a, is in the upper quarter of the real transitions: composition apart, the
// rows that a prompt may ask for. Errors are divided by variances of all real transitions.
type RefitUpper struct {
	Share          run.Float `json:"share"` // of all rows
	Rows           int       `json:"rows"`
	Relative       run.Float `json:"relative"`        // of s', over its variance
	Change         run.Float `json:"change"`          // of s', over the variance of s' − s
	ConstantChange run.Float `json:"constant_change"` // of the best constant change
	RewardRelative run.Float `json:"reward_relative"` // of r, over its variance
	ConstantReward run.Float `json:"constant_reward"` // of the best constant reward
}

// Refit fits gen to the transitions that are not held out, makes a generation for each
// guidance, and evaluates them.
func (o *Offline) Refit(gen Fitter) (*Refitted, error) {
	out := &Refitted{
		Task: o.Task.Name, Step: o.Step, Relevance: o.Knobs.Relevance,
		Fitted: o.train.Len(), HeldOut: o.out.Len(),
	}
	var scores []float32
	if _, err := o.spent("score", func() (err error) {
		if o.Knobs.Relevance != none {
			scores, err = o.scores(o.F, o.Real, o.train.slots)
			if err == nil && scores == nil {
				err = fmt.Errorf("relevance of these real transitions is not known any more, for what they were made from has been forgotten: set relevance to %s, or to another function", none)
			}
		}
		return err
	}); err != nil {
		return nil, err
	}
	var loss FitLoss
	took, err := o.spent("fit", func() (err error) {
		loss, err = o.fit(gen, scores)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Steps, out.Loss, out.CPUs = loss.Steps, loss.Mean(), run.Float(took.Seconds())
	if _, err := o.spent("measure", func() error { return o.baselines(out) }); err != nil {
		return nil, err
	}
	for _, omega := range o.Guidances {
		one, err := o.judgeAt(gen, omega)
		if err != nil {
			return nil, err
		}
		out.Made = append(out.Made, one)
	}
	return out, nil
}

// judgeAt makes one generation with guidance omega and evaluates it.
func (o *Offline) judgeAt(gen Fitter, omega float64) (*RefitGeneration, error) {
	out := &RefitGeneration{Guidance: run.Float(omega)}
	var made *replay.Ring
	var asked Prompts
	took, err := o.spent(fmt.Sprintf("generate ω %g", omega), func() (err error) {
		made, asked, err = o.generation(gen, omega)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Rows, out.CPUs = made.Len(), run.Float(took.Seconds())
	_, err = o.spent(fmt.Sprintf("measure ω %g", omega), func() error {
		if omega > 0 && o.Knobs.Relevance != none {
			wanted := gen.PromptScores(asked.Knobs, asked.Occasion, made.Len())
			slots := make([]int, made.Len())
			for i := range slots {
				slots[i] = i
			}
			achieved, err := o.scores(o.F, made, slots)
			if err != nil {
				return err
			}
			if wanted != nil {
				out.Asked = quantiles(wanted)
			}
			if achieved != nil {
				out.Achieved = quantiles(achieved)
			}
			if wanted != nil && achieved != nil {
				correlation := run.Float(analysis.Spearman(wanted, achieved))
				out.RankCorrelation = &correlation
			}
		}
		return o.judge(made, out)
	})
	return out, err
}

// judge compares the generation with the task and with the real transitions.
func (o *Offline) judge(made *replay.Ring, out *RefitGeneration) error {
	var rows []float32
	var points [][]float32
	for i := range made.Len() {
		rows = append(rows, made.Row(i)...)
		if i < neighbours {
			points = append(points, made.Row(i))
		}
	}
	s, err := o.counting(made.Len() / simulatedRows).simulate(rows)
	if err != nil {
		return err
	}
	ref := o.scale()
	if out.Dynamics = o.dynamics(s, ref); out.Dynamics != nil {
		if err := o.upper(s, ref, out); err != nil {
			return err
		}
	}
	return o.neighbours(points, out)
}

// dynamics returns the error of s and how well its rows detect events; nil if nothing
// could be compared.
func (o *Offline) dynamics(s analysis.Simulated, ref analysis.Reference) *event.Dynamics {
	d, _ := dynamicsOf(s, o.Real.Shape(), ref)
	if d != nil {
		detect(d, s, o.Real.Shape(), ref, o.Task.Terminates)
	}
	return d
}

// counting returns the examiner with a yield that counts up to n pieces.
func (o *Offline) counting(n int) *examiner {
	o.at.Done, o.at.Of = 0, n
	e := *o.examiner
	e.yield = func() error {
		o.at.Done = min(o.at.Done+1, n)
		return o.yield()
	}
	return &e
}

// upper evaluates the rows in the upper quarter of true F; see RefitUpper.
func (o *Offline) upper(s analysis.Simulated, ref analysis.Reference, out *RefitGeneration) error {
	some, known, err := o.relevant(s)
	if err != nil || !known {
		return err
	}
	shape := o.Real.Shape()
	e := some.Error(shape, ref)
	out.Relevant = &RefitUpper{Rows: e.Rows, Share: run.Float(e.Rows) / run.Float(s.Rows(shape))}
	u := out.Relevant
	if e.Rows < minRelevant {
		e.Relative, e.Change, e.ConstantChange, e.RewardRelative, e.ConstantReward = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
	}
	u.Relative, u.Change, u.ConstantChange = run.Float(e.Relative), run.Float(e.Change), run.Float(e.ConstantChange)
	u.RewardRelative, u.ConstantReward = run.Float(e.RewardRelative), run.Float(e.ConstantReward)
	return nil
}

// scatter returns the scatter of the rows of the fit.
func (o *Offline) scatter() analysis.Scatter {
	rows := o.train.rows(o.train.some(neighbours))
	return analysis.Spread(len(rows), o.Real.Shape().Width()-1, func(i int) []float32 { return rows[i] })
}

// neighbours compares generated rows with the rows of the fit and with the held-out rows.
func (o *Offline) neighbours(points [][]float32, out *RefitGeneration) error {
	scatter, apart := o.scatter(), func(int) int { return -1 }
	trained := o.train.some(boundedRows)
	held := o.train.rows(o.out.some(neighbours))
	nearest, err := o.nearest(points, trained, scatter, apart)
	if err != nil {
		return err
	}
	others, err := o.nearest(held, trained, scatter, apart)
	if err != nil {
		return err
	}
	m := memorised(points, held, nearest, others, scatter)
	out.Nearest, out.NearestReal, out.Copies, out.Coverage = m.nearest, m.usual, m.copies, m.coverage
	return o.yield()
}

// baselines evaluates a Gaussian, and as many rows of the fit as of a generation.
func (o *Offline) baselines(out *Refitted) error {
	held, rows := o.train.rows(o.out.some(neighbours)), o.train.rows(o.train.some(min(o.Rows, neighbours)))
	out.Covering = run.Float(analysis.Coverage(rows, held, o.scatter(), func(int) bool { return false }))
	if err := o.yield(); err != nil {
		return err
	}
	s, err := o.gaussian(o.Rows)
	if err != nil {
		return err
	}
	out.Gaussian = o.dynamics(s, o.scale())
	return nil
}
