package lab

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"pgrlab/core/checkpoint"
	"pgrlab/core/replica"
	"pgrlab/core/run"
)

// A checkpoint of a run from frames whose learner and F remember what was seen holds no frame itself.
// Checkpoints share the files of the frames, and a fork has links to those of its parent.
func TestAForkCopiesNoFrames(t *testing.T) {
	c, top := ppoLatentOfFrames("eco"), t.TempDir()
	c.Evaluation.KeepEvery = c.Steps / 3
	parent, fork := filepath.Join(top, "parent"), filepath.Join(top, "fork")
	folder := created(t, parent)
	l := framesLabOf(t, c, mazeTask(t), 1, folder)
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	stack, _ := l.x.first().Observed.Looks()
	newest := stack[0]
	found, err := run.Checkpoints(parent)
	if err != nil || len(found) < 3 {
		t.Fatal(found, err)
	}
	c = inEnvSteps(c)
	if said, err := checkpoint.Fork(c, []byte("seed = 8\n"), found[0], nil, fork); err != nil || said != "" {
		t.Fatal(said, err)
	}
	forked, err := run.Checkpoints(fork)
	if err != nil || len(forked) != 1 {
		t.Fatal(forked, err)
	}
	whole, err := run.LoadCheckpoint(forked[0].Path, c.Limit(mazeTask(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range whole.Sections {
		if bytes.Contains(s.Content, newest) {
			t.Errorf("section %s holds a frame", s.Name)
		}
	}
	shared := map[string]int{}
	for _, d := range whole.Data {
		for _, p := range d.Pieces {
			a, err := os.Stat(filepath.Join(parent, run.DataName, p.File))
			if err != nil {
				t.Fatal(err)
			}
			if b, err := os.Stat(filepath.Join(fork, run.DataName, p.File)); err != nil || !os.SameFile(a, b) {
				t.Errorf("%s is not that of the parent: %v", p.File, err)
			}
			shared[d.Name]++
		}
	}
	for _, name := range []string{replica.SectionReal, replica.SectionFrames, replica.SectionPinned, replica.SectionSynthetic} {
		if shared["0/"+name] != 1 {
			t.Errorf("%s is in %d files", name, shared["0/"+name])
		}
	}
}
