package lab

import (
	"context"
	"math"
	"testing"

	"pgrlab/core/agent"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/envs/maze"
)

// watched asks for the moment before every action.
type watched struct {
	agent.Learner
	asks func()
}

func (w watched) Act(a *agent.Acting) error {
	w.asks()
	return w.Learner.Act(a)
}

// Looking at the memory of the first copy's episode, and at the learner's F, does not change the
// run. The entries lie where the episode was, and the newest entry where the player is.
func TestLookingAtAMemoryChangesNothing(t *testing.T) {
	for name, c := range map[string]config.Config{"bonus": ppoConfig("eco"), "F": ppoRelevantConfig()} {
		var quiet string
		for _, looks := range []bool{false, true} {
			dev := testDevice(t)
			mazes := mazeTask(t)
			c := inEnvSteps(c)
			p, err := newParts(&c, mazes, dev)
			if err != nil {
				t.Fatal(err)
			}
			var l *Lab
			var moments []*event.Moment
			var f []float32
			asks := func() {
				if looks {
					l.x.asides.showMoment()
					moments = append(moments, l.x.asides.moment)
				}
			}
			plain := following(p.Learner, func(all []experience.Met) { f = append(f, all[0].Note.F) })
			p.Learner = func(log *experience.Log, seed uint64) (*agent.Made, error) {
				a, err := plain(log, seed)
				if err != nil {
					return nil, err
				}
				a.Learner = watched{a.Learner, asks}
				return a, nil
			}
			folder := &memoryFolder{}
			if l, err = newLab(c, mazes, folder, p, dev.Name(), clock()); err != nil {
				t.Fatal(err)
			}
			l.OnFault(FaultFail)
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if !looks {
				quiet = folder.canonical(t)
				continue
			}
			if folder.canonical(t) != quiet {
				t.Errorf("%s: the journal differs", name)
			}
			checkMemories(t, name, moments)
			checkCourses(t, name, moments, f)
		}
	}
}

func checkMemories(t *testing.T, name string, moments []*event.Moment) {
	t.Helper()
	unknown, entries, newest := 0, 0, 0
	for _, m := range moments {
		switch {
		case m.Memory == nil || len(m.Pose) == 0:
			t.Fatalf("%s: no memory in %+v", name, m)
		case m.Memory.Unknown != "":
			unknown++
			continue
		}
		for _, e := range m.Memory.Entries {
			entries++
			if !(e.X > 1 && e.X < maze.Side-1 && e.Y > 1 && e.Y < maze.Side-1) || !(e.Similarity >= 0 && e.Similarity <= 1) {
				t.Errorf("%s: entry %+v", name, e)
			}
			if x, y := m.Pose[5], m.Pose[6]; e.Newest {
				newest++
				if math.Abs(e.X-x) > 1e-5 || math.Abs(e.Y-y) > 1e-5 {
					t.Errorf("%s: the newest entry is of (%v, %v), the player at (%v, %v)", name, e.X, e.Y, x, y)
				}
			}
		}
	}
	if unknown == 0 || entries == 0 || newest == 0 {
		t.Errorf("%s: %d moments before the first round, %d entries, %d newest ones", name, unknown, entries, newest)
	}
}

// checkCourses compares the course of the first copy with F of its env steps. The
// bonus is 0.25 of F, and from env step 17 on 0.5 of it.
func checkCourses(t *testing.T, name string, moments []*event.Moment, f []float32) {
	t.Helper()
	if moments[0].Course != nil {
		t.Errorf("%s: before the first env step %+v", name, moments[0].Course)
	}
	some := false
	for _, m := range moments[1:] {
		if m.Course == nil || len(m.Course.Values)*m.Course.Every != m.Course.Step || len(m.Course.Ended) != len(m.Course.Values) || m.Course.Of != name {
			t.Fatalf("%s: at step %d the course is %+v", name, m.Step, m.Course)
		}
		for i, value := range m.Course.Values {
			want := float64(f[i])
			if name == event.CourseOfBonus && i < 16 {
				want *= 0.25
			} else if name == event.CourseOfBonus {
				want *= 0.5
			}
			if math.Abs(value-want) > 1e-6 {
				t.Fatalf("%s: env step %d has %v, want %v", name, i+1, value, want)
			}
			some = some || value != 0
		}
	}
	if !some {
		t.Errorf("%s: all values are 0", name)
	}
}
