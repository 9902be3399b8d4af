package event

import (
	"pgrlab/core/run"
)

// The types of the analyses of a running experiment. Each is a line of the journal.
const (
	TypeGenerated = "generated" // Generated
	TypeQBias     = "q_bias"    // QBias
)

// Generated describes a new D_syn by its first rows. Distances are per dimension, in
// standard deviations of the real transitions.
type Generated struct {
	Rows           int       `json:"rows"`            // rows examined
	OutsideStates  run.Float `json:"outside_states"`  // share of rows with s or s' outside the real range
	OutsideActions run.Float `json:"outside_actions"` // the same for a
	OutsideRewards run.Float `json:"outside_rewards"` // the same for r
	Nearest        run.Float `json:"nearest"`         // median distance to the nearest real row
	NearestReal    run.Float `json:"nearest_real"`    // the same for real rows
	Furthest       run.Float `json:"furthest"`        // how far the furthest coordinate of s and s' lies outside its real range, in standard deviations; 0 if none does
	Copies         run.Float `json:"copies"`          // share of rows that are copies of real ones; see analysis.Copies
	Coverage       run.Float `json:"coverage"`        // share of real rows with a generated row in their neighbourhood that is no copy; see analysis.Coverage

	RewardedReal *run.Float `json:"rewarded_real,omitempty"` // share of all real rows that have a reward, r ≠ 0; missing if more than half of them have one, as with a bonus, or if the least |r| of these is below a tenth of the largest
	Rewarded     *run.Float `json:"rewarded,omitempty"`      // the same for all of D_syn, where |r| has to be more than half of the least that a real row has beside 0; missing, too, if no real row has a reward

	Terminal     run.Float `json:"terminal"`      // share of terminal rows in all of D_syn
	TerminalReal run.Float `json:"terminal_real"` // the same for all real rows

	Relevance       string     `json:"relevance,omitempty"` // missing if the prompts asked for no F, or for another one than F is now
	Asked           *Quantiles `json:"asked,omitempty"`     // F that the prompts asked for
	Achieved        *Quantiles `json:"achieved,omitempty"`  // F of the generated rows
	RankCorrelation *run.Float `json:"obeyed,omitempty"`    // rank correlation of the two
	Dynamics        *Dynamics  `json:"dynamics,omitempty"`  // missing if the task cannot be set to a state
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

// Dynamics says how far transitions are from those that the task itself would have made.
type Dynamics struct {
	Rows     int       `json:"rows"`     // rows compared
	Failed   int       `json:"failed"`   // rows that the task did not accept
	State    run.Float `json:"state"`    // mean of (s' − ŝ')²
	Reward   run.Float `json:"reward"`   // mean of (r − r̂)²
	Combined run.Float `json:"combined"` // ½(state + reward)
	Relative run.Float `json:"relative"` // state in units of the variance of real next states

	// The next fields are in units of a variance: the best constant guess scores 1 on rows
	// distributed like the real ones, and ConstantChange and ConstantReward on these rows.
	Change         run.Float   `json:"change"`                // state in units of the variance of real s' − s
	EachChange     []run.Float `json:"each_change,omitempty"` // the same for each dimension; NaN where it never changes
	RewardRelative run.Float   `json:"reward_relative"`       // reward in units of the variance of real rewards
	ConstantChange run.Float   `json:"constant_change"`
	ConstantReward run.Float   `json:"constant_reward"`

	Relevant    *run.Float `json:"relevant,omitempty"`      // relative, over rows whose true F is in the upper quarter of the real ones
	RelevantOf  int        `json:"relevant_rows,omitempty"` // number of these rows
	RareRewards *Detection `json:"rare_rewards,omitempty"`  // missing if no reward is rare
	Ends        *Detection `json:"ends,omitempty"`          // missing if the task never ends
}

// Detection says how well rows report an event, judged by what the task does.
type Detection struct {
	Above     *run.Float `json:"above,omitempty"` // the event is a reward above this value
	True      int        `json:"true"`            // rows in which the event really occurs
	Predicted int        `json:"told"`            // rows that report the event
	Precision run.Float  `json:"precision"`       // share of the reported events that are true
	Recall    run.Float  `json:"recall"`          // share of the true events that are reported
}

// QBias compares the critics' value of the first states of an evaluation's episodes
// with the discounted returns that followed (Fujimoto et al. 2018; Chen et al. 2021).
// SAC's critics also value the entropy of the present policy; the returns come from the
// actions of evaluations, its mean ones, and are cut off by the time limit.
type QBias struct {
	Q      run.Float `json:"q"`      // mean of Q(s₀, π(s₀))
	Return run.Float `json:"return"` // mean of Σγᵗr
	Bias   run.Float `json:"bias"`   // mean of Q − Σγᵗr
	Std    run.Float `json:"std"`    // its standard deviation over episodes
}
