package event

import (
	"maps"
	"math"
	"slices"

	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// Checkpointed is a checkpoint that is on the disk, or, with Obs.Error, one that
// could not be written.
type Checkpointed struct {
	Obs CheckpointObs `json:"obs"`
}

// CheckpointObs holds all fields of a checkpoint line: checkpoints do not affect what is
// computed.
type CheckpointObs struct {
	Path     string        `json:"path,omitempty"`
	Position knob.Position `json:"position"`
	Bytes    int64         `json:"bytes,omitempty"`   // size of the file, without shared data
	Seconds  run.Float     `json:"seconds,omitempty"` // time until it was on the disk
	StallS   run.Float     `json:"stall_s,omitempty"` // the part of these seconds in which training stood still
	By       string        `json:"by,omitempty"`
	Refs     []string      `json:"refs,omitempty"`    // the requests that it answers
	Limited  string        `json:"limited,omitempty"` // what a limit on the disk has cost since the checkpoint before, or why older ones could not be removed
	Error    string        `json:"error,omitempty"`
}

// Diverged says that a learning step met a number that is not finite, or that the
// simulation of an environment failed. The learner keeps its last good weights: the step
// that was not finite is not applied. Training waits until a knob is changed and the run
// is resumed, or until the run is taken back to the checkpoint, which is kept from then on.
type Diverged struct {
	Doing    string        `json:"doing"` // what was not done
	Position knob.Position `json:"position"`
	Program  string        `json:"program,omitempty"` // the program that computed it
	Op       string        `json:"op,omitempty"`
	Tensor   string        `json:"tensor,omitempty"`
	Error    string        `json:"error"` // where the first such number appeared, or what the simulation said
	Obs      *DivergedObs  `json:"obs,omitempty"`
}

// DivergedObs names the checkpoint to go back to.
type DivergedObs struct {
	Checkpoint string        `json:"checkpoint"` // path of the last one before
	Position   knob.Position `json:"position"`   // where it was taken
}

// Start begins a journal.
type Start struct {
	Task   string `json:"task"`
	Method string `json:"method"`
	Scale  string `json:"scale"`
	Seed   uint64 `json:"seed"`
	Device string `json:"device"` // kind and kernels, without the number of threads
	// Precision is the format to which a GPU rounds the factors of large products; "" on the CPU.
	Precision string   `json:"precision,omitempty"`
	Members   int      `json:"members,omitempty"`
	Obs       StartObs `json:"obs"`
}

// StartObs says where and when a run was started.
type StartObs struct {
	Version string `json:"version"`
	Host    string `json:"host"`
	Device  string `json:"device"`
	Time    string `json:"time"`
	Env     any    `json:"env,omitempty"` // the program that simulates the task, if another one does
}

// Evaluated is the result of an evaluation: undiscounted returns of whole episodes
// played with the policy's mean action or, where `evaluation.actions` is `sample` (PPO in
// mazes), with sampled actions.
type Evaluated struct {
	ReturnMean run.Float   `json:"return_mean"`
	ReturnStd  run.Float   `json:"return_std"` // of the population of episodes
	Returns    []run.Float `json:"returns"`
	Episodes   int         `json:"episodes"`
	Explored   *Explored   `json:"explored,omitempty"` // means over the episodes
}

// Explored describes an episode in a maze beyond its return; for several episodes it holds
// means.
type Explored struct {
	Goals  run.Float  `json:"goals"`             // goals reached
	Cells  run.Float  `json:"cells"`             // cells of the maze in which an action ended
	Moved  run.Float  `json:"moved"`             // displacement of the actions relative to top speed: 0 if the agent turns on the spot, fires or stands at a wall
	OnSpot *run.Float `json:"on_spot,omitempty"` // share of actions that look to a side or fire
}

// Dormant is the share of dormant neurons of the policy, after Sokar et al. 2023
// and Xu et al. 2024 (DrM).
type Dormant struct {
	Ratio    run.Float `json:"ratio"`
	RatioDrM run.Float `json:"ratio_drm"`
	Tau      run.Float `json:"tau"`
}

// Latents says how far the latents have moved since D_real was last made, for a learner that fills
// D_real with them: over 256 of its rows, or in mazes over those by which PPO aligns D_syn. It is
// written at evaluations, and before a refit makes D_real again, in whose env step an evaluation
// writes none.
type Latents struct {
	Drift   run.Float `json:"drift"`             // mean of |z − z_refit|² over mean of |z_refit − z̄|²: 0 right after a refit, 1 if z is as far from its value at the refit as a row is from the mean row
	Aligned run.Float `json:"aligned,omitempty"` // the same for z_refit as updates read D_syn's latents, if these are aligned with the present encoder
	Size    run.Float `json:"size"`              // present mean of |z| over rows and dimensions; 1 if all are saturated
}

// Episode is a finished training episode.
type Episode struct {
	Return   run.Float `json:"return"`
	Length   int       `json:"length"`
	Copy     int       `json:"copy,omitempty"`     // copy of the environment, if the agent trains in several
	Explored *Explored `json:"explored,omitempty"` // only in a maze
}

// Refit is a finished refit with its generation. For a generation alone, and for a generator
// that does not learn, Steps is 0 and Loss is missing.
type Refit struct {
	Loss      *run.Float `json:"loss,omitempty"`     // mean of the last tenth of the fit
	Steps     int        `json:"steps"`              // generator steps
	Generated int        `json:"generated"`          // transitions generated
	F         *RefitF    `json:"f,omitempty"`        // missing if the generator was fitted without conditions
	Ensemble  *Ensemble  `json:"ensemble,omitempty"` // missing if no ensemble was fitted
	Rollouts  *Rollouts  `json:"rollouts,omitempty"` // missing if the generator is no ensemble
	Obs       RefitObs   `json:"obs"`
}

// Ensemble describes the networks of a model of the dynamics by the rows that its fit held out: a fifth
// of D_real, at most 5,000, drawn for each fit. A network that goes on from earlier fits has learned
// from some of them.
type Ensemble struct {
	HeldOut  []run.Float `json:"held_out"` // mean squared error of each network over reward and next state, in the units in which they are learned
	Constant run.Float   `json:"constant"` // the same of the mean outcome, a constant guess
	Elites   []int       `json:"elites"`   // the networks that are rolled out, counted from 0, by rising error
}

// Rollouts counts the rollouts that a D_syn was made by.
type Rollouts struct {
	Horizon int `json:"horizon"` // most steps of a rollout
	Begun   int `json:"begun"`   // rollouts
	Rows    int `json:"rows"`    // transitions that they made
	Ended   int `json:"ended"`   // of these, those that ended an episode by the task's rule
	Dropped int `json:"dropped"` // transitions that were not finite, which D_syn does not have
}

// Relative is an error relative to that of the constant guess; NaN if that has none.
func (e *Ensemble) Relative(heldOut run.Float) float64 {
	if e.Constant == 0 {
		return math.NaN()
	}
	return float64(heldOut / e.Constant)
}

// Best is the mean error of the networks that are rolled out, relative to that of the constant guess.
func (e *Ensemble) Best() float64 {
	sum, n := run.Float(0), 0
	for i, v := range e.HeldOut {
		if slices.Contains(e.Elites, i) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return e.Relative(sum / run.Float(n))
}

// RefitF compares the F that a generator was fitted to with that of what it made, over the same
// edges.
type RefitF struct {
	Of       string     `json:"of"`                 // the name of F
	At       int        `json:"at"`                 // the env step whose scores the generator was fitted to; for a generation alone, an earlier one
	Real     *Histogram `json:"real"`               // these scores of D_real, by up to 1,024 of them that are spread evenly over their ranks
	Asked    *Histogram `json:"asked,omitempty"`    // the scores that the prompts asked for; missing if they asked for none, or cannot be drawn again
	Achieved *Histogram `json:"achieved,omitempty"` // F, as it is now, of up to 1,024 generated transitions; missing if F has no value for these
}

// RefitObs is how long it took.
type RefitObs struct {
	Seconds run.Float `json:"seconds"`
}

// Scores describes F over real transitions. If the learner fills D_real with its own latents, these
// are as the last refit made them, while an F of the learner's values, return or td, is the present
// one.
type Scores struct {
	Relevance string      `json:"relevance"`
	Min       run.Float   `json:"min"`
	Max       run.Float   `json:"max"`
	Mean      run.Float   `json:"mean"`
	Quantiles []run.Float `json:"quantiles"` // 0.1, 0.5, 0.9
	// Terms are those of the sum that a formula is, if it has several: which of them decides.
	Terms []Term `json:"terms,omitempty"`
}

// Term describes one term of a formula over the same transitions.
type Term struct {
	Term      string      `json:"term"`
	Quantiles []run.Float `json:"quantiles"` // 0.1, 0.5, 0.9
}

// Losses holds means over the updates since the last line. A loss that was not computed
// is missing.
type Losses struct {
	Critic    *run.Float `json:"critic,omitempty"`
	Actor     *run.Float `json:"actor,omitempty"`
	Alpha     *run.Float `json:"alpha,omitempty"`   // α itself, as of the last update
	QMean     *run.Float `json:"q_mean,omitempty"`  // mean of Q(s, a) over a batch; with PPO, of V(s) over the real rows of a minibatch, in units of rewards
	Entropy   *run.Float `json:"entropy,omitempty"` // of the policy in nats: of PPO's the mean over the rows of minibatches, synthetic ones included, of DreamerV3's that over imagined env steps
	Noise     *run.Float `json:"noise,omitempty"`   // of DrQ-v2: σ of the normal noise that exploring adds to actions, which are in [-1, 1]
	Curiosity *run.Float `json:"curiosity,omitempty"`
	RND       *run.Float `json:"rnd,omitempty"`
	Bonus     *run.Float `json:"bonus,omitempty"` // bonus added to the reward, mean over a batch
	// Explorer is set where two agents learn, of the one that explores; the other numbers are of the one that is evaluated.
	Explorer *ExplorerLosses `json:"explorer,omitempty"`
	// World is set in runs whose learner has a model of the world.
	World *World `json:"world,omitempty"`
	// Models holds the losses of the other relevance functions that learn in steps, by name.
	Models map[string]run.Float `json:"models,omitempty"`
	// Episodes is set in runs whose F depends on what an episode has met before.
	Episodes *Episodes `json:"episodes,omitempty"`
}

// ExplorerLosses are those means of an explorer, in units of F.
type ExplorerLosses struct {
	Critic *run.Float `json:"critic"`
	Actor  *run.Float `json:"actor,omitempty"`
	Alpha  run.Float  `json:"alpha"` // as of the last update
	QMean  *run.Float `json:"q_mean"`
}

// World holds means over the updates since the last line.
type World struct {
	Observation    *run.Float `json:"observation,omitempty"`    // squared error of the decoded symlog of observations, summed over their numbers
	Reward         *run.Float `json:"reward,omitempty"`         // cross-entropy of the reward's bins, in nats
	Continue       *run.Float `json:"continue,omitempty"`       // cross-entropy of the episode's going on, in nats
	Dynamics       *run.Float `json:"dynamics,omitempty"`       // KL divergence of latents from what the model expected before it saw the observation, in nats; 1 at least, since less is not learned from
	Representation *run.Float `json:"representation,omitempty"` // the same number where it moves the latents instead of the expectation
	Imagined       *run.Float `json:"imagined,omitempty"`       // discounted return that is imagined from the latents of a batch
	Replayed       *run.Float `json:"replayed,omitempty"`       // that from the same latents along the observed rewards, until the end of the sequence, where the imagined one follows
}

// Model returns the loss of a relevance function and its name; "" and NaN: none learned.
func (l Losses) Model() (name string, loss float64) {
	switch {
	case l.Curiosity != nil:
		return "curiosity", float64(*l.Curiosity)
	case l.RND != nil:
		return "rnd", float64(*l.RND)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Models)) {
		return name, float64(l.Models[name])
	}
	return "", math.NaN()
}

// Episodes holds means over env steps and copies since the last line, and the network's
// accuracy.
type Episodes struct {
	Entries  *run.Float `json:"entries,omitempty"`  // entries in an episode's memory
	P90      *run.Float `json:"p90,omitempty"`      // 90th percentile of the similarities of an observation to the memory
	Accuracy *run.Float `json:"accuracy,omitempty"` // accuracy on the pairs that the last round left out
}

// Noted is a note that a person wrote, or, without Obs.At, a remark of the run itself.
type Noted struct {
	Text string  `json:"text"`
	Obs  KnobObs `json:"obs"`
}

// Failed ends the journal of a run that could not go on.
type Failed struct {
	Error string `json:"error"`
}

// Done ends the journal of a run that was stopped or has made all its steps.
type Done struct {
	Steps int `json:"steps"`
}

// Perf says how fast a run is.
type Perf struct {
	StepsPerSec   run.Float `json:"steps_per_s"`   // env steps since the previous line, over the sum of spent_s
	UpdatesPerSec run.Float `json:"updates_per_s"` // the same of critic updates
	StepS         run.Float `json:"step_s"`        // seconds per env step of all copies with its updates
	FitStepS      run.Float `json:"fit_step_s"`    // seconds per generator step; 0: none yet
	SampleS       run.Float `json:"sample_s"`      // seconds per generated transition; 0: none yet
	MemoryBytes   uint64    `json:"memory_bytes"`
	DeviceBytes   uint64    `json:"device_bytes,omitempty"` // GPU memory that the run's programs take
	Processor     run.Float `json:"cpu_s,omitempty"`        // processor time of the process since the previous line, in seconds
	Device        string    `json:"device,omitempty"`       // the run's, with its threads
	Spent         SpentOn   `json:"spent_s"`
}

// SpentOn says where the time since the previous line went, in seconds: acting and the
// environment, updates of the agent and of relevance models, the phases of refits,
// evaluation, analyses.
type SpentOn struct {
	Act      run.Float `json:"act"`
	Agent    run.Float `json:"agent"`
	Models   run.Float `json:"models"`
	Score    run.Float `json:"score"`
	Fit      run.Float `json:"fit"`
	Generate run.Float `json:"generate"`
	Evaluate run.Float `json:"evaluate"`
	Analyse  run.Float `json:"analyse"`
}

// Paused says why training waits.
type Paused struct {
	Reason string `json:"reason,omitempty"` // empty if a person asked for it
	By     string `json:"by,omitempty"`
}

// Resumed ends a pause.
type Resumed struct {
	By   string `json:"by,omitempty"`
	From string `json:"from,omitempty"` // position of the checkpoint from which the run goes on
}

// Device is a change in how the device does a run's work, such as a copy of frames given up. It
// changes only how long the work takes.
type Device struct {
	Text string `json:"text"`
}

// View is a screen that came or went; those that only watch have no lines.
type View struct {
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}
