// Package event defines the messages between a running lab and everything around it: what
// a run reports (Event with its bodies, most of them lines of the journal), its state
// (Snapshot) and the requests to it (Command). The package computes nothing; the lab writes
// events, and screen, journal and reports read them.
package event

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
	Member int // NoMember in a cohort of one, and if the event is about the whole cohort
	Body   any // one of the structs below, by Type
}

// NoMember is the member of an event about the whole cohort.
const NoMember = run.NoMember

// The types of events and the structs of their bodies. All but TypeRefused and
// TypePreviewed are lines of the journal.
const (
	TypeStart     = "start"     // Start
	TypeData      = "data"      // Data
	TypeEvaluated = "evaluated" // Evaluated
	TypeDormant   = "dormant"   // Dormant
	TypeLatents   = "latents"   // Latents
	TypeOpenLoop  = "open_loop" // OpenLoop
	TypeEpisode   = "episode"   // Episode
	TypeRefit     = "refit"     // Refit
	TypeKnob      = "knob"      // KnobChanged
	TypeInForce   = "in_force"  // InForce
	TypeWhole     = "whole"     // Whole
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
	TypeDevice    = "device"    // Device, observed
	TypeFork      = "fork"      // Forked, observed
	TypeForkLook  = "fork_look" // Looked, observed
	TypeGround    = "ground"    // Grounded, observed

	TypeCheckpoint = "checkpoint" // Checkpointed, observed
	TypePlanned    = "planned"    // Planned, observed
	TypeCancelled  = "cancelled"  // Cancelled, observed
	TypeRefused    = "refused"    // Refused, not in the journal
)
