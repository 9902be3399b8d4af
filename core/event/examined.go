package event

import (
	"pgrlab/core/run"
)

// TypeExamined is the type of a line with an Examined.
const TypeExamined = "examined"

// Examined is what the analyses found of one member at one place of a run.
type Examined struct {
	Step      int        `json:"-"`         // that of its line
	Relevance string     `json:"relevance"` // F of what follows
	Real      *Histogram `json:"real,omitempty"`
	Synthetic *Histogram `json:"synthetic,omitempty"` // over the same edges
	Generated *Generated `json:"generated,omitempty"`
	// AskedAchieved are pairs for the first 500 generated rows: F asked for, as of the last
	// refit, and F of the row, as of now. An F that learns has moved between the two.
	AskedAchieved [][2]run.Float `json:"obeyed,omitempty"`
	// Gaussian is the dynamics error of as many rows of a Gaussian that was fitted to the
	// real ones: what a generator has to beat. The histograms are of the decimal logarithm
	// of the error of each row, both over the same edges.
	Gaussian       *Dynamics  `json:"gaussian,omitempty"`
	DynamicsErrors *Histogram `json:"log10_dynamics_errors,omitempty"`
	GaussianErrors *Histogram `json:"log10_gaussian_errors,omitempty"`

	Projection *Projected  `json:"projection,omitempty"`
	ReferenceF *ReferenceF `json:"ruler,omitempty"`

	Obs *ExaminedObs `json:"obs,omitempty"` // of an analysis that was asked for
}

// ReferenceF is F as another run, or this one at another place, has learned it, of this
// run's real transitions: a reference that stays the same while the data changes.
type ReferenceF struct {
	Relevance       string     `json:"relevance"`
	Step            int        `json:"step"` // at which that F was learned
	Real            *Histogram `json:"real"`
	Synthetic       *Histogram `json:"synthetic,omitempty"`
	RankCorrelation run.Float  `json:"rank_correlation"` // with this run's own F
	TopOverlap      run.Float  `json:"top_overlap"`      // of the top_fraction rows of largest F
}

// ExaminedObs says who asked for the analysis, and what it took.
type ExaminedObs struct {
	OnDemand bool      `json:"on_demand"` // such a line is no part of a canonical journal
	By       string    `json:"by,omitempty"`
	Seconds  run.Float `json:"seconds,omitempty"`
}

// Answers is what an event says to an analysis that by asked for: the findings about a
// member, or why there are none.
func Answers(e Event, by string) (found *Examined, refused string) {
	switch b := e.Body.(type) {
	case *Examined:
		if b.Obs != nil && b.Obs.OnDemand && b.Obs.By == by {
			return b, ""
		}
	case Refused:
		if b.Knob == "analyse" && b.By == by {
			return nil, b.Reason
		}
	}
	return nil, ""
}

// Projected are generations with and without guidance in the plane in which the real
// transitions and both of them lie widest (PCA of all rows, each dimension in units of
// its deviation).
type Projected struct {
	Explained [2]run.Float   `json:"explained"` // share of the variance along each axis
	Overlap   run.Float      `json:"overlap"`   // of guided and unconditional points: 1 equal, 0 apart
	Real      [][2]run.Float `json:"real"`
	Guided    [][2]run.Float `json:"guided"`
	Free      [][2]run.Float `json:"free"` // without guidance

	Embedded *Embedded `json:"tsne,omitempty"`
}

// Embedded are the first generations of a Projected in a plane in which neighbours
// stay neighbours (t-SNE); distances between groups mean nothing there.
type Embedded struct {
	Guided [][2]run.Float `json:"guided"`
	Free   [][2]run.Float `json:"free"`
}
