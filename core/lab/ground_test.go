package lab

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/ground"
	"pgrlab/core/knob"
	"pgrlab/core/testing/tiny"
)

// grounded is a run of the real parts with seven evaluations; ask is called between two slices.
func grounded(t *testing.T, c config.Config, ask func(l *Lab, s *event.Snapshot)) (*Lab, string) {
	t.Helper()
	dir := t.TempDir() + "/run"
	folder := created(t, dir)
	l, err := New(context.Background(), c, tiny.Task(), tiny.Device(t), folder)
	if err != nil {
		t.Fatal(err)
	}
	publish := l.x.control.publish
	l.x.control.publish = func(now time.Time) {
		publish(time.Time{})
		if ask != nil {
			ask(l, l.Snapshot())
		}
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l, journalOf(t, dir)
}

func longerTiny() config.Config {
	c := tiny.Config()
	c.Steps = 7 * c.Evaluation.Every
	return c
}

// A run that was probed in the middle of everything writes the journal of one that was not, but for
// the observed line.
func TestGroundChangesNothing(t *testing.T) {
	c := longerTiny()
	_, want := grounded(t, c, nil)
	asked := 0
	positions := map[knob.Phase]bool{}
	shown := 0
	l, got := grounded(t, c, func(l *Lab, s *event.Snapshot) {
		if s.Ground != nil {
			if shown = max(shown, s.Ground.Episodes); s.Ground.Of != ground.Neighbours+c.Evaluation.Episodes {
				t.Errorf("%+v", s.Ground)
			}
			return
		}
		if s.Updates > 0 && s.Step > 8+2*asked {
			asked++
			positions[s.Phase] = true
			l.Send(event.Ground{By: "me"})
		}
	})
	if got != want {
		t.Fatalf("probed, the run writes\n%s\nelse\n%s", got, want)
	}
	found, steps := bodies[event.Grounded](l)
	if len(found) < 5 || shown == 0 || len(positions) < 2 {
		t.Fatalf("%d answers to %d questions in %v, %d episodes shown", len(found), asked, positions, shown)
	}
	for i, g := range found {
		if g.Number != i+1 || len(g.Neighbours) != ground.Neighbours || len(g.Returns) != c.Evaluation.Episodes || g.By != "me" || !(g.Seconds > 0) || g.At < 1 || g.At > steps[i] {
			t.Errorf("%+v", g)
		}
	}
	if g := found[0]; g.Level != nil || g.Word != ground.Unsure {
		t.Errorf("before four evaluations: %+v", g)
	}
	if g := found[len(found)-1]; g.Level == nil || g.Last == nil {
		t.Errorf("after them: %+v", g)
	}
}

// At an evaluation the present policy returns what that evaluation returned, also in a paused run, which
// stays paused.
func TestGroundOfAPausedRun(t *testing.T) {
	c := longerTiny()
	begun := false
	l, _ := grounded(t, c, func(l *Lab, s *event.Snapshot) {
		switch {
		case !begun && s.Step == 2*c.Evaluation.Every && s.Position == knob.After(s.Step):
			begun = true
			l.Send(event.Pause{})
			l.Send(event.Ground{By: "me"})
			l.Send(event.Ground{By: "too soon"})
		case begun && s.Ground == nil && s.State == event.PausedState && s.Step == 2*c.Evaluation.Every:
			if found, _ := bodies[event.Grounded](l); len(found) > 0 {
				l.Send(event.Resume{})
			}
		}
	})
	found, steps := bodies[event.Grounded](l)
	evaluated, at := bodies[event.Evaluated](l)
	if len(found) != 1 || steps[0] != at[1] || math.Abs(float64(found[0].Return-evaluated[1].ReturnMean)) > 1e-6 {
		t.Errorf("%+v at %v, evaluated %+v", found, steps, evaluated[1])
	}
	if refused, _ := bodies[event.Refused](l); len(refused) != 1 || refused[0].By != "too soon" || refused[0].Knob != "ground" || !strings.Contains(refused[0].Reason, "under way") {
		t.Errorf("%+v", refused)
	}
}

// A probe can be left, and ends with the run; neither leaves a line, and another can follow.
func TestGroundIsLeft(t *testing.T) {
	c := longerTiny()
	left, stopped := false, false
	l, _ := grounded(t, c, func(l *Lab, s *event.Snapshot) {
		switch {
		case s.Step < 20 || stopped:
		case s.Ground == nil:
			l.Send(event.Ground{By: "me"})
		case !left && s.Ground.Episodes > 5:
			left = true
			l.Send(event.LeaveGround{By: "me"})
		case left && s.Ground.Episodes > 3 && s.Ground.Episodes < 6:
			stopped = true
			l.Send(event.Stop{})
		}
	})
	found, _ := bodies[event.Grounded](l)
	refused, _ := bodies[event.Refused](l)
	if len(found) != 0 || len(refused) < 2 || refused[0].Reason != "ground: left" || refused[len(refused)-1].Reason != event.ErrEnded.Error() || l.Snapshot().Ground != nil {
		t.Errorf("%d answers, %+v", len(found), refused)
	}
}

func TestGroundIsRefused(t *testing.T) {
	for name, of := range map[string]struct {
		change func(c *config.Config)
		why    string
	}{
		"seeds":      {func(c *config.Config) { c.Members = 2 }, "the run trains 2 seeds"},
		"priorities": {func(c *config.Config) { c.Replay.Priority = config.PriorityTD }, "by priority"},
		"bonus":      {func(c *config.Config) { c.Bonus = config.Bonus{Function: "curiosity", Scale: config.ScalePaper} }, "learns from F"},
		"unrated":    {func(c *config.Config) { c.Evaluation.Every = 0 }, "is not evaluated"},
		"pixels":     {func(c *config.Config) { *c = tiny.Pixels() }, "the learner drqv2 makes no single update"},
		"none":       {func(c *config.Config) { c.Agent.Learner = config.LearnerNone }, "no agent"},
	} {
		c := tiny.Config()
		of.change(&c)
		if err := c.CheckGround(); err == nil || !strings.Contains(err.Error(), of.why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, of.why)
		}
	}
	asked := false
	l, _ := grounded(t, tiny.Config(), func(l *Lab, s *event.Snapshot) {
		if !asked {
			asked = true
			l.Send(event.Ground{By: "hasty"})
		}
	})
	if refused, _ := bodies[event.Refused](l); len(refused) != 1 || !strings.Contains(refused[0].Reason, "has not learned yet") {
		t.Errorf("%+v", refused)
	}
}
