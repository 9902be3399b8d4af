package event

// TypePreviewed is the type of an event with a Previewed; it is no line of the
// journal.
const TypePreviewed = "previewed"

// Previewed is the answer to a Preview: the relevance of real transitions, of D_syn
// as it is, and of a few transitions that the present generator made with the value,
// all over the same edges. A part that does not exist is nil, a number NaN.
type Previewed struct {
	ID, Knob, Value string // as asked
	Relevance       string // the F of the histograms: the value itself where F is the knob
	// Real, Synthetic and Preview describe F of samples of D_real, of D_syn, and of
	// the preview.
	Real, Synthetic, Preview *Histogram
	// Outside is the share of the preview's rows with a number outside the range that
	// the real transitions have in its place.
	Outside float64
	// RankCorrelation (Spearman's) and TopOverlap (the share of the top_fraction rows
	// of largest old F that the new F would choose too) compare the new F with the old
	// one on the same real transitions.
	RankCorrelation, TopOverlap float64
	Samples                     int     // transitions of the preview
	Seconds                     float64 // that the answer took
	// Cost says in words what a switch to another F would take, CostSeconds about how
	// long with "now"; NaN: unknown.
	Cost        string
	CostSeconds float64
	Err         string // why there is no answer, one line
	Busy        bool   // there will be one to who asks again a little later
}
