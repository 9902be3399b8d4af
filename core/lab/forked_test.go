package lab

import (
	"bytes"
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

// forkedOnce says that two forks were made.
func forkedOnce() event.Command {
	return event.Fork{Forked: event.Forked{
		Changes: []event.ForkedChange{{Knob: "guidance", From: "2", To: "3", Now: true}}, From: knob.After(16), Steps: 20,
		Forks: []event.ForkMade{{Dir: "run-fork-16-control-s8", Seed: 8}, {Dir: "run-fork-16-changed-s9", Changed: true, Seed: 9}},
	}}
}

// The line about forks is the run's own, and what is computed does not depend on it: a resume from a
// checkpoint before it writes it again, and the canonical journal is that of a run without forks.
func TestForksAreInTheJournal(t *testing.T) {
	root := t.TempDir()
	c := newWorld().config()
	plain, forked := filepath.Join(root, "plain"), filepath.Join(root, "forked")
	steered(t, newWorld(), c, plain, 28, map[int][]event.Command{10: {event.Checkpoint{}}})
	steered(t, newWorld(), c, forked, 28, map[int][]event.Command{10: {event.Checkpoint{}}, 17: {forkedOnce()}})
	for _, at := range []*knob.Position{nil, new(knob.After(11)), nil} {
		l, said, err := restoredAs(t, c, forked, Resumption{At: at})
		if err != nil {
			t.Fatal(said, err)
		}
		if got, _ := bodies[event.Forked](l); len(got) != 1 || fmt.Sprint(event.Fork{Forked: got[0]}) != fmt.Sprint(forkedOnce()) {
			t.Errorf("after a resume at %v: %+v", at, got)
		}
		l.Close()
		text, err := os.ReadFile(filepath.Join(forked, run.JournalName))
		if err != nil || strings.Count(string(text), `"type":"fork"`) != 1 {
			t.Errorf("%v: after a resume at %v the journal is\n%s", err, at, text)
		}
	}
	for _, dir := range []string{plain, forked} {
		l, said, err := restored(t, c, dir)
		if err != nil {
			t.Fatal(said, err)
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := journalOf(t, plain), journalOf(t, forked); a != b {
		t.Errorf("with forks the journal is\n%s\nnot\n%s", b, a)
	}
}

// Forks without a change keep the values of the knobs, and make again what the change makes again.
func TestForksWithoutAChangeRedoTheSame(t *testing.T) {
	c := newWorld().config()
	top := t.TempDir()
	parent := filepath.Join(top, "parent")
	diskRun(t, c, parent, 0)
	found, err := run.Checkpoints(parent)
	if err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{
		"guidance=3!":             "guidance=2!",
		"guidance=3":              "",
		"ratio=0.75!":             "", // nothing is made again for it
		"relevance=td!":           "relevance=curiosity!",
		"p_uncond=0.5! ratio=0.5": "p_uncond=0.25!",
		"":                        "",
	} {
		origin, err := checkpoint.Open(c, found[0])
		if err != nil {
			t.Fatal(err)
		}
		changes, err := origin.Changes(c, strings.Fields(set))
		if err != nil {
			t.Errorf("%s: %v", set, err)
			continue
		}
		sham := checkpoint.Sham(changes)
		if strings.Join(sham, " ") != want {
			t.Errorf("%s: others get %q, want %q (%+v)", set, sham, want, changes)
		}
		if _, err := checkpoint.Fork(c, []byte("seed = 8\n"), found[0], sham, filepath.Join(top, "sham of "+set)); err != nil {
			t.Errorf("%s: %v", set, err)
		}
	}
}

// All forks of a plan begin with one state, also if the file of their checkpoint is replaced meanwhile.
func TestForksBeginAlike(t *testing.T) {
	c, top := newWorld().config(), t.TempDir()
	parent := filepath.Join(top, "parent")
	diskRun(t, c, parent, 0)
	found, err := run.Checkpoints(parent)
	if err != nil {
		t.Fatal(err)
	}
	origin, err := checkpoint.Open(c, found[0])
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	for i, set := range [][]string{{"guidance=3"}, {"guidance=3"}} {
		dir := filepath.Join(top, fmt.Sprint(i))
		if _, err := origin.Fork(c, []byte("seed = 8\n"), set, dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(found[0].Path, []byte("another one"), 0o644); err != nil {
			t.Fatal(err)
		}
		forks, err := run.Checkpoints(dir)
		if err != nil || len(forks) != 1 {
			t.Fatal(forks, err)
		}
		ck, err := run.LoadCheckpoint(forks[0].Path, checkpoint.Limit(&c))
		if err != nil {
			t.Fatal(err)
		}
		loop, _ := ck.Section(checkpoint.SectionLoop)
		if i == 0 {
			first = loop
		} else if !bytes.Equal(loop, first) {
			t.Error("the second fork has another state than the first")
		}
	}
}
