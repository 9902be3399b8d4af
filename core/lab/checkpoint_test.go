package lab

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// A checkpoint that is asked for while another one is written is taken after that one, and the journal
// says of each where and for whom it was taken, and which requests it answers.
func TestOneCheckpointIsWrittenAtATime(t *testing.T) {
	c := newWorld().config()
	folder := createdWith(t, filepath.Join(t.TempDir(), "run"), docOf(c))
	l := newWorld().lab(t, c, folder)
	defer l.Close()
	k, written := &l.x.checkpoints, make(chan struct{})
	copyTo := k.copyTo
	k.copyTo = func(c *run.Capture, totals []uint64) error {
		c.Shared = append(c.Shared, run.Shared{Slot: "slow", Name: "slow", File: "slow", Write: func(io.Writer) error {
			<-written
			return nil
		}})
		return copyTo(c, totals)
	}
	k.start()
	for i, by := range []string{"ana", "bob"} {
		l.x.Step = 10 + i
		l.x.position = knob.After(l.x.Step)
		k.onDemand(event.Checkpoint{Ref: "of " + by, By: by})
	}
	k.onDemand(event.Checkpoint{Ref: "another", By: "bob"})
	close(written)
	k.settle()
	k.consider()
	k.settle()
	found, _ := bodies[event.Checkpointed](l)
	got := ""
	for _, b := range found {
		got += fmt.Sprintf("%s by %s for %q %s\n", b.Obs.Position, b.Obs.By, b.Obs.Refs, b.Obs.Error)
	}
	if want := "10 by ana for [\"of ana\"] \n11 by bob for [\"of bob\" \"another\"] \n"; got != want || found[0].Obs.Path == found[1].Obs.Path {
		t.Errorf("written: %+v, want\n%s", found, want)
	}
}
