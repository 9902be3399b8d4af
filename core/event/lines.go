package event

import (
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// Checkpointed is a checkpoint that is on the disk, or, with Obs.Error, one that
// could not be written.
type Checkpointed struct {
	Obs CheckpointObs `json:"obs"`
}

// CheckpointObs is all of it: checkpoints leave no trace in what is computed.
type CheckpointObs struct {
	Path     string        `json:"path,omitempty"`
	Position knob.Position `json:"position"`
	Bytes    int64         `json:"bytes,omitempty"`   // of the file, without the data that it shares
	Seconds  run.Float     `json:"seconds,omitempty"` // until it was on the disk
	StallS   run.Float     `json:"stall_s,omitempty"` // of these, training stood still
	By       string        `json:"by,omitempty"`
	Error    string        `json:"error,omitempty"`
}

// Diverged says that something that learns met a number that is not finite, or that
// the simulation of an environment failed. What learns keeps its last good weights:
// what was not finite is not done. Training waits until a knob is changed and the run
// resumed, or taken back to the checkpoint, which is kept from then on.
type Diverged struct {
	Doing    string        `json:"doing"` // what was not done
	Position knob.Position `json:"position"`
	Program  string        `json:"program,omitempty"` // that computed it
	Op       string        `json:"op,omitempty"`
	Tensor   string        `json:"tensor,omitempty"`
	Error    string        `json:"error"` // where the first such number appeared, or what the simulation said
	Obs      *DivergedObs  `json:"obs,omitempty"`
}

// DivergedObs is the way back.
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
	// Precision is what a GPU rounds the factors of large products to; "" on the CPU.
	Precision string   `json:"precision,omitempty"`
	Members   int      `json:"members,omitempty"`
	Obs       StartObs `json:"obs"`
}

// StartObs is where a run was started.
type StartObs struct {
	Version string `json:"version"`
	Host    string `json:"host"`
	Device  string `json:"device"`
	Time    string `json:"time"`
}

// Evaluated is the result of an evaluation: undiscounted returns of whole
// episodes with the policy's mean action.
type Evaluated struct {
	ReturnMean run.Float   `json:"return_mean"`
	ReturnStd  run.Float   `json:"return_std"` // of the population of episodes
	Returns    []run.Float `json:"returns"`
	Episodes   int         `json:"episodes"`
	Explored   *Explored   `json:"explored,omitempty"` // means over the episodes
}

// Explored is how an episode in a maze went, beside its return; of several episodes the mean.
type Explored struct {
	Goals  run.Float  `json:"goals"`             // reached
	Cells  run.Float  `json:"cells"`             // of the maze that were entered, where an action ended
	Moved  run.Float  `json:"moved"`             // displacements of the actions, over those at top speed: 0 where it turns on the spot, fires or stands at a wall
	OnSpot *run.Float `json:"on_spot,omitempty"` // share of actions that look to a side or fire
}

// Dormant is the share of dormant neurons of the policy, after Sokar et al. 2023
// and DrM 2023.
type Dormant struct {
	Ratio    run.Float `json:"ratio"`
	RatioDrM run.Float `json:"ratio_drm"`
	Tau      run.Float `json:"tau"`
}

// Latents says how far a learner that fills D_real with what it makes of frames has moved
// since, over 256 of its rows.
type Latents struct {
	Drift   run.Float `json:"drift"`             // mean of |z − z_refit|² over mean of |z_refit − z̄|²: 0 right after a refit, 1 where z is as far from what it was as a row is from the mean one
	Aligned run.Float `json:"aligned,omitempty"` // the same of z_refit as updates read D_syn's latents, where those are aligned with the present encoder (agent.drqv2.align_every)
	Size    run.Float `json:"size"`              // mean of |z| over rows and dimensions, as they are now; 1 where all are saturated
}

// Episode is a finished training episode.
type Episode struct {
	Return   run.Float `json:"return"`
	Length   int       `json:"length"`
	Copy     int       `json:"copy,omitempty"`     // of the environment, where the agent trains in several
	Explored *Explored `json:"explored,omitempty"` // in a maze
}

// Refit is a finished refit with its generation, or a generation alone, or by a generator
// that learns nothing: then Steps is 0 and Loss is missing.
type Refit struct {
	Loss      *run.Float `json:"loss,omitempty"` // mean of the last tenth of the fit
	Steps     int        `json:"steps"`          // generator steps
	Generated int        `json:"generated"`      // transitions
	Obs       RefitObs   `json:"obs"`
}

// RefitObs is how long it took.
type RefitObs struct {
	Seconds run.Float `json:"seconds"`
}

// Scores describes F over real transitions.
type Scores struct {
	Relevance string      `json:"relevance"`
	Min       run.Float   `json:"min"`
	Max       run.Float   `json:"max"`
	Mean      run.Float   `json:"mean"`
	Quantiles []run.Float `json:"quantiles"` // 0.1, 0.5, 0.9
}

// Losses are means over the updates since the last line; what was not computed is
// missing.
type Losses struct {
	Critic    *run.Float `json:"critic,omitempty"`
	Actor     *run.Float `json:"actor,omitempty"`
	Alpha     *run.Float `json:"alpha,omitempty"` // α itself
	QMean     *run.Float `json:"q_mean,omitempty"`
	Curiosity *run.Float `json:"curiosity,omitempty"`
	RND       *run.Float `json:"rnd,omitempty"`
	Bonus     *run.Float `json:"bonus,omitempty"` // added to the reward, the mean of a batch
	// Models are the losses of the other relevance functions that learn in steps, by name.
	Models map[string]run.Float `json:"models,omitempty"`
	// Episodes is of runs whose F is of what an episode has met before.
	Episodes *Episodes `json:"episodes,omitempty"`
}

// Episodes are means over env steps and copies since the last line, and the network's accuracy.
type Episodes struct {
	Entries  *run.Float `json:"entries,omitempty"`  // of an episode's memory
	P90      *run.Float `json:"p90,omitempty"`      // of the similarities of what is reached to the memory
	Accuracy *run.Float `json:"accuracy,omitempty"` // on the pairs that the last round left out
}

// Noted is what a person wrote down, or, without Obs.At, what the run did.
type Noted struct {
	Text string  `json:"text"`
	Obs  KnobObs `json:"obs"`
}

// Failed ends a run that could not go on.
type Failed struct {
	Error string `json:"error"`
}

// Done ends a run that was told to stop or made all its steps.
type Done struct {
	Steps int `json:"steps"`
}

// Perf is how fast a run is.
type Perf struct {
	StepsPerSec   run.Float `json:"steps_per_s"`
	UpdatesPerSec run.Float `json:"updates_per_s"`
	StepS         run.Float `json:"step_s"`     // seconds of an env step with its updates
	FitStepS      run.Float `json:"fit_step_s"` // seconds of a generator step; 0: none yet
	SampleS       run.Float `json:"sample_s"`   // seconds of a generated transition; 0: none yet
	MemoryBytes   uint64    `json:"memory_bytes"`
	DeviceBytes   uint64    `json:"device_bytes,omitempty"` // of a GPU's memory, what the run's programs take
	Spent         SpentOn   `json:"spent_s"`
}

// SpentOn is where the time since the line before went, in seconds: acting and the
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
	Reason string `json:"reason,omitempty"` // empty: it was asked for by hand
	By     string `json:"by,omitempty"`
}

// Resumed ends a pause.
type Resumed struct {
	By   string `json:"by,omitempty"`
	From string `json:"from,omitempty"` // position of the checkpoint that the run goes on from
}

// View is a screen that came or went.
type View struct {
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}
