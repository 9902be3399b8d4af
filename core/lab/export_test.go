package lab

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/offline"
	"pgrlab/core/replay"
	"pgrlab/core/run"
)

// The buffers exported from a saved run are those that the run held.
func TestBuffersOfASavedRun(t *testing.T) {
	dev := testDevice(t)
	c := realConfig()
	c.Buffer = 24 // D_real overflows, so that its oldest rows are gone
	dir := filepath.Join(t.TempDir(), "run")
	folder := created(t, dir)
	task := newWorld().task()
	l, err := New(context.Background(), c, task, dev, folder)
	if err != nil {
		t.Fatal(err)
	}
	l.OnFault(FaultFail)
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	saved := offline.Run{Config: c, Dir: dir, Step: -1}
	m := l.x.first()
	for name, held := range map[string]*replay.Ring{"real": m.Real, "synthetic": m.Synthetic} {
		read := saved.RealBuffer
		if name == "synthetic" {
			read = saved.SyntheticBuffer
		}
		b, err := read(task, 0)
		if err != nil {
			t.Fatal(err)
		}
		if obs, act := b.Sizes(); b.Len() != 24 || obs != worldObs || act != worldAct {
			t.Errorf("%s: %d rows of %d and %d", name, b.Len(), obs, act)
		}
		for i := range b.Len() {
			row := held.Row(held.Newest(held.Len() - 1 - i)) // oldest first
			if !slices.Equal(b.Row(i), row) {
				t.Errorf("%s: row %d is %v, the run held %v", name, i, b.Row(i), row)
			}
		}
	}
	if _, err := saved.RealBuffer(task, 1); err == nil {
		t.Error("there is no second member")
	}
	if err := os.RemoveAll(filepath.Join(dir, run.DataName)); err != nil {
		t.Fatal(err)
	}
	if _, err := saved.RealBuffer(task, 0); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("without its data: %v", err)
	}
}
