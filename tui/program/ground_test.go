package program

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgrlab/core/device/cpu"
	"pgrlab/core/event"
	reading "pgrlab/core/ground"
	"pgrlab/core/lab"
	"pgrlab/core/task"
	"pgrlab/core/testing/cputest"
	"pgrlab/presets"
	"pgrlab/tui/format"
)

// In preset demo on cheetah-run a run that has begun is no ground for a word. Once it has learned something,
// single updates of the policy that are a thousand times as large are a fall. The log has what was read
// without them.
func TestGroundOnCheetah(t *testing.T) {
	if !soaking() {
		t.Skip("minutes of training; package lab has the short form: PGRLAB_SOAK=1")
	}
	asks := []ask{{at: 1_100}, {at: 4_100}, {at: 5_100}, {at: 6_000}, {at: 6_000, rate: "1"}}
	found := probed(t, 6_001, asks)
	if first := found[0].Word; first != reading.Unsure {
		t.Errorf("%q at first", first)
	}
	if last := found[4]; last.Word != reading.Fall || last.Count < 60 {
		t.Errorf("%q, %d of %d, with larger updates", last.Word, last.Count, len(last.Neighbours))
	}
}

// ask is a question at an env step, with that learning rate of the policy; "": as it is.
type ask struct {
	at   int
	rate string
}

// probed trains preset demo and asks for the ground, while the run waits.
func probed(t *testing.T, steps int, asks []ask) (found []event.Grounded) {
	t.Helper()
	c, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	c.Seed, c.Device, c.Steps = 1, "cpu", steps
	dev := cputest.New(t, cpu.Options{})
	all := tasks()
	on := all[slices.IndexFunc(all, func(of task.Task) bool { return of.Name == c.Task })]
	l, err := lab.New(context.Background(), c, on, dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- l.Run(context.Background()) }()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for seen, asked := 0, 0; ; {
		for _, e := range l.Events(seen) {
			seen++
			switch b := e.Body.(type) {
			case event.Grounded:
				found = append(found, b)
				l.Send(event.Resume{})
				r := reading.Of(&b)
				t.Logf("%+v, %.1f s: %s: %+v, %.0f", asks[asked-1], float64(b.Seconds), r.Says(format.Number), r, b.Neighbours)
			case event.Refused:
				t.Errorf("%+v", b)
			}
		}
		if s := l.Snapshot(); asked < len(asks) && s.Step >= asks[asked].at && len(found) == asked {
			l.Send(event.Pause{})
			if rate := asks[asked].rate; rate != "" {
				l.Send(event.SetKnob{Knob: "lr_actor", Value: rate})
			}
			l.Send(event.Ground{})
			asked++
		}
		select {
		case err := <-ended:
			if err != nil || len(found) != len(asks) {
				t.Fatalf("%d answers to %d questions: %v", len(found), len(asks), err)
			}
			return found
		case <-look.C:
		}
	}
}
