package lab

import (
	"time"

	"pgrlab/core/run"
)

// Event is one thing that happened and must not be lost: a line of the journal,
// or a refusal.
type Event struct {
	Index  int // in Events, from 0
	Wall   time.Time
	Type   string
	Step   int
	Member int // NoMember in a cohort of one, and where the event is about the whole cohort
	Body   any // one of the structs below, by Type
}

// NoMember is the member of an event about the whole cohort.
const NoMember = run.NoMember

// The types of events and the structs of their bodies. All but TypeRefused and
// TypePreviewed are lines of the journal.
const (
	TypeStart     = "start"     // Start
	TypeEvaluated = "evaluated" // Evaluated
	TypeDormant   = "dormant"   // Dormant
	TypeEpisode   = "episode"   // Episode
	TypeRefit     = "refit"     // Refit
	TypeKnob      = "knob"      // KnobChanged
	TypeInForce   = "in_force"  // InForce
	TypeScores    = "scores"    // Scores
	TypeLosses    = "losses"    // Losses
	TypeNote      = "note"      // Noted
	TypeDiverged  = "diverged"  // Diverged
	TypeFailed    = "failed"    // Failed
	TypeDone      = "done"      // Done
	TypePerf      = "perf"      // Perf, observed
	TypePause     = "pause"     // Paused, observed
	TypeResume    = "resume"    // Resumed, observed
	TypeDetached  = "detached"  // View, observed
	TypeAttached  = "attached"  // View, observed

	TypeCheckpoint = "checkpoint" // Checkpointed, observed
	TypePlanned    = "planned"    // Planned, observed
	TypeRefused    = "refused"    // Refused, not in the journal
)

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
}

// Dormant is the share of dormant neurons of the policy, after Sokar et al. 2023
// and DrM 2023.
type Dormant struct {
	Ratio    run.Float `json:"ratio"`
	RatioDrM run.Float `json:"ratio_drm"`
	Tau      run.Float `json:"tau"`
}

// Episode is a finished training episode.
type Episode struct {
	Return run.Float `json:"return"`
	Length int       `json:"length"`
}

// Refit is a finished refit with its generation, or a generation alone: then
// Steps is 0 and Loss is missing.
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

// KnobChanged confirms a change: it is set, at Position. When it shows in
// training is said by InForce.
type KnobChanged struct {
	ID       int      `json:"id"` // numbers the changes of a run from 1
	Knob     string   `json:"knob"`
	From     Value    `json:"from"`
	To       Value    `json:"to"`
	Class    Class    `json:"class"`
	Position Position `json:"position"`
	Now      bool     `json:"now,omitempty"`
	Hint     string   `json:"hint,omitempty"` // why it has no effect yet
	Obs      KnobObs  `json:"obs"`
}

// Why says why the change has no effect yet, or has none any more; "": it has one.
func (k KnobChanged) Why() string {
	if k.Obs.Hint != "" {
		return k.Obs.Hint
	}
	return k.Hint
}

// KnobObs is how a change came about.
type KnobObs struct {
	By     string    `json:"by,omitempty"`
	Ref    string    `json:"ref,omitempty"`     // SetKnob.ID
	Undoes int       `json:"undoes,omitempty"`  // the change whose inverse this is
	AskedS run.Float `json:"asked_s,omitempty"` // when it was asked for, as wall_s
	Sum    string    `json:"sum,omitempty"`     // of position, knob, value and now, of a change; of position and text, of a note
	At     *Position `json:"at,omitempty"`      // where a note was written
	Hint   string    `json:"hint,omitempty"`    // why a change has no effect before the run ends, which may be made longer
}

// InForce says that a training batch contains, for the first time, data made with
// the change; its step is that of the event.
type InForce struct {
	ID   int         `json:"id"`
	Knob string      `json:"knob"`
	Obs  *InForceObs `json:"obs,omitempty"` // nil: in journals from before there was one
}

// InForceObs is where training was.
type InForceObs struct {
	Updates uint64 `json:"updates"` // critic updates made before that batch
}

// Refused is a command that was not carried out.
type Refused struct {
	Ref    string // SetKnob.ID
	Knob   string // or "analyse"
	Value  string
	Reason string // one line
	By     string
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
}

// Noted is what somebody wrote down, or, without Obs.At, what the run did.
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
	Reason string `json:"reason,omitempty"` // empty: somebody asked for it
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
