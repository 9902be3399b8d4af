package event

import "slices"

// TypePreviewed is the type of an event with a Previewed. It is not written to the
// journal.
const TypePreviewed = "previewed"

// Previewed is the answer to a Preview: the relevance of real transitions, of the present
// D_syn, and of a few transitions that the present generator made with the value, all over
// the same edges, and what it makes with other values of a number. An answer may come in parts, each
// of which repeats what was known before. A part that does not exist is nil, or NaN if it is a number. Of latents, F by the
// learner's values, return or td, is as in Scores: the values are the present ones, the latents those
// of the last refit.
type Previewed struct {
	ID, Knob, Value string // as asked
	Relevance       string // the F of the histograms: the value itself if F is the knob
	// Real, Synthetic and Preview describe F of samples of D_real, of D_syn, and of
	// the preview.
	Real, Synthetic, Preview *Histogram
	// Terms describe the terms of a formula over the sample of D_real, if it is a sum of several.
	Terms []PreviewedTerm
	// Doses are the value and, if it is a number, others around the one in force, ascending.
	Doses []Dose
	// RankCorrelation (Spearman's) and TopOverlap (the share of the top_fraction rows
	// of largest old F that the new F would choose too) compare the new F with the old
	// one on the same real transitions.
	RankCorrelation, TopOverlap float64
	More                        bool    // another part of the answer follows
	Seconds                     float64 // time that the answer took
	Cost                        string  // what a switch to another F would require, in words
	Err                         string  // why there is no answer, one line
	Busy                        bool    // the same request made a little later will be answered
}

// Dose is what the present generator makes with a value of a knob: a few rows, those of all values from
// the same noise. Numbers that are not known are NaN.
type Dose struct {
	Value       string
	Rows        int
	Median, Q90 float64 // of F
	Outside     float64 // the share of the rows with a number outside the range of the real ones
	State       float64 // error of s' as in Dynamics.Relative, by the task itself
	Reward      float64 // and of r, as in Dynamics.RewardRelative
}

// Dose finds what was found of a value.
func (p *Previewed) Dose(value string) (d Dose, known bool) {
	i := slices.IndexFunc(p.Doses, func(d Dose) bool { return d.Value == value })
	if i < 0 {
		return d, false
	}
	return p.Doses[i], true
}

// PreviewedTerm is a term of a formula with the distribution of its values.
type PreviewedTerm struct {
	Term   string
	Values *Histogram
}
