package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgrlab/core/checkpoint"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// hers is a change that ana makes at once, or plans for after an env step.
func hers(name, value string, after int) event.Command {
	c := event.SetKnob{Knob: name, Value: value, By: "ana"}
	if after > 0 {
		c.At = new(knob.After(after))
	}
	return c
}

// made returns the changes of a run, with who made them and for where they were planned.
func made(l *Lab) (all []string) {
	for _, k := range changesIn(l) {
		text := fmt.Sprintf("%s by %s", k.Scheduled(), k.Obs.By)
		if p := k.Obs.Plan; p != nil {
			text += fmt.Sprintf(", planned for %s", p)
		}
		if k.Obs.Undoes > 0 {
			text += fmt.Sprintf(", undoes %d", k.Obs.Undoes)
		}
		all = append(all, text)
	}
	return all
}

// goesOnAs resumes the run in dir, plays it to its end, and compares its changes.
func goesOnAs(t *testing.T, what, dir string, how Resumption, want []string) {
	t.Helper()
	l, said, err := restoredAs(t, newWorld().config(), dir, how)
	if err != nil {
		t.Fatal(what, said, err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(what, err)
	}
	if got := made(l); !slices.Equal(got, want) {
		t.Errorf("%s: said %q; it made\n%q\nwant\n%q", what, said, got, want)
	}
}

// A change that a person planned is that person's, also when the run was killed before or after it
// was made. Several with the same value are several, and one at once is none of them.
func TestAPlannedChangeIsThePersons(t *testing.T) {
	for name, c := range map[string]struct {
		asks map[int][]event.Command
		want []string
	}{
		"one": {map[int][]event.Command{16: {hers("tau", "0.25", 22)}},
			[]string{"22:tau=0.25 by ana, planned for 22"}},
		"before the checkpoint": {map[int][]event.Command{10: {hers("tau", "0.25", 22)}},
			[]string{"22:tau=0.25 by ana, planned for 22"}},
		"the same value again": {map[int][]event.Command{16: {hers("tau", "0.25", 20), hers("tau", "0.5", 30), hers("tau", "0.25", 40)}},
			[]string{"20:tau=0.25 by ana, planned for 20", "30:tau=0.5 by ana, planned for 30", "40:tau=0.25 by ana, planned for 40"}},
		"the same value again, of which the checkpoint has one": {map[int][]event.Command{10: {hers("tau", "0.25", 29), hers("tau", "0.5", 30)}, 16: {hers("tau", "0.25", 40)}},
			[]string{"29:tau=0.25 by ana, planned for 29", "30:tau=0.5 by ana, planned for 30", "40:tau=0.25 by ana, planned for 40"}},
		"one that is refused, and the same at once": {map[int][]event.Command{10: {hers("tau", "0.25", 20)}, 18: {hers("tau", "0.25", 0)}, 23: {hers("tau", "0.5", 0)}, 24: {hers("tau", "0.25", 0)}},
			[]string{"18:tau=0.25 by ana", "23:tau=0.5 by ana", "24:tau=0.25 by ana"}},
	} {
		for _, killed := range []int{28, 35} {
			dir := filepath.Join(t.TempDir(), "run")
			steered(t, newWorld(), newWorld().config(), dir, killed, c.asks)
			goesOnAs(t, fmt.Sprintf("%s, killed in step %d", name, killed), dir, Resumption{}, c.want)
		}
	}
}

// A change that was made is that of a plan, or is not.
func TestPlansThatWereMade(t *testing.T) {
	soon, later := knob.After(20), knob.After(25)
	of := func(by string, plan *knob.Position) knob.Scheduled {
		k := event.KnobChanged{Knob: "tau", To: knob.Number(0.5), Position: later, Obs: event.KnobObs{By: by, Plan: plan}}
		k.Obs.Sum = k.Scheduled().Sum()
		s, whole, repeats := changeOf(event.Event{Step: 25, Body: k})
		if !whole || !repeats {
			t.Fatalf("%+v is no change", k)
		}
		return s
	}
	entry := func(by string, planned bool) knob.Scheduled {
		return knob.Scheduled{At: soon, Knob: "tau", Value: "0.50", By: by, Planned: planned}
	}
	for _, c := range []struct {
		what string
		s, p knob.Scheduled
		want bool
	}{
		{"the configuration's was made", of("schedule", &soon), entry("", false), true},
		{"the configuration's was made, and ana planned the same", of("schedule", &soon), entry("ana", true), false},
		{"ana's plan was made", of("ana", &soon), entry("ana", true), true},
		{"another plan of hers was made", of("ana", &later), entry("ana", true), false},
		{"bo's plan was made", of("bo", &soon), entry("ana", true), false},
		{"she made it at once", of("ana", nil), entry("ana", true), false},
		{"she made it at once, and a resume repeats that", of("ana", nil), entry("ana", false), true},
		{"the configuration's was made, and a resume repeats hers", of("schedule", &soon), entry("ana", false), false},
	} {
		if got := fulfils(c.s, c.p); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	line := knob.Scheduled{At: soon, Knob: "tau", Value: "0.5", By: "ana", Planned: true}
	for _, c := range []struct {
		what string
		has  []knob.Scheduled
		want bool
	}{
		{"put back", []knob.Scheduled{entry("ana", true)}, true},
		{"a repeated change", []knob.Scheduled{entry("ana", false)}, false},
		{"the configuration's", []knob.Scheduled{entry("", false)}, false},
	} {
		if got := (&tail{schedule: c.has}).holds(line); got != c.want {
			t.Errorf("a plan in a checkpoint, %s: %v", c.what, got)
		}
	}
}

// A person may plan once more what the configuration plans, after cancelling that or after another value
// for the same step.
func TestAPlanLikeTheConfigurations(t *testing.T) {
	c := newWorld().config()
	c.Schedule = []string{"40:tau=0.25"}
	for name, test := range map[string]struct {
		asks map[int][]event.Command
		want []string
	}{
		"cancelled": {map[int][]event.Command{16: {cancels("0.25", 40)}, 17: {hers("tau", "0.25", 40)}}, []string{"40:tau=0.25 by ana, planned for 40"}},
		"another value between": {map[int][]event.Command{16: {hers("tau", "0.5", 40), hers("tau", "0.25", 40)}},
			[]string{"40:tau=0.25 by schedule, planned for 40", "40:tau=0.5 by ana, planned for 40", "40:tau=0.25 by ana, planned for 40"}},
	} {
		for _, killed := range []int{28, 42} {
			dir := filepath.Join(t.TempDir(), "run")
			steered(t, newWorld(), c, dir, killed, test.asks)
			for range 2 { // a resume that is interrupted leaves the same
				l, said, err := restored(t, c, dir)
				if err != nil {
					t.Fatal(said, err)
				}
				l.Close()
			}
			l, said, err := restored(t, c, dir)
			if err != nil {
				t.Fatal(said, err)
			}
			if err := l.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := made(l); !slices.Equal(got, test.want) {
				t.Errorf("%s, killed in step %d: it made\n%q\nwant\n%q", name, killed, got, test.want)
			}
		}
	}
}

// What was done after a checkpoint can be left out, also after a resume that has repeated it and after
// a second kill; a fork from there never has it. What was planned before the checkpoint stays.
func TestRepeatedChangesCanBeDropped(t *testing.T) {
	c, root := newWorld().config(), t.TempDir()
	dir := filepath.Join(root, "run")
	asks := map[int][]event.Command{10: {hers("tau", "0.25", 40)}, 16: {hers("tau", "0.5", 0), hers("tau", "0.125", 45), event.Note{Text: "more", By: "ana"}}}
	steered(t, newWorld(), c, dir, 35, asks)
	kept := "40:tau=0.25 by ana, planned for 40"
	for range 2 {
		l, said, err := restored(t, c, dir)
		if err != nil {
			t.Fatal(said, err)
		}
		if n := len(l.x.steering.schedule); n != 4 {
			t.Fatalf("%d are scheduled", n)
		}
		l.Close()
	}
	found, err := run.Checkpoints(dir)
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	fork := filepath.Join(root, "fork")
	if _, err := checkpoint.Fork(c, []byte("seed = 8\n"), found[0], []string{"tau=0.75"}, fork); err != nil {
		t.Fatal(err)
	}
	goesOnAs(t, "a fork", fork, Resumption{}, []string{"15/evaluate:0:tau=0.75 by schedule, planned for 15/evaluate:0", kept})
	goesOnAs(t, "without the tail", dir, Resumption{DropTail: true}, []string{kept})
	goesOnAs(t, "from there on", dir, Resumption{At: &knob.Position{Step: 15, Phase: knob.Evaluate}}, []string{kept})
	later := knob.Scheduled{At: knob.After(45), Knob: "tau", Value: "0.125", By: "ana", Planned: true, Again: knob.After(16)}
	if !later.MadeAfter(knob.At(16, knob.Evaluate, 0)) || later.MadeAfter(knob.At(17, knob.Evaluate, 0)) {
		t.Error("a plan belongs to the checkpoints after the env step in which it was made")
	}
}

// What an undo takes back is still known when it is made again: it cannot be taken back twice.
func TestARepeatedUndoIsOne(t *testing.T) {
	c, dir := newWorld().config(), filepath.Join(t.TempDir(), "run")
	steered(t, newWorld(), c, dir, 35, map[int][]event.Command{16: {hers("tau", "0.5", 0)}, 17: {event.Undo{ID: 1, By: "ana"}}})
	goesOnAs(t, "undone", dir, Resumption{}, []string{"16:tau=0.5 by ana", "17:tau=0.005 by ana, undoes 1"})
}

// The checkpoint before a change is of the run without it, also without the model that the change needs:
// a control that is forked from there must not train it.
func TestTheCheckpointBeforeAChangeHasNothingOfIt(t *testing.T) {
	w, c := newWorld(), newWorld().config()
	c.Knobs.Relevance = "td"
	folder := createdWith(t, filepath.Join(t.TempDir(), "run"), docOf(c))
	l := w.lab(t, c, folder)
	l.Saving(Saving{Every: 1000 * time.Hour})
	k := &l.x.checkpoints
	copyTo, before := k.copyTo, -1
	k.copyTo = func(c *run.Capture, totals []uint64) error {
		if before < 0 {
			before = count(w.log, "build curiosity")
		}
		return copyTo(c, totals)
	}
	w.on("evaluate episodes 1", func() {
		k.last = k.last.Add(-changeAge)
		send(t, &l, event.SetKnob{Knob: "relevance", Value: "curiosity", By: "ana"})()
	})
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	saved, _ := bodies[event.Checkpointed](l)
	if len(saved) == 0 || saved[0].Obs.By != "change" || before != 0 || count(w.log, "build curiosity") != 1 {
		t.Errorf("%d models in %+v", before, saved)
	}
	if all, err := run.Checkpoints(folder.Dir()); err != nil || !slices.ContainsFunc(all, func(c run.Found) bool { return c.Kept && c.Path == saved[0].Obs.Path }) {
		t.Errorf("the checkpoint may be removed: %+v, %v", all, err)
	}
}

// A checkpoint that is young enough when a change comes stays on the disk as well, whatever it was made for.
func TestAYoungCheckpointBeforeAChangeStays(t *testing.T) {
	w, c := newWorld(), newWorld().config()
	folder := createdWith(t, filepath.Join(t.TempDir(), "run"), docOf(c))
	l := w.lab(t, c, folder)
	l.Saving(Saving{Every: 1000 * time.Hour})
	w.on("evaluate episodes 1", func() {
		send(t, &l, event.Checkpoint{By: "ana"})()
		for _, value := range []string{"0.5", "0.25"} {
			send(t, &l, event.SetKnob{Knob: "tau", Value: value, By: "ana"})()
		}
	})
	w.on("evaluate episodes 2", send(t, &l, event.SetKnob{Knob: "tau", Value: "0.125", By: "ana"})) // the file is written
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	all, err := run.Checkpoints(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range all {
		if c.Kept {
			n++
			if text, err := os.ReadFile(c.Path + ".keep"); err == nil && strings.Count(string(text), "\n") != 1 {
				t.Errorf("kept for %q", text)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d checkpoints stay: %+v", n, all)
	}
}
