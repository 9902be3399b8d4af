package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/experience"
	"pgrlab/core/relevance"
	"pgrlab/core/replay"
	"pgrlab/core/run"
	"pgrlab/core/task"
	"pgrlab/core/testing/racing"
	"pgrlab/envs/maze"
)

// respawning reports every fifth env step as a respawn.
type respawning struct {
	*maze.Env
	t  int32
	at func(t int) // nil: no hook
}

func (e *respawning) Step(action, obs []float32) (float64, bool, bool, error) {
	if e.t++; e.at != nil {
		e.at(int(e.t))
	}
	return e.Env.Step(action, obs)
}

func (e *respawning) Respawned() bool { return e.t%5 == 0 }

func (e *respawning) Save(w io.Writer) error {
	return errors.Join(binary.Write(w, binary.LittleEndian, e.t), e.Env.Save(w))
}

func (e *respawning) Load(r io.Reader) error {
	return errors.Join(binary.Read(r, binary.LittleEndian, &e.t), e.Env.Load(r))
}

// Respawns have no bonus, and the bonus's model does not learn from them either.
func TestNoBonusForRespawns(t *testing.T) {
	racing.Skip(t)
	for _, c := range []config.Config{ppoConfig("curiosity"), ppoConfig("rnd"), ppoCuriosityOfFrames(3), ppoRNDOfFrames(3)} {
		function := c.Bonus.Function
		if f, is := c.Relevance.Of(function).(relevance.RNDConfig); is && c.Sees() {
			f.Batch, f.Every = 16, 8
			c.Relevance = c.Relevance.With(function, f)
		}
		name := fmt.Sprintf("%s, %s", function, c.Observation())
		c.Bonus.Scale = config.ScalePaper
		l, raised := respawningLab(t, c)
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if raised[0] == 0 || raised[1] > 0 {
			t.Errorf("%s: %d bonuses of respawns, %d of others", name, raised[1], raised[0])
		}
		f, err := l.x.first().Functions.Function(function)
		if err != nil {
			t.Fatal(err)
		}
		learned := f.Steps.Batch() // the last update's batch
		seen, rows := respawnsIn(learned)
		if rows == 0 || seen > 0 {
			t.Errorf("%s: the last update was on %d respawns of %d rows", name, seen, rows)
		}
	}
}

// respawnsIn counts the rows of a batch that are respawns.
func respawnsIn(b *replay.Batch) (seen, rows int) {
	for _, n := range b.Notes {
		if n.Respawned {
			seen++
		}
	}
	for _, f := range b.Frames {
		if f.Respawned {
			seen++
		}
	}
	return seen, max(len(b.Notes), len(b.Frames))
}

// respawningLab makes such a run in mazes, and counts the observed rewards that have a bonus: those of
// respawns, and the others.
func respawningLab(t *testing.T, c config.Config) (*Lab, *[2]int) {
	t.Helper()
	dev := quick(t, 1)
	m, _ := maze.Find("maze-sparse")
	mazes := mazeTask(t)
	mazes.New = func(seed uint64) (task.Env, error) { return &respawning{Env: m.New(maze.Training, seed)}, nil }
	c = inEnvSteps(c)
	p, err := newParts(&c, mazes, dev)
	if err != nil {
		t.Fatal(err)
	}
	raised := new([2]int)
	p.Learner = following(p.Learner, func(all []experience.Met) {
		for _, m := range all {
			switch {
			case m.Observed == 0: // no goal is in sight, so every other reward is a bonus
			case m.Note.Respawned:
				raised[1]++
			default:
				raised[0]++
			}
		}
	})
	l, err := newLab(c, mazes, &memoryFolder{}, p, dev.Name(), clock())
	if err != nil {
		t.Fatal(err)
	}
	l.OnFault(FaultFail)
	return l, raised
}

// On disk, where D_real is a log of rows, notes are restored with the rows: PPO with a bonus, and
// prioritized generative replay on it, go on after a stop and in a fork.
func TestNotesOfARunThatIsResumedAndForked(t *testing.T) {
	racing.Skip(t)
	for _, c := range []config.Config{ppoConfig("curiosity"), ppoRelevantConfig(), ppoLatentOfFrames("eco")} {
		c.Schedule = nil
		m, _ := maze.Find("maze-sparse")
		var at func(int)
		mazes := mazeTask(t)
		mazes.New = func(seed uint64) (task.Env, error) {
			return &respawning{Env: m.New(maze.Training, seed), at: func(t int) {
				if at != nil {
					at(t)
				}
			}}, nil
		}
		dev := quick(t, 1)
		c = inEnvSteps(c)
		p, err := newParts(&c, mazes, dev)
		if err != nil {
			t.Fatal(err)
		}
		begin := func(folder record) *Lab {
			l, err := newLab(c, mazes, folder, p, dev.Name(), clock())
			if err != nil {
				t.Fatal(err)
			}
			l.OnFault(FaultFail)
			return l
		}
		whole, top := &memoryFolder{}, t.TempDir()
		if err := begin(whole).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		parent, fork := filepath.Join(top, "parent"), filepath.Join(top, "fork")
		folder := created(t, parent)
		l := begin(folder)
		at = func(t int) {
			if t == 19 {
				l.Send(event.Stop{})
			}
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		at = nil
		found, err := run.Checkpoints(parent)
		if err != nil || len(found) == 0 {
			t.Fatalf("checkpoints %+v, %v", found, err)
		}
		stopped := l.x.first().Real
		goOn := func(dir string) string {
			folder, err := run.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			l, _, err := restore(c, mazes, folder, p, dev.Name(), clock(), Resumption{Saving: Saving{Every: time.Hour}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range stopped.Len() {
				got, want := l.x.first().Real.Note(i), stopped.Note(i)
				same := math.Float32bits(got.F) == math.Float32bits(want.F) && got.Respawned == want.Respawned // F may be NaN
				if !same || !got.Met {
					t.Errorf("%s: row %d comes back with note %+v, want %+v", c.Method, i, got, want)
				}
			}
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			return journalOf(t, dir)
		}
		if _, err := checkpoint.Fork(c, []byte("seed = 7\n"), found[0], nil, fork); err != nil {
			t.Fatal(err)
		}
		forked := goOn(fork)
		lines := slices.DeleteFunc(strings.SplitAfter(forked, "\n"), func(line string) bool {
			return strings.Contains(line, `"type":"note"`) && strings.Contains(line, "fork")
		})
		forked = strings.Join(lines, "")
		if want := whole.canonical(t); forked != want {
			t.Errorf("%s: a fork writes\n%s\nwant\n%s", c.Method, forked, want)
		} else if got := goOn(parent); got != want {
			t.Errorf("%s: resumed it writes\n%s\nwant\n%s", c.Method, got, want)
		}
	}
}
