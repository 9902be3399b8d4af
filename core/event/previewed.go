package event

// TypePreviewed is the type of an event with a Previewed. It is not written to the
// journal.
const TypePreviewed = "previewed"

// Previewed is the answer to a Preview: the relevance of real transitions, of the present
// D_syn, and of a few transitions that the present generator made with the value, all over
// the same edges. A part that does not exist is nil, or NaN if it is a number. Of latents, F by the
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
	// Outside is the share of the preview's rows in which a number is outside the range of
	// the real transitions in that column.
	Outside float64
	// RankCorrelation (Spearman's) and TopOverlap (the share of the top_fraction rows
	// of largest old F that the new F would choose too) compare the new F with the old
	// one on the same real transitions.
	RankCorrelation, TopOverlap float64
	Samples                     int     // transitions of the preview
	Seconds                     float64 // time that the answer took
	// Cost says in words what a switch to another F would require. CostSeconds is about how
	// long that takes with "now"; NaN if unknown.
	Cost        string
	CostSeconds float64
	Err         string // why there is no answer, one line
	Busy        bool   // the same request made a little later will be answered
}

// PreviewedTerm is a term of a formula with the distribution of its values.
type PreviewedTerm struct {
	Term   string
	Values *Histogram
}
