package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/task"
)

type brokenPhysics struct{}

func (brokenPhysics) Error() string     { return "the simulation diverged" }
func (brokenPhysics) EpisodeLost() bool { return true }

// An episode whose simulation breaks down is noted and abandoned, and the run goes on with the next
// episode. The last step of the abandoned episode is not stored and is made again. Any other error
// ends a run without a watching user.
func TestALostEpisodeIsNoted(t *testing.T) {
	for _, c := range []struct {
		err  error
		ends bool
	}{{fmt.Errorf("step world: %w", brokenPhysics{}), false}, {errors.New("step world: no such action"), true}} {
		w := newWorld()
		steps := 0
		w.on("step", func() {
			delete(w.fail, "step")
			if steps++; steps == 30 {
				w.fail["step"] = c.err
			}
		})
		folder := &memoryFolder{}
		l := w.lab(t, w.config(), folder)
		l.OnFault(FaultFail)
		err := l.Run(t.Context())
		if c.ends {
			if err == nil || !strings.Contains(err.Error(), "no such action") {
				t.Errorf("the run ended with %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		journal := folder.canonical(t)
		for _, want := range []string{`"text":"episode lost: step world: the simulation diverged"`, `"length":29`} {
			if !strings.Contains(journal, want) {
				t.Errorf("the journal lacks %s:\n%s", want, journal)
			}
		}
		if stored := l.x.members[0].Real.Len(); stored != 60 {
			t.Errorf("%d transitions of 60 steps stored", stored)
		}
	}
}

func TestATaskWithoutOptionsRefusesThem(t *testing.T) {
	world := newWorld().task()
	if _, err := world.Played(task.Environment{ActionRepeat: 1}); err != nil {
		t.Errorf("the task as it is: %v", err)
	}
	for _, e := range []task.Environment{{ActionRepeat: 2}, {CellBonus: 1}} {
		if _, err := world.Played(e); err == nil || !strings.Contains(err.Error(), "world") {
			t.Errorf("%+v: error %v", e, err)
		}
	}
}

// forgetful is the error of an environment that cannot take up a saved episode.
type forgetful struct{ brokenPhysics }

func (forgetful) NotRepeated() bool { return true }

// An evaluation whose episodes had been saved and cannot be repeated is made again, whole.
func TestAnEvaluationIsMadeAgain(t *testing.T) {
	evaluated := func(breaks bool) (lines []string) {
		w := newWorld()
		steps := 0
		w.on("evaluation step", func() {
			delete(w.fail, "evaluation step")
			if steps++; breaks && steps == 2 {
				w.fail["evaluation step"] = fmt.Errorf("step world: %w", forgetful{})
			}
		})
		folder := &memoryFolder{}
		if err := w.lab(t, w.config(), folder).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again := count(w.log, "evaluate episodes 1") == 2; again != breaks {
			t.Errorf("made again: %v, want %v", again, breaks)
		}
		for _, l := range strings.Split(folder.canonical(t), "\n") {
			if strings.HasPrefix(l, `{"type":"evaluated"`) {
				lines = append(lines, l)
			}
		}
		return lines
	}
	if got, want := evaluated(true), evaluated(false); !slices.Equal(got, want) || len(want) < 2 {
		t.Errorf("evaluated\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
