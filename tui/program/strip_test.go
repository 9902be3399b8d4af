package program

import (
	"context"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgrlab/core/device/cpu"
	"pgrlab/core/event"
	"pgrlab/core/lab"
	"pgrlab/core/task"
	"pgrlab/core/testing/cputest"
	"pgrlab/presets"
)

// What a strip takes, and how well it says what a generation is: preset demo after the generation at
// 5,000 steps, while the run waits. Strips of guidance and of top_fraction take turns, so that each has
// noise of its own.
func TestStripOnCheetah(t *testing.T) {
	if !soaking() {
		t.Skip("a minute of training; package lab has the short form: PGRLAB_SOAK=1")
	}
	c, err := presets.Resolve(presets.Choice{Preset: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	c.Seed, c.Device, c.Steps = 1, "cpu", 7_000
	dev := cputest.New(t, cpu.Options{})
	all := tasks()
	on := all[slices.IndexFunc(all, func(of task.Task) bool { return of.Name == c.Task })]
	l, err := lab.New(context.Background(), c, on, dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- l.Run(context.Background()) }()
	const asks = 48
	var sent time.Time
	var first, whole, again []float64 // seconds
	var strips []event.Previewed
	var generated event.Generated
	var achieved *event.RefitF
	asked, parts := 0, 0
	ask := func() {
		if asked == asks {
			l.Send(event.Stop{})
			return
		}
		p := event.Preview{ID: strconv.Itoa(asked), Knob: "guidance", Value: "3"}
		switch asked % 4 {
		case 1: // another value of the strip that was made
			p.Value = "2.25"
		case 2, 3:
			p.Knob, p.Value = "top_fraction", "0.5"
		}
		asked++
		sent, parts = time.Now(), 0
		l.Send(p)
	}
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for seen := 0; ; {
		for _, e := range l.Events(seen) {
			seen++
			switch b := e.Body.(type) {
			case event.Generated:
				generated = b
			case event.Refit:
				achieved = b.F
			case event.Previewed:
				if b.Err != "" {
					t.Errorf("%+v", b)
				}
				if parts++; parts == 1 && asked%4 == 1 {
					first = append(first, time.Since(sent).Seconds())
				}
				if b.More {
					continue
				}
				switch {
				case asked%4 == 1:
					whole, strips = append(whole, time.Since(sent).Seconds()), append(strips, b)
				case asked%4 == 2:
					again = append(again, time.Since(sent).Seconds())
				}
				ask()
			}
		}
		if s := l.Snapshot(); s.Step > 5_000 && asked == 0 {
			l.Send(event.Pause{})
			ask()
		}
		select {
		case err := <-ended:
			if err != nil || len(strips) != asks/4 {
				t.Fatalf("%d strips: %v", len(strips), err)
			}
			t.Logf("seconds (median of %d): the first value %.3f, all five %.3f, another value of them %.3f", len(first), median(first), median(whole), median(again))
			compareStrips(t, strips, generated, achieved)
			return
		case <-look.C:
		}
	}
}

// compareStrips holds the value in force to the generation, and pairs of values to each other.
func compareStrips(t *testing.T, strips []event.Previewed, g event.Generated, f *event.RefitF) {
	t.Helper()
	want := []float64{float64(f.Achieved.Median), float64(f.Achieved.Q90), math.NaN(), float64(g.Dynamics.Relative), float64(g.Dynamics.RewardRelative)}
	for i, name := range []string{"median of F", "p90 of F", "outside", "error of s'", "error of r"} {
		of := func(d event.Dose) float64 { return []float64{d.Median, d.Q90, d.Outside, d.State, d.Reward}[i] }
		var now, paired, unpaired []float64
		for n, s := range strips {
			a, known := s.Dose("2")
			b, also := s.Dose("3")
			other, _ := strips[(n+5)%len(strips)].Dose("3")
			if !known || !also {
				t.Fatalf("%+v", s)
			}
			now, paired, unpaired = append(now, of(a)), append(paired, of(b)-of(a)), append(unpaired, of(other)-of(a))
		}
		mean, sd := meanAndDeviation(now)
		by, p := meanAndDeviation(paired)
		_, u := meanAndDeviation(unpaired)
		t.Logf("%s: strips %.3g ± %.2g, generation %.3g; ω 2 → 3 %+.2g, deviation %.2g from the same noise, %.2g from other noise", name, mean, sd, want[i], by, p, u)
		if !math.IsNaN(want[i]) && math.Abs(mean-want[i]) > 4*sd*math.Sqrt(1/float64(len(now))+0.25) { // a generation's numbers are of some 4 strips
			t.Errorf("%s: %.3g in strips, %.3g of the generation", name, mean, want[i])
		}
	}
}

func meanAndDeviation(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}
