package source

import (
	"fmt"

	"pgrlab/core/event"
	"pgrlab/core/experience"
)

// RuleBroken says which disagreements a run has had between where its rule says that episodes end and where
// the program of its task ends them.
type RuleBroken struct{ Ended, WentOn bool }

// compareEnds compares the transition of copy i with the rule of where episodes end that the run has for a task of
// another program, whose word on its ends is not checked by a test. The first disagreement of each kind is a note.
func (s *Copies) compareEnds(i int) {
	t := &s.Task
	if t.Program == nil || t.Ends == nil && t.Terminates || s.Ends[i] == experience.Truncated {
		return
	}
	ended := s.Ends[i] == experience.Terminated
	ruled := t.Ends != nil && t.Ends(s.Row(s.Obs, i), s.Row(s.Action, i), s.Row(s.Next, i))
	c := &s.Counters[i]
	at := fmt.Sprintf("step %d of episode %d of %s", c.Step, c.Number(len(s.Counters)), s.Name)
	switch {
	case ended && !ruled && !s.Broken.Ended:
		s.Broken.Ended = true
		said := "environment.outside.ends says that it goes on"
		if t.Ends == nil {
			said = "only time is said to end episodes"
		}
		s.note(at + " ended it, and " + said + ": rollouts of a model go on past such ends")
	case ruled && !ended && !s.Broken.WentOn:
		s.Broken.WentOn = true
		s.note(at + " did not end it, and environment.outside.ends says that it ends: rollouts of a model end too early there")
	}
}

func (s *Copies) note(text string) { s.host.Emit(event.TypeNote, event.Noted{Text: text}) }
