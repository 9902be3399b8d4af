package whatif

import (
	"fmt"

	"pgrlab/core/generative"
)

// None is the relevance function of unprioritized rows.
const None = "none"

// Plan says what a study compares.
type Plan struct {
	Relevance   []string            `json:"relevance"`    // prioritized rows of each of these F
	Guidance    []float64           `json:"guidance"`     // with each of these ω
	TopFraction []float64           `json:"top_fraction"` // and each of these k
	Sampling    generative.GenKnobs `json:"-"`            // the rest of a generation; Samples is the size of each D_syn
	Updates     int                 `json:"updates"`      // of the critics alone, and as many of critics and policy
	Episodes    int                 `json:"episodes"`     // held out, and of each evaluation
	Repeats     int                 `json:"repeats"`
	Seed        uint64              `json:"seed"`
}

// Validate says in one line what is wrong with p, or returns nil.
func (p Plan) Validate() error {
	switch {
	case p.Updates < 1:
		return fmt.Errorf("updates is %d, want at least 1", p.Updates)
	case p.Episodes < 1:
		return fmt.Errorf("episodes is %d, want at least 1", p.Episodes)
	case p.Repeats < 1:
		return fmt.Errorf("repeats is %d, want at least 1", p.Repeats)
	}
	for _, rows := range p.rows() {
		if err := rows.knobs(p).Check(p.Sampling.Samples); err != nil {
			return err
		}
	}
	return nil
}

// Rows is one kind of rows that are asked for.
type Rows struct {
	Relevance   string  `json:"relevance"` // "": real rows only
	Guidance    float64 `json:"guidance"`
	TopFraction float64 `json:"top_fraction"`
}

// real reports whether no synthetic rows are asked for, unprioritized whether they are asked for
// without a relevance function.
func (r Rows) real() bool          { return r.Relevance == "" }
func (r Rows) unprioritized() bool { return r.Relevance == None }

// String is the name of the rows in a table.
func (r Rows) String() string {
	switch {
	case r.real():
		return "real only"
	case r.unprioritized():
		return "unprioritized"
	case r.Guidance == 0:
		return r.Relevance + " ω 0"
	}
	return fmt.Sprintf("%s ω %g k %g", r.Relevance, r.Guidance, r.TopFraction)
}

// knobs are the knobs of a generation of the rows.
func (r Rows) knobs(p Plan) generative.GenKnobs {
	k := p.Sampling
	k.Guidance, k.TopFraction = r.Guidance, r.TopFraction
	return k
}

// rows are all kinds of rows that are compared, grouped by generator. Without guidance the share of
// prompts makes no difference.
func (p Plan) rows() []Rows {
	all := []Rows{{TopFraction: 1}, {Relevance: None, TopFraction: 1}}
	for _, f := range p.Relevance {
		for _, omega := range p.Guidance {
			if omega == 0 {
				all = append(all, Rows{f, 0, 1})
				continue
			}
			for _, k := range p.TopFraction {
				all = append(all, Rows{f, omega, k})
			}
		}
	}
	return all
}
