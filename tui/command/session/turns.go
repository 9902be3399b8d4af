package session

import (
	"time"

	"pgrlab/core/event"
	"pgrlab/tui/command/cli"
)

// turnSender is the sender of the pauses in which a fork waits for its turn.
const turnSender = "turns"

// elsewhere is the end of an attempt to train a fork that another process has.
type elsewhere struct{ error }

// ExitStatus tells this end from a failure of the fork.
func (elsewhere) ExitStatus() int { return cli.StatusElsewhere }

func (e elsewhere) Unwrap() error { return e.error }

// takeTurns makes the run wait after each evaluation until it has another turn, so that the forks of a
// fan advance together. Once there are no turns any more it trains on.
func (s *session) takeTurns() {
	at, evaluated := s.history, 0
	for _, e := range s.lab.Events(0)[:s.history] {
		evaluated = max(evaluated, e.Step) // those before are of the parent
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-tick.C:
		}
		came := false
		events := s.lab.Events(at)
		for _, e := range events {
			if _, is := e.Body.(event.Evaluated); is && e.Step > evaluated { // one line for each seed
				came, evaluated = true, e.Step
			}
		}
		if at += len(events); !came {
			continue
		}
		if err := s.lab.Send(event.Pause{By: turnSender, Passing: true}); err != nil {
			return // the run has ended
		}
		err := s.turns.Next()
		_ = s.lab.Send(event.Resume{By: turnSender, Of: turnSender}) // a run that has ended needs none
		if err != nil {
			return
		}
	}
}
