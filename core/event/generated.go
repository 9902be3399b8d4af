package event

import (
	"pgrlab/core/run"
)

// The analyses of a running experiment, all of them lines of the journal.
const (
	TypeGenerated = "generated" // Generated
	TypeQBias     = "q_bias"    // QBias
)

// Generated describes a new D_syn by its first rows. Distances are per dimension, in
// standard deviations of the real transitions.
type Generated struct {
	Rows           int       `json:"rows"`            // looked at
	OutsideStates  run.Float `json:"outside_states"`  // share of rows with s or s' outside of the real range
	OutsideActions run.Float `json:"outside_actions"` // the same of a
	OutsideRewards run.Float `json:"outside_rewards"` // the same of r
	Nearest        run.Float `json:"nearest"`         // median distance to the nearest real row
	NearestReal    run.Float `json:"nearest_real"`    // the same of real rows

	// Missing in journals of older builds:
	Copies   *run.Float `json:"copies,omitempty"`   // share of rows that are copies of real ones; see analysis.Copies
	Coverage *run.Float `json:"coverage,omitempty"` // share of real rows with one that is no copy in their neighbourhood; see analysis.Coverage

	Terminal     run.Float `json:"terminal"`      // share of terminal rows, of all of D_syn
	TerminalReal run.Float `json:"terminal_real"` // the same of all real rows

	Relevance       string     `json:"relevance,omitempty"` // missing where nothing was asked for
	Asked           *Quantiles `json:"asked,omitempty"`     // F that the prompts asked for
	Achieved        *Quantiles `json:"achieved,omitempty"`  // F of what came out
	RankCorrelation *run.Float `json:"obeyed,omitempty"`    // rank correlation of the two
	Dynamics        *Dynamics  `json:"dynamics,omitempty"`  // missing where the task cannot be set to a state
}

// Quantiles describe a distribution.
type Quantiles struct {
	Min    run.Float `json:"min"`
	Q10    run.Float `json:"q10"`
	Median run.Float `json:"median"`
	Q90    run.Float `json:"q90"`
	Max    run.Float `json:"max"`
	Mean   run.Float `json:"mean"`
}

// Dynamics says how far transitions are from what the task would have done.
type Dynamics struct {
	Rows     int       `json:"rows"`     // compared
	Failed   int       `json:"failed"`   // that the task did not take
	State    run.Float `json:"state"`    // mean of (s' − ŝ')²
	Reward   run.Float `json:"reward"`   // mean of (r − r̂)²
	Combined run.Float `json:"combined"` // ½(state + reward)
	Relative run.Float `json:"relative"` // state in units of the variance of real next states

	// In units of a variance, so that the best constant guess scores 1 on rows that are
	// spread as the real ones, and the last two on these rows; missing in journals of
	// older builds:
	Change         *run.Float  `json:"change,omitempty"`          // state, of real s' − s
	EachChange     []run.Float `json:"each_change,omitempty"`     // the same of each dimension; NaN where it never changes
	RewardRelative *run.Float  `json:"reward_relative,omitempty"` // reward, of real rewards
	ConstantChange *run.Float  `json:"constant_change,omitempty"`
	ConstantReward *run.Float  `json:"constant_reward,omitempty"`

	Relevant    *run.Float `json:"relevant,omitempty"`      // relative, of rows whose true F is in the upper quarter of the real ones
	RelevantOf  int        `json:"relevant_rows,omitempty"` // these rows
	RareRewards *Detection `json:"rare_rewards,omitempty"`  // missing where no reward is rare
	Ends        *Detection `json:"ends,omitempty"`          // missing where the task never ends
}

// Detection says how well rows tell an event, as the task has it.
type Detection struct {
	Above     *run.Float `json:"above,omitempty"` // what the event is: a reward above that
	True      int        `json:"true"`            // rows of which it is true
	Told      int        `json:"told"`            // rows that say so
	Precision run.Float  `json:"precision"`       // share of those told that are true
	Recall    run.Float  `json:"recall"`          // share of those true that are told
}

// QBias compares the critics' value of the first states of an evaluation's episodes
// with the discounted returns that followed (Fujimoto et al. 2018; Chen et al. 2021).
// The critics' value has the entropy bonus of the present policy in it, the returns
// are those of its mean action, cut off by the time limit.
type QBias struct {
	Q      run.Float `json:"q"`      // mean of Q(s₀, π(s₀))
	Return run.Float `json:"return"` // mean of Σγᵗr
	Bias   run.Float `json:"bias"`   // mean of Q − Σγᵗr
	Std    run.Float `json:"std"`    // its standard deviation over episodes
}
