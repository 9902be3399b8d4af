package event

import (
	"pgrlab/core/run"
)

// TypeExamined is the type of a line with an Examined.
const TypeExamined = "examined"

// Examined holds the results of the analyses of one member at one position of a run.
type Examined struct {
	Step      int        `json:"-"`               // the step of its line
	Relevance string     `json:"relevance"`       // name of F in the fields below
	Mixed     float64    `json:"mixed,omitempty"` // share of a mixed D_syn that its newest generation has made; missing: D_syn is whole
	Real      *Histogram `json:"real,omitempty"`
	Synthetic *Histogram `json:"synthetic,omitempty"` // over the same edges
	Generated *Generated `json:"generated,omitempty"`
	// AskedAchieved holds pairs for the first 500 generated rows: the F asked for, as of the
	// last refit, and the F of the row, as of now. An F that learns has changed between the two.
	AskedAchieved [][2]run.Float `json:"obeyed,omitempty"`
	// Gaussian is the dynamics error of the same number of rows sampled from a Gaussian fitted
	// to the real rows: the baseline that a generator has to beat. The histograms show the
	// decimal logarithm of each row's error, both over the same edges.
	Gaussian       *Dynamics  `json:"gaussian,omitempty"`
	DynamicsErrors *Histogram `json:"log10_dynamics_errors,omitempty"`
	GaussianErrors *Histogram `json:"log10_gaussian_errors,omitempty"`

	Projection *Projected  `json:"projection,omitempty"`
	ReferenceF *ReferenceF `json:"ruler,omitempty"`
	OpenLoop   *OpenLoop   `json:"open_loop,omitempty"` // of a model of the world, or of the dynamics

	Obs *ExaminedObs `json:"obs,omitempty"` // of an analysis that was asked for
}

// ReferenceF is the F that another run, or this run at another position, has learned, evaluated
// on this run's real transitions: a reference that stays the same while the data changes.
type ReferenceF struct {
	Relevance       string     `json:"relevance"`
	Step            int        `json:"step"` // at which that F was learned
	Real            *Histogram `json:"real"`
	Synthetic       *Histogram `json:"synthetic,omitempty"`
	RankCorrelation run.Float  `json:"rank_correlation"` // with this run's own F
	TopOverlap      run.Float  `json:"top_overlap"`      // overlap of the top_fraction rows of largest F
}

// ExaminedObs says who asked for the analysis and how long it took.
type ExaminedObs struct {
	OnDemand bool      `json:"on_demand"` // such a line is not part of a canonical journal
	By       string    `json:"by,omitempty"`
	Seconds  run.Float `json:"seconds,omitempty"`
}

// Answers returns what an event answers to an analysis that by asked for: the findings about
// a member, or the reason why there are none.
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

// Projected holds generations with and without guidance, projected onto the plane in which
// they and the real transitions vary most (PCA of all rows, each dimension in units of its
// standard deviation).
type Projected struct {
	Explained [2]run.Float   `json:"explained"` // share of the variance along each axis
	Overlap   run.Float      `json:"overlap"`   // overlap of guided and unconditional points: 0 apart, about 0.8 to 0.9 two samples of 1,000 points of one distribution, 1 equal
	Real      [][2]run.Float `json:"real"`
	Guided    [][2]run.Float `json:"guided"`
	Free      [][2]run.Float `json:"free"` // without guidance

	Embedded *Embedded `json:"tsne,omitempty"`
}

// Embedded holds the first generations of a Projected, embedded in a plane by t-SNE, which
// preserves neighbourhoods; distances between groups mean nothing there.
type Embedded struct {
	Guided [][2]run.Float `json:"guided"`
	Free   [][2]run.Float `json:"free"`
}
