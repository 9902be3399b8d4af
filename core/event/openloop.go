package event

import "pgrlab/core/run"

// OpenLoop says how well the learner's model of the world predicts what followed some looks, for as many
// sequences as a batch has: it sees the observations of the first context env steps, and then only the actions
// that were taken.
type OpenLoop struct {
	Context int         `json:"context"`          // env steps with observations
	Horizon []int       `json:"horizon"`          // env steps after them
	Error   []run.Float `json:"error"`            // at each horizon, root mean square error in deviations of each number of the observation, mean over the numbers that vary
	Held    []run.Float `json:"held"`             // the same if the last observation that was seen stood for all that follow
	Reward  []run.Float `json:"reward,omitempty"` // the same error of the reward; missing if the reward did not vary
	// Shown are numbers of the observation of one sequence, from the best predicted one to the worst.
	Shown []OpenLoopNumber `json:"shown"`
}

// OpenLoopNumber is a number of the observation along a sequence.
type OpenLoopNumber struct {
	Number    int         `json:"number"` // from 0 on
	Error     run.Float   `json:"error"`  // over all sequences and horizons
	Real      []run.Float `json:"real"`
	Predicted []run.Float `json:"predicted"` // with observations, what is decoded from the latent
}
