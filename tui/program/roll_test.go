package program

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/device/cpu"
	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/task"
	"pgrlab/core/testing/cputest"
	"pgrlab/presets"
)

// Two runs, one whose D_syn rolls and one whose D_syn does not, have ω changed by hand in turn. The log has
// how long it took until a batch had a row of the new D_syn, and until all of it was new.
func TestHowSoonAChangeIsInForce(t *testing.T) {
	if !soaking() {
		t.Skip("it measures times, which only a person can judge: PGRLAB_SOAK=1")
	}
	for _, of := range []struct {
		scale   string
		changes int
	}{{"demo", 20}, {"short", 5}} {
		t.Run(of.scale, func(t *testing.T) {
			c, err := presets.Resolve(presets.Choice{Preset: "demo", Scale: of.scale})
			if err != nil {
				t.Fatal(err)
			}
			c.Seed, c.Device, c.Evaluation.Every = 1, "cpu", 0
			c.Knobs.RefitEvery, c.Knobs.GeneratorSteps = 1_500, 200 // a generation takes the same whatever it was fitted to
			c.Schedule = []string{fmt.Sprintf("1501:refit_every=%d", c.Steps+1)}
			rolls := steered(t, c)
			c.Generator.Roll = 0
			whole := steered(t, c)
			for i := range of.changes {
				for _, r := range []*steeredRun{rolls, whole} {
					r.change(t, fmt.Sprint(3-i%2))
				}
			}
			for _, r := range []*steeredRun{rolls, whole} {
				r.Send(event.Stop{})
				if err := <-r.ended; err != nil {
					t.Error(err)
				}
				t.Logf("roll = %d, %d changes: in force after %s, whole after %s", r.roll, of.changes, spread(r.inForce), spread(r.whole))
			}
			if slices.Max(rolls.shares) > 0.3 || slices.Max(whole.shares) > 0 {
				t.Errorf("in force in %.2f and %.2f of D_syn", rolls.shares, whole.shares)
			}
		})
	}
}

// spread is the median of times, the least and the largest.
func spread(times []float64) string {
	slices.Sort(times)
	n := len(times)
	return fmt.Sprintf("%.2f s (%.2f to %.2f)", times[n/2], times[0], times[n-1])
}

// steeredRun is a run that waits until a knob is changed.
type steeredRun struct {
	*lab.Lab
	roll    int
	ended   chan error
	seen    int       // events
	inForce []float64 // seconds until each change was in force
	whole   []float64 // and until D_syn was whole
	shares  []float64 // of D_syn then
}

// steered begins a run of c and returns it, paused, after its first generation.
func steered(t *testing.T, c config.Config) *steeredRun {
	t.Helper()
	dev := cputest.New(t, cpu.Options{})
	all := tasks()
	l, err := lab.New(context.Background(), c, all[slices.IndexFunc(all, func(of task.Task) bool { return of.Name == c.Task })], dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &steeredRun{Lab: l, roll: c.Roll(), ended: make(chan error, 1)}
	go func() { r.ended <- l.Run(context.Background()) }()
	r.await(func(e event.Event) bool { return e.Type == event.TypeRefit })
	r.Send(event.Pause{})
	return r
}

// await returns the next event that is wanted.
func (r *steeredRun) await(wanted func(event.Event) bool) event.Event {
	for {
		for _, e := range r.Events(r.seen) {
			r.seen++
			if wanted(e) {
				return e
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// change lets the run go on, sets ω, and waits until D_syn is whole.
func (r *steeredRun) change(t *testing.T, omega string) {
	r.Send(event.Resume{})
	step := r.Snapshot().Step
	for r.Snapshot().Step < step+20 {
		time.Sleep(5 * time.Millisecond)
	}
	asked := time.Now()
	if err := r.Send(event.SetKnob{Knob: "guidance", Value: omega, Now: true}); err != nil {
		t.Fatal(err)
	}
	force := r.await(func(e event.Event) bool {
		b, is := e.Body.(event.InForce)
		return is && b.Knob == "guidance" || e.Type == event.TypeRefused
	})
	now, is := force.Body.(event.InForce)
	if !is {
		t.Fatalf("%+v", force.Body)
	}
	end := force
	if now.Share > 0 {
		end = r.await(func(e event.Event) bool { return e.Type == event.TypeWhole })
	}
	r.inForce, r.whole, r.shares = append(r.inForce, force.Wall.Sub(asked).Seconds()), append(r.whole, end.Wall.Sub(asked).Seconds()), append(r.shares, now.Share)
	r.Send(event.Pause{})
}
