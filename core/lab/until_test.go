package lab

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/experience"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/testing/tiny"
)

// Whichever part of a run is being made when it is to end, no further one is made, the error is what
// ended it, and the folder stays the caller's. A run that is made does not depend on the context.
func TestTheMakingOfARunEndsBetweenItsParts(t *testing.T) {
	c, why := tiny.Config(), errors.New("the signal")
	c.Members = 2
	for place := 1; ; place++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		made := 0
		count := func() {
			if made++; made == place {
				cancel(why)
			}
		}
		of := tiny.Task()
		newVec, newEnv := of.NewVec, of.New
		of.NewVec = func(n int, seed uint64) (task.VecEnv, error) { count(); return newVec(n, seed) }
		if newEnv != nil {
			of.New = func(seed uint64) (task.Env, error) { count(); return newEnv(seed) }
		}
		dev := tiny.Device(t)
		p, err := newParts(&c, of, dev)
		if err != nil {
			t.Fatal(err)
		}
		learner := p.Learner
		p.Learner = func(log *experience.Log, seed uint64) (*agent.Made, error) { count(); return learner(log, seed) }
		folder, err := run.Create(filepath.Join(t.TempDir(), "run"), nil)
		if err != nil {
			t.Fatal(err)
		}
		m := &making{ctx: ctx}
		l, err := newLab(c, m.task(of), folder, m.parts(p), "test", clock())
		m.done()
		if made < place { // it was made before it was to end
			if err != nil {
				t.Fatal(err)
			}
			cancel(why)
			if _, err := m.task(of).NewVec(1, 1); err != nil {
				t.Errorf("a part that a run makes later: %v", err)
			}
			l.Close()
			if place < 5 {
				t.Errorf("only %d parts", place)
			}
			return
		}
		if err == nil {
			l.Close()
			if made != place {
				t.Errorf("ended in part %d, and %d were made", place, made)
			}
			continue // it was the last part
		}
		if !errors.Is(err, why) || made != place {
			t.Errorf("ended in part %d of which %d were made: %v", place, made, err)
		}
		if err := folder.Append(run.Line{Type: "note", Member: run.NoMember}); err != nil {
			t.Errorf("the folder: %v", err)
		}
		folder.Close()
	}
}
