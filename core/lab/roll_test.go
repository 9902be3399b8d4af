package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgrlab/core/agent"
	"pgrlab/core/checkpoint"
	"pgrlab/core/config"
	"pgrlab/core/device"
	"pgrlab/core/event"
	"pgrlab/core/generative"
	"pgrlab/core/inspect"
	"pgrlab/core/knob"
	"pgrlab/core/offline"
	"pgrlab/core/replay"
	"pgrlab/core/run"
	"pgrlab/core/testing/racing"
	"pgrlab/core/testing/tiny"
)

// rolling is a run whose D_syn is made in six chunks, two env steps apart, after a change in its course:
// the refits are at steps 20 and 40.
func rolling(schedule ...string) config.Config {
	c := tiny.Config()
	c.Steps, c.Knobs.RefitEvery, c.Knobs.UTD, c.Evaluation.Every, c.Evaluation.AnalysedRows = 44, 20, 2, 22, 16
	c.Generator.Chunk, c.Generator.Roll, c.Schedule = 4, 2, schedule
	return c
}

// rollingLab is a run of the real parts in a folder.
func rollingLab(t testing.TB, c config.Config, dev device.Device, folder record) *Lab {
	t.Helper()
	p, err := newParts(&c, tiny.Task(), dev)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLab(c, tiny.Task(), folder, p, dev.Name(), clock())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// stamps returns what the journal says of changes, and of D_syn that is whole.
func stamps(l *Lab) string {
	var s []string
	for _, e := range l.Events(0) {
		switch b := e.Body.(type) {
		case event.InForce:
			text := fmt.Sprintf("%d in force at %d", b.ID, e.Step)
			if b.Share > 0 {
				text += fmt.Sprintf(" in %.2f", b.Share)
			}
			s = append(s, text)
		case event.Whole:
			s = append(s, fmt.Sprintf("%d whole at %d", b.ID, e.Step))
		case event.Refit:
			s = append(s, fmt.Sprintf("refit of %d at %d", b.Steps, e.Step))
		case event.Refused:
			s = append(s, "refused: "+b.Reason)
		}
	}
	return strings.Join(s, "; ")
}

// A change by hand is in force with the first chunk, and the rest of D_syn follows while training goes on.
func TestDSynRollsAfterAChange(t *testing.T) {
	const first, last = "refit of 12 at 20; ", "; refit of 12 at 40"
	for _, c := range []struct {
		name     string
		schedule []string
		want     string
	}{
		{"by hand", []string{"23:guidance=3!"}, first + "1 in force at 25 in 0.17; refit of 0 at 34; 1 whole at 34" + last},
		{"not now", []string{"23:guidance=3"}, first + "refit of 12 at 40; 1 in force at 41"},
		{"with a fit", []string{"23:p_uncond=0.5!"}, first + "refit of 12 at 24; 1 in force at 25" + last},
		{"a second change of the knob begins again, over the oldest rows", []string{"23:guidance=3!", "27:guidance=4!"},
			first + "1 in force at 25 in 0.17; 2 in force at 29 in 0.17; refit of 0 at 38; 2 whole at 38" + last},
		{"a change of another knob has the first one", []string{"23:guidance=3!", "27:top_fraction=0.5!"},
			first + "1 in force at 25 in 0.17; 2 in force at 29 in 0.17; refit of 0 at 38; 1 whole at 38; 2 whole at 38" + last},
		{"inside a chunk", []string{"23:guidance=3!", "26/generate:7:guidance=4!"},
			first + "1 in force at 25 in 0.17; 2 in force at 28 in 0.17; refit of 0 at 37; 2 whole at 37" + last},
		{"a refit takes its place", []string{"33:guidance=3!"}, first + "1 in force at 35 in 0.17; refit of 12 at 40; 1 whole at 40"},
		{"fewer rows", []string{"23:samples=10!"}, first + "1 in force at 25 in 0.40; refit of 0 at 28; 1 whole at 28" + last},
		{"more rows", []string{"23:samples=30!"}, first + "1 in force at 25 in 0.14; refit of 0 at 38; 1 whole at 38" + last},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := rollingLab(t, rolling(c.schedule...), tiny.Device(t), nil)
			if err := l.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := stamps(l); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// ringRows are all rows of a ring, by slots.
func ringRows(r *replay.Ring) (rows []float32) {
	for i := range r.Len() {
		rows = append(rows, r.Row(i)...)
	}
	return rows
}

// D_syn is that of a generation without a break once it is whole, and until then the newest rows of the old
// and of the new one.
func TestARolledDSynIsThatOfOneGeneration(t *testing.T) {
	end := func(roll, steps int, schedule ...string) *replay.Ring {
		c := rolling(schedule...)
		c.Generator.Roll, c.Steps, c.Evaluation.Every = roll, steps, 0
		l := rollingLab(t, c, tiny.Device(t), nil)
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return l.x.first().Synthetic
	}
	const width, chunk = 2*tiny.Obs + tiny.Act + 2, 4
	before, after := ringRows(end(0, 23)), ringRows(end(0, 36, "23:guidance=3!"))
	if got := ringRows(end(2, 36, "23:guidance=3!")); !slices.Equal(got, after) {
		t.Errorf("the rolled D_syn is\n%v\nthat of one generation\n%v", got, after)
	}
	n := 2 * chunk * width // at steps 24 and 26
	if got := ringRows(end(2, 27, "23:guidance=3!")); !slices.Equal(got, slices.Concat(after[:n], before[n:])) {
		t.Errorf("with two chunks D_syn is\n%v\nof\n%v\nand\n%v", got, after, before)
	}
	second := ringRows(end(0, 36, "23:guidance=3!", "27:guidance=4!"))
	want := slices.Concat(before[n+n/2:], after[:n], second[:n/2]) // by age
	mixed, byAge := end(2, 29, "23:guidance=3!", "27:guidance=4!"), []float32(nil)
	for _, slot := range mixed.Oldest(0, mixed.Len()) {
		byAge = append(byAge, mixed.Row(slot)...)
	}
	if !slices.Equal(byAge, want) {
		t.Errorf("with two chunks of one change and one of another D_syn is\n%v\nwant\n%v", byAge, want)
	}
}

// The journal does not depend on the number of workers or members' turns, nor, without a change by hand, on
// whether D_syn would roll.
func TestARollIsTheSameOnAllWorkers(t *testing.T) {
	changes := []string{"23:guidance=3!", "29:top_fraction=0.5!"}
	for _, members := range []int{1, 2} {
		c := rolling(changes...)
		c.Members = members
		_, first := realRun(t, c, 1)
		if _, other := realRun(t, c, 2); first != other {
			t.Errorf("%d members: one worker writes\n%s\ntwo write\n%s", members, first, other)
		}
		if !strings.Contains(first, `"whole"`) {
			t.Errorf("nothing has rolled:\n%s", first)
		}
	}
	still, never := rolling(), rolling()
	never.Generator.Roll = 0
	_, a := realRun(t, still, 1)
	if _, b := realRun(t, never, 1); a != b {
		t.Errorf("without changes it writes\n%s\nand with roll 0\n%s", a, b)
	}
}

// A run that is interrupted anywhere in a roll goes on as if it had not been.
func TestARollGoesOnFromEveryBorder(t *testing.T) {
	dev := tiny.Device(t)
	for _, test := range []struct {
		kind     string
		members  int
		schedule []string
	}{
		{"diffusion", 1, []string{"23:guidance=3!", "26/generate:7:top_fraction=0.5!"}},
		{"diffusion", 2, []string{"23:guidance=3!"}},
		{"vae", 1, []string{"23:top_fraction=0.5!", "27:top_fraction=0.25!"}},
		{"resample", 1, []string{"23:top_fraction=0.5!"}},
	} {
		c := rolling(test.schedule...)
		c.Generator.Kind, c.Members = test.kind, test.members
		chosen := func(i int, p knob.Position) bool { return p.Step >= 23 && (test.members == 1 || i%5 == 0) }
		phases := resumeFrom(t, chosen, func(r record) *Lab { return rollingLab(t, c, dev, r) })
		if phases[knob.Generate] < 6 {
			t.Errorf("%s, %d members: borders %v", test.kind, test.members, phases)
		}
	}
}

// rollOnDisk plays c in a new folder up to a position.
func rollOnDisk(t *testing.T, c config.Config, dev device.Device, at knob.Position, saving Saving) (l *Lab, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	folder := created(t, dir)
	l = rollingLab(t, c, dev, folder)
	l.Saving(saving)
	stopAt(l, at)
	if err := l.Run(context.Background()); err != nil || l.x.position != at {
		t.Fatalf("at %s: %v", l.x.position, err)
	}
	return l, dir
}

// rollOn goes on with the run in dir to its end.
func rollOn(t *testing.T, c config.Config, dev device.Device, dir string, how Resumption) *Lab {
	t.Helper()
	folder, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, said, err := Restore(context.Background(), c, tiny.Task(), dev, folder, how)
	if err != nil {
		t.Fatal(said, err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l
}

// From the disk, too, with D_syn or with what it is made from.
func TestARollIsResumedFromTheDisk(t *testing.T) {
	racing.Skip(t)
	dev := tiny.Device(t)
	c := rolling("23:guidance=3!", "27:guidance=4!")
	whole := &memoryFolder{}
	if err := rollingLab(t, c, dev, whole).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	undisturbed := whole.canonical(t)
	for _, lean := range []bool{false, true} {
		for _, at := range []knob.Position{knob.After(24), knob.At(26, knob.Generate, 7), knob.After(27), knob.At(28, knob.Generate, 2), knob.After(31), knob.At(38, knob.Generate, 32)} {
			saving := Saving{Every: time.Hour, Lean: lean}
			_, dir := rollOnDisk(t, c, dev, at, saving)
			rollOn(t, c, dev, dir, Resumption{Saving: saving})
			if got := journalOf(t, dir); got != undisturbed {
				t.Errorf("lean %t, from %s the journal is\n%s\nwant\n%s", lean, at, got, undisturbed)
			}
		}
	}
}

// What is read of a checkpoint inside of a roll is the mixed D_syn, and says so.
func TestASavedRollIsRead(t *testing.T) {
	dev := tiny.Device(t)
	c := rolling("23:guidance=3!", "27:guidance=4!")
	for _, at := range []knob.Position{knob.After(25), knob.At(26, knob.Generate, 7), knob.After(31)} {
		l, dir := rollOnDisk(t, c, dev, at, Saving{Every: time.Hour})
		held := l.x.first().Synthetic
		saved := offline.Run{Config: c, Dir: dir, Step: -1}
		b, err := saved.SyntheticBuffer(tiny.Task(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if b.Len() != held.Len() || b.Mixed() != l.x.first().Synthesis.Share() || b.Mixed() == 0 {
			t.Errorf("at %s: %d rows, of which %.2f are new", at, b.Len(), b.Mixed())
		}
		for i, slot := range held.Oldest(0, held.Len()) {
			if !slices.Equal(b.Row(i), held.Row(slot)) {
				t.Fatalf("at %s: row %d is %v, the run held %v", at, i, b.Row(i), held.Row(slot))
			}
		}
		found, err := offline.Examine(saved, tiny.Task(), dev, inspect.DefaultExamination(), nil)
		if err != nil || found[0].Mixed != b.Mixed() || found[0].AskedAchieved != nil {
			t.Errorf("at %s: %v, %+v", at, err, found)
		}
	}
}

// A run that ends inside of a roll continues it when it is made longer, and so does a fork from there.
func TestARollGoesOnBeyondTheEndAndInForks(t *testing.T) {
	dev := tiny.Device(t)
	whole := rolling("23:guidance=3!")
	for _, steps := range []int{27, 28} { // 28 has a chunk
		short := whole
		short.Steps = steps
		_, dir := rollOnDisk(t, short, dev, knob.After(steps), Saving{Every: time.Hour})
		found, err := run.Checkpoints(dir)
		if err != nil {
			t.Fatal(err)
		}
		other, fork := whole, filepath.Join(t.TempDir(), "fork")
		other.Seed++
		from := found[len(found)-1]
		if _, err := checkpoint.Fork(other, []byte("seed = 8\n"), from, []string{"top_fraction=0.5"}, fork); err != nil {
			t.Fatal(err)
		}
		for _, of := range []struct {
			c   config.Config
			dir string
		}{{whole, dir}, {other, fork}} {
			l := rollOn(t, of.c, dev, of.dir, Resumption{Saving: Saving{Every: time.Hour}, Config: []byte("seed = 7\n")})
			if got := stamps(l); !strings.HasSuffix(got, "refit of 0 at 34; 1 whole at 34; refit of 12 at 40") && !strings.HasSuffix(got, "refit of 0 at 34; 1 whole at 34; refit of 12 at 40; 2 in force at 41") {
				t.Errorf("from %s in %s: %s", from.Position, of.dir, got)
			}
		}
	}
}

// diverging is a generator whose calls of that number diverge.
type diverging struct {
	generative.Generator
	calls *int
	at    int
}

func (g diverging) GenerateSlice() ([]float32, int, int, error) {
	if *g.calls++; *g.calls == g.at {
		return nil, 0, 0, notFinite()
	}
	return g.Generator.GenerateSlice()
}

// A chunk that diverges ends the roll: D_syn stays mixed, the run goes on, and the next generation of
// whatever kind makes it whole.
func TestAChunkThatDiverges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := rolling("23:guidance=3!")
		p, err := newParts(&c, tiny.Task(), tiny.Device(t))
		if err != nil {
			t.Fatal(err)
		}
		calls, make := 0, p.Generator
		p.Generator = func(policy agent.Policy, seed uint64) (generative.Generator, error) {
			g, err := make(policy, seed)
			return diverging{g, &calls, 30 + 12}, err // in the third chunk after the refit's six
		}
		l, err := newLab(c, tiny.Task(), nil, p, "test", clock())
		if err != nil {
			t.Fatal(err)
		}
		r := newWorld().start(t, t.Context(), l, nil)
		synctest.Wait()
		m := l.x.first()
		if s := l.Snapshot(); s.State != event.PausedState || s.Step != 28 || m.Synthesis.Share() != 8./24 || m.Synthetic.Len() != 24 {
			t.Errorf("it is %s at %s: %q", s.State, s.Position, s.Err)
		}
		l.Send(event.Resume{})
		if err := <-r.ended; err != nil {
			t.Fatal(err)
		}
		if m.Synthesis.Share() != 0 {
			t.Errorf("after a refit D_syn is mixed, %.2f", m.Synthesis.Share())
		}
		if got, want := stamps(l), "refit of 12 at 20; 1 in force at 25 in 0.17; refit of 12 at 40; 1 whole at 40"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// What rows of two generations cannot be mixed of comes into force as a whole.
func TestWhatDoesNotRoll(t *testing.T) {
	for name, change := range map[string]func(*config.Config){
		"several generations": func(c *config.Config) { c.Generator.Retain = 2 },
		"latents":             func(c *config.Config) { *c = tiny.Latents(); c.Generator.Roll = 2 },
		"rollouts":            func(c *config.Config) { c.Generator.Kind = "ensemble" },
		"off":                 func(c *config.Config) { c.Generator.Roll = 0 },
	} {
		c := rolling()
		if c.Roll() != 2 {
			t.Fatalf("it rolls every %d steps", c.Roll())
		}
		if change(&c); c.Roll() != 0 {
			t.Errorf("%s: it rolls every %d steps", name, c.Roll())
		}
	}
}
