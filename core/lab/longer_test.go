package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/relevance"
	"pgrlab/core/run"
	"pgrlab/core/testing/racing"
)

// fresh plays a run of c to its end in a new folder on disk.
func fresh(t *testing.T, c config.Config, dir string) {
	t.Helper()
	folder := createdWith(t, dir, docOf(c))
	if err := newWorld().lab(t, c, folder).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// docOf stands for the config.toml of c.
func docOf(c config.Config) []byte { return fmt.Appendf(nil, "seed = 7\nsteps = %d\n", c.Steps) }

// longer returns a lab that takes the run of c in dir beyond its end.
func longer(t *testing.T, c config.Config, steps int, dir string) *Lab {
	t.Helper()
	c, err := c.Longer(steps)
	if err != nil {
		t.Fatal(err)
	}
	l, said, err := restoredAs(t, c, dir, Resumption{Config: docOf(c), Saving: Saving{Every: time.Hour}})
	if err != nil {
		t.Fatal(said, err)
	}
	return l
}

// differ reports where the journal in dir differs from the wanted one.
func differ(t *testing.T, what, dir, want string) {
	t.Helper()
	if got := journalOf(t, dir); got != want {
		line, a, b, _, _ := run.Diff(strings.NewReader(got), strings.NewReader(want))
		t.Errorf("%s: line %d is\n%s\nwant\n%s", what, line, a, b)
	}
}

// extendable returns runs, each of which may end in a way of its own.
func extendable() map[string]config.Config {
	all := map[string]config.Config{}
	add := func(name string, change func(c *config.Config)) {
		c := newWorld().config()
		change(&c)
		all[name] = c
	}
	add("plain", func(*config.Config) {})
	add("turned", func(c *config.Config) {
		c.Schedule = append([]string{
			"36:guidance=5!", "37:tau=0.7", "37/score:0:ratio=0.75", "38:relevance=reward", "40/score:0:p_uncond=0.5", "40/fit:2:relevance=td!",
			"44:relevance=curiosity!", "45/evaluate:0:guidance=1", "60:lr_critic=0.5", "60/generate:1:guidance=6!",
		}, busySchedule[:4]...)
	})
	add("cohort", func(c *config.Config) { c.Members, c.Schedule = 2, busySchedule })
	add("examined", func(c *config.Config) { c.Evaluation.AnalyseEvery, c.Evaluation.AnalysedRows = 10, 8 })
	add("kept", func(c *config.Config) { c.Evaluation.KeepEvery = 20 })
	add("unjudged", func(c *config.Config) { c.Evaluation.Every = 0 })
	add("real data only", func(c *config.Config) {
		c.Generator.Kind, c.Generator.Conditional, c.Knobs.Relevance, c.Knobs.Ratio = config.GeneratorNone, false, relevance.None, 0
	})
	for _, name := range []string{"rnd", "count", "td", "none"} {
		add(name, func(c *config.Config) { c.Knobs.Relevance = name })
	}
	add("vae", func(c *config.Config) { c.Generator.Kind = "vae" })
	add("mbpo", rolled)
	add("bonus", func(c *config.Config) {
		c.Bonus = config.Bonus{Function: "curiosity", Scale: config.ScaleReturns}
		c.Knobs.Bonus = 0.1
	})
	return all
}

// A run that is made longer, once or twice, has the journal of a run that was so long from the
// start. That holds for whatever happens at its end: a refit that is due in the last env step, one
// asked for there, an evaluation off the cadence.
func TestALongerRunIsOneThatWasSoLongFromTheStart(t *testing.T) {
	racing.Skip(t)
	const whole = 75
	for name, c := range extendable() {
		dir := t.TempDir()
		c.Steps = whole
		fresh(t, c, filepath.Join(dir, "whole"))
		want := journalOf(t, filepath.Join(dir, "whole"))
		// 37: nothing is due, and "turned" asks for a refit; 40: a refit; 45: an evaluation; 60: both
		ends := []int{37, 40, 60}
		switch soak := os.Getenv("PGRLAB_SOAK") != ""; {
		case name != "plain" && name != "turned":
		case soak:
			ends = []int{1, 5, 7, 37, 40, 45, 60, 74}
		default:
			ends = []int{1, 37, 40, 45, 74}
		}
		for _, steps := range ends {
			at := filepath.Join(dir, fmt.Sprint(steps))
			c.Steps = steps
			fresh(t, c, at)
			l := longer(t, c, whole, at)
			if s := l.Snapshot(); s.Step != steps {
				t.Errorf("%s: the run of %d steps goes on from %s", name, steps, s.Position)
			}
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(name, steps, err)
			}
			differ(t, fmt.Sprintf("%s: %d and then %d steps", name, steps, whole), at, want)
		}
		twice := filepath.Join(dir, "twice")
		for i, steps := range []int{40, 45, 47, 60, whole} {
			if i == 0 {
				c.Steps = steps
				fresh(t, c, twice)
				continue
			}
			l := longer(t, c, steps, twice)
			if c.Steps = steps; l.Run(context.Background()) != nil {
				t.Fatal(name, l.Snapshot().Err)
			}
		}
		differ(t, name+": longer and longer", twice, want)
	}
}

// The last env step is evaluated, also off the cadence, in states of its own, and makes no refit.
// Otherwise the journal is that of a longer run.
func TestTheLastStepIsEvaluatedAndNotRefitted(t *testing.T) {
	c := newWorld().config()
	c.Steps = 75
	_, whole := play(t, newWorld(), c)
	for steps, evaluated := range map[int]string{40: "[15 30 40]", 41: "[15 30 41]", 45: "[15 30 45]", 10: "[10]", 60: "[15 30 45 60]"} {
		c.Steps = steps
		w := newWorld()
		l, folder := play(t, w, c)
		if _, at := bodies[event.Evaluated](l); fmt.Sprint(at) != evaluated {
			t.Errorf("%d steps: evaluated at %v, want %s", steps, at, evaluated)
		}
		if _, at := bodies[event.Refit](l); len(at) > 0 && at[len(at)-1] == steps || len(at) != (steps-1)/c.Knobs.RefitEvery {
			t.Errorf("%d steps: refits at %v", steps, at)
		}
		if n, first := (steps+14)/15, 1; count(w.log, fmt.Sprintf("evaluate episodes %d", n)) != 1 || count(w.log, fmt.Sprintf("evaluate episodes %d", first)) != 1 {
			t.Errorf("%d steps: an evaluation has another's episodes", steps)
		}
		before := folder.canonical(t)
		before = before[:strings.Index(before, fmt.Sprintf(`"step":%d,"return_mean"`, steps))]
		if before = before[:strings.LastIndexByte(before, '\n')+1]; !strings.HasPrefix(whole.canonical(t), before) {
			t.Errorf("%d steps: until its end it is not the longer run", steps)
		}
		if s := l.Snapshot(); s.NextRefit != 0 || s.Step != steps {
			t.Errorf("%d steps: at %d, the next refit in %d", steps, s.Step, s.NextRefit)
		}
	}
}

// copies returns copies of the folder of l's run, by position, as a kill would leave it between two
// slices from an env step on. It copies at each nth place, beginning with first.
func copies(t *testing.T, l *Lab, dir string, from, nth, first int) map[string]string {
	t.Helper()
	all, seen := map[string]string{}, map[string]bool{}
	x, now, root := l.x, l.x.now, t.TempDir()
	x.now = func() time.Time {
		if k := &x.checkpoints; !x.inSlice && x.Step >= from && k.writer != nil && k.busy == nil && !k.last.IsZero() {
			p := x.position.String()
			if !seen[p] && len(seen)%nth == first%nth {
				all[p] = filepath.Join(root, fmt.Sprint(len(all)))
				if err := os.CopyFS(all[p], os.DirFS(dir)); err != nil {
					t.Error(err)
				}
			}
			seen[p] = true
		}
		return now()
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return all
}

// A run that is killed anywhere around its end, or while it is made longer, goes on to its planned
// length, or beyond it, as if it had not been killed.
func TestKilledAroundTheEndAndBeyond(t *testing.T) {
	racing.Skip(t)
	nth, turn := 10, 0
	if racing.On {
		nth = 40
	}
	if os.Getenv("PGRLAB_SOAK") != "" {
		nth = 1
	}
	for name, c := range extendable() {
		if !strings.Contains(" turned cohort examined real data only ", " "+name+" ") {
			continue
		}
		for _, steps := range []int{37, 40} {
			turn++
			root := t.TempDir()
			dir := func(name string) string { return filepath.Join(root, name) }
			c.Steps = 52
			fresh(t, c, dir("whole"))
			whole := journalOf(t, dir("whole"))
			long := c
			c.Steps = steps
			fresh(t, c, dir("short"))
			short := journalOf(t, dir("short"))

			folder := createdWith(t, dir("killed"), docOf(c))
			goOn := func(c config.Config, at, what, want string) {
				t.Helper()
				l, said, err := restored(t, c, at)
				if err != nil {
					t.Fatal(what, said, err)
				}
				if err := l.Run(context.Background()); err != nil {
					t.Fatal(what, err)
				}
				differ(t, what, at, want)
			}
			l := newWorld().lab(t, c, folder)
			l.Saving(Saving{Every: 200 * time.Millisecond}) // by a clock that moves only when it is read
			for p, at := range copies(t, l, dir("killed"), steps-2, nth, turn) {
				again := at + "-longer"
				if err := os.CopyFS(again, os.DirFS(at)); err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s: killed at %s of %d", name, p, steps)
				goOn(c, at, what, short)
				for kind, at := range map[string]string{"and longer": again, "gone on with, and longer": at} {
					if err := longer(t, c, long.Steps, at).Run(context.Background()); err != nil {
						t.Fatal(err)
					}
					differ(t, what+" "+kind, at, whole)
				}
			}
			if err := os.CopyFS(dir("begun"), os.DirFS(dir("killed"))); err != nil {
				t.Fatal(err)
			}
			folder, err := run.Open(dir("begun")) // killed right after it was made longer
			if err != nil {
				t.Fatal(err)
			}
			if err := folder.Reconfigure(docOf(long)); err != nil {
				t.Fatal(err)
			}
			folder.Close()
			goOn(long, dir("begun"), name+": killed as it was made longer", whole)
			for p, at := range copies(t, longer(t, c, long.Steps, dir("killed")), dir("killed"), steps, nth, turn) {
				goOn(long, at, fmt.Sprintf("%s: killed at %s on the way from %d to %d", name, p, steps, long.Steps), whole)
			}
		}
	}
}

// A longer run repeats what a user did at the end of the shorter one, in the same order. It equals
// a run with a schedule of these changes.
func TestALongerRunRepeatsWhatWasDoneAtItsEnd(t *testing.T) {
	for _, steps := range []int{37, 40, 45} {
		c := newWorld().config()
		c.Steps = steps
		dir := filepath.Join(t.TempDir(), "run")
		folder := createdWith(t, dir, docOf(c))
		w := newWorld()
		l := w.lab(t, c, folder)
		w.on("evaluate episodes 3", func() {
			l.Send(event.SetKnob{Knob: "guidance", Value: "4", Now: true, By: "ana"})
			l.Send(event.SetKnob{Knob: "tau", Value: "0.25", By: "ana"})
			l.Send(event.Checkpoint{By: "ana"})
		})
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		saved, _ := bodies[event.Checkpointed](l)
		asked := 0
		for _, s := range saved {
			if s.Obs.Error != "" {
				t.Errorf("%d steps: checkpoint: %s", steps, s.Obs.Error)
			}
			if s.Obs.By == "ana" && s.Obs.Path != "" {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("%d steps: %d checkpoints for her: %+v", steps, asked, saved)
		}
		if made := changesIn(l); len(made) != 2 {
			t.Fatalf("%d steps: %+v", steps, made)
		}
		l = longer(t, c, 75, dir)
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		c.Steps = 75
		made := changesIn(l)
		for _, k := range made {
			c.Schedule = append(c.Schedule, k.Scheduled().String())
		}
		if len(made) != 2 || made[0].Position.Step != steps || made[0].Obs.By != "ana" {
			t.Errorf("%d steps: %+v", steps, made)
		}
		_, whole := play(t, newWorld(), c)
		differ(t, fmt.Sprintf("%d steps, then 75", steps), dir, whole.canonical(t))
	}
}

// A run whose importance weights depend on its length cannot be made longer, and no run can be made
// shorter.
func TestRunsThatCannotBeMadeLonger(t *testing.T) {
	c := newWorld().config()
	if _, err := c.Longer(c.Steps); err == nil || !strings.Contains(err.Error(), "60 steps are not more than the 60") {
		t.Errorf("%v", err)
	}
	c.Replay = config.Replay{Priority: config.PriorityTD}
	if _, err := c.Longer(100); err == nil || !strings.Contains(err.Error(), "β rises from 0.4 to 1 over 60 steps") {
		t.Errorf("%v", err)
	}
}

// A fork of a finished run goes on like the run that is made longer.
func TestAForkOfAFinishedRunGoesOn(t *testing.T) {
	for _, steps := range []int{37, 40, 60} {
		c := newWorld().config()
		root := t.TempDir()
		c.Steps = steps
		fresh(t, c, filepath.Join(root, "parent"))
		found, err := run.Checkpoints(filepath.Join(root, "parent"))
		if err != nil {
			t.Fatal(err)
		}
		c.Steps = 75
		dir := filepath.Join(root, "fork")
		if _, err := checkpoint.Fork(c, docOf(c), found[0], nil, dir); err != nil {
			t.Fatal(err)
		}
		l, said, err := restored(t, c, dir)
		if err != nil {
			t.Fatal(said, err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		at := strings.TrimSuffix(found[0].Position, "/evaluate:0") // an evaluation that the fork does not make
		note := fmt.Sprintf(`{"type":"note","step":%d,"text":"forked at %s"}`, steps, at) + "\n"
		got := strings.Replace(journalOf(t, dir), note, "", 1)
		if _, whole := play(t, newWorld(), c); got != whole.canonical(t) || got == journalOf(t, dir) {
			t.Errorf("a fork at %s writes\n%s\nwant\n%s", found[0].Position, journalOf(t, dir), whole.canonical(t))
		}
	}
}

// Runs of the real parts, of every method that differs by a part, reach the same journal at once or
// in two goes.
func TestMethodsOfRealPartsAreMadeLonger(t *testing.T) {
	racing.Skip(t)
	dev := testDevice(t)
	methods := map[string]config.Config{"pgr": realConfig(), "functions": everyFunction(t)}
	vae := realConfig()
	vae.Generator.Kind = "vae"
	methods["vae"] = vae
	for name := range variants {
		methods[name] = variant(name)
	}
	refused := 0
	for name, c := range methods {
		whole := c.Steps
		_, want := runOn(t, c, dev)
		c.Steps = 24 // a refit is due
		dir := filepath.Join(t.TempDir(), "run")
		folder := createdWith(t, dir, docOf(c))
		l, err := New(context.Background(), c, worldOf(&c), dev, folder)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(name, err)
		}
		long, err := c.Longer(whole)
		if err != nil {
			if refused++; !c.Replay.Prioritized() {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if folder, err = run.Open(dir); err != nil {
			t.Fatal(err)
		}
		l, said, err := Restore(context.Background(), long, worldOf(&c), dev, folder, Resumption{Config: docOf(long)})
		if err != nil {
			t.Fatal(name, said, err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(name, err)
		}
		differ(t, name, dir, want)
	}
	if refused == 0 {
		t.Error("every method can be made longer: those with priorities cannot")
	}
}
