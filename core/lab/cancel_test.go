package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/checkpoint"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// cancels takes tau off the schedule for after an env step.
func cancels(value string, after int) event.Command {
	return event.Cancel{ID: "c", At: knob.After(after), Knob: "tau", Value: value, By: "bo"}
}

// A change that was cancelled is not made, whether the run was killed before or after it was planned,
// cancelled or due. Of several alike one is cancelled.
func TestACancelledChangeIsNotMade(t *testing.T) {
	kept := "40:tau=0.25 by ana, planned for 40"
	for name, c := range map[string]struct {
		asks map[int][]event.Command
		want []string
	}{
		"before the checkpoint":         {map[int][]event.Command{10: {hers("tau", "0.25", 40)}, 12: {cancels("0.25", 40)}}, nil},
		"the checkpoint has the plan":   {map[int][]event.Command{10: {hers("tau", "0.25", 40)}, 16: {cancels("0.250", 40)}}, nil},
		"after the checkpoint":          {map[int][]event.Command{16: {hers("tau", "0.25", 40)}, 17: {cancels("0.25", 40)}}, nil},
		"planned again":                 {map[int][]event.Command{10: {hers("tau", "0.25", 40)}, 16: {cancels("0.25", 40)}, 17: {hers("tau", "0.25", 40)}}, []string{kept}},
		"one of two":                    {map[int][]event.Command{10: {hers("tau", "0.25", 40), hers("tau", "0.5", 40)}, 16: {cancels("0.5", 40)}}, []string{kept}},
		"one of two after it":           {map[int][]event.Command{16: {hers("tau", "0.25", 40), hers("tau", "0.25", 45)}, 17: {cancels("0.25", 45)}}, []string{kept}},
		"another value, place and knob": {map[int][]event.Command{10: {hers("tau", "0.25", 40)}, 16: {cancels("0.5", 40), cancels("0.25", 41), event.Cancel{At: knob.After(40), Knob: "ratio", Value: "0.25"}}}, []string{kept}},
		"too late":                      {map[int][]event.Command{10: {hers("tau", "0.25", 16)}, 18: {cancels("0.25", 16)}}, []string{"16:tau=0.25 by ana, planned for 16"}},
	} {
		for _, killed := range []int{28, 35} {
			dir := filepath.Join(t.TempDir(), "run")
			steered(t, newWorld(), newWorld().config(), dir, killed, c.asks)
			goesOnAs(t, fmt.Sprintf("%s, killed in step %d", name, killed), dir, Resumption{}, c.want)
		}
	}
}

// What the configuration plans can be cancelled, and what a run that goes on from an earlier checkpoint
// had not cancelled yet is made.
func TestACancellationBelongsToItsPlace(t *testing.T) {
	c, root := newWorld().config(), t.TempDir()
	c.Schedule = []string{"42:tau=0.125"}
	dir := filepath.Join(root, "run")
	steered(t, newWorld(), c, dir, 28, map[int][]event.Command{10: {hers("tau", "0.25", 40)}, 16: {cancels("0.25", 40), cancels("0.125", 42)}})
	for range 2 {
		l, said, err := restored(t, c, dir)
		if err != nil {
			t.Fatal(said, err)
		}
		if n := len(l.Snapshot().Scheduled); n != 0 {
			t.Fatalf("%d are to come", n)
		}
		l.Close()
	}
	found, err := run.Checkpoints(dir)
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	fork := filepath.Join(root, "fork")
	if _, err := checkpoint.Fork(c, []byte("seed = 8\n"), found[0], nil, fork); err != nil {
		t.Fatal(err)
	}
	both := []string{"40:tau=0.25 by ana, planned for 40", "42:tau=0.125 by schedule, planned for 42"}
	resumes := func(what, dir string, how Resumption, want []string) {
		t.Helper()
		l, said, err := restoredAs(t, c, dir, how)
		if err != nil {
			t.Fatal(what, said, err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(what, err)
		}
		if got := made(l); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: made %q, want %q", what, got, want)
		}
	}
	resumes("a fork", fork, Resumption{}, both)
	resumes("the run", dir, Resumption{}, nil)
	resumes("without the tail", dir, Resumption{At: &knob.Position{Step: 15, Phase: knob.Evaluate}, DropTail: true}, both)
}

// What was planned and cancelled after a checkpoint is still in the journal after a resume from there, so
// that a run that goes back further does the same.
func TestAResumeKeepsPlansAndCancellations(t *testing.T) {
	c, dir := newWorld().config(), filepath.Join(t.TempDir(), "run")
	steered(t, newWorld(), c, dir, 28, map[int][]event.Command{8: {hers("tau", "0.25", 40), event.Checkpoint{}}, 16: {cancels("0.25", 40), hers("tau", "0.5", 41)}, 17: {hers("tau", "0.75", 42), cancels("0.75", 42)}, 18: {hers("tau", "0.75", 42)}})
	want := []string{"41:tau=0.5 by ana, planned for 41", "42:tau=0.75 by ana, planned for 42"}
	for range 2 {
		l, said, err := restored(t, c, dir)
		if err != nil {
			t.Fatal(said, err)
		}
		if n, all := len(l.Snapshot().Scheduled), len(l.x.steering.schedule); n != 2 || all != 4 {
			t.Fatalf("%d are to come, of %d", n, all)
		}
		l.Close()
	}
	journal, err := os.ReadFile(filepath.Join(dir, run.JournalName))
	if err != nil || strings.Count(string(journal), `"made":16`) != 2 || strings.Count(string(journal), `"made":17`) != 2 {
		t.Errorf("%v: the journal is\n%s", err, journal)
	}
	goesOnAs(t, "from an earlier checkpoint", dir, Resumption{At: new(knob.After(9))}, want)
}

// A change that is planned already is refused; it is not if another one comes between.
func TestAPlanIsMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	steered(t, newWorld(), newWorld().config(), dir, 28, map[int][]event.Command{16: {hers("tau", "0.25", 40), hers("tau", "0.250", 40), hers("tau", "0.5", 40), hers("tau", "0.25", 40), hers("tau", "0.75", 41)}})
	goesOnAs(t, "planned twice", dir, Resumption{}, []string{"40:tau=0.25 by ana, planned for 40", "40:tau=0.5 by ana, planned for 40", "40:tau=0.25 by ana, planned for 40", "41:tau=0.75 by ana, planned for 41"})
}

// The answer to a cancellation names the plan and who cancelled it; one of nothing is refused.
func TestACancellationIsAnswered(t *testing.T) {
	w := newWorld()
	var l *Lab
	c := w.config()
	folder := createdWith(t, filepath.Join(t.TempDir(), "run"), docOf(c))
	l = w.lab(t, c, folder)
	w.on("evaluate episodes 1", func() {
		send(t, &l, event.SetKnob{ID: "p", Knob: "tau", Value: "0.25", By: "ana", At: new(knob.After(40))})()
		send(t, &l, cancels("0.25", 40))()
		send(t, &l, cancels("0.25", 40))()
	})
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	cancelled, _ := bodies[event.Cancelled](l)
	refused, _ := bodies[event.Refused](l)
	if len(cancelled) != 1 || cancelled[0].Of != "ana" || cancelled[0].By != "bo" || cancelled[0].Ref != "p" || len(changesIn(l)) != 0 {
		t.Errorf("%+v, and %d changes were made", cancelled, len(changesIn(l)))
	}
	if len(refused) != 1 || refused[0].Ref != "c" || refused[0].Reason != "cancel: nothing is planned as 40:tau=0.25" {
		t.Errorf("%+v", refused)
	}
}
