package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/task"
)

// sketches counts the sketches that a world has begun.
func sketches(w *world) (n int) {
	for _, name := range w.log {
		if strings.HasPrefix(name, "sketch ") {
			n++
		}
	}
	return n
}

// A strip comes value by value, what was asked first, and what was made stays until the next fit: the
// same value asked again makes nothing, another one only itself.
func TestAStripIsMadeOnce(t *testing.T) {
	w := newWorld()
	var made []int
	asks := map[int][]event.Command{}
	for i, value := range []string{"3", "3", "2.25"} {
		asks[25+4*i] = []event.Command{event.Preview{ID: fmt.Sprint(i), Knob: "guidance", Value: value}}
	}
	asks[45] = []event.Command{event.Preview{ID: "3", Knob: "guidance", Value: "3"}} // after the refit at 40
	asks[50] = []event.Command{event.Preview{ID: "4", Knob: "top_fraction", Value: "0.5"}}
	asks[55] = []event.Command{event.Preview{ID: "5", Knob: "guidance", Value: "3"}}
	l, _ := previewed(t, w, w.config(), asks)
	parts, _ := bodies[event.Previewed](l)
	var values [][]string
	before := 0
	for _, p := range parts {
		var all []string
		for _, d := range p.Doses {
			all = append(all, d.Value)
		}
		if p.ID == "0" {
			values = append(values, all)
		}
		if p.Preview == nil || p.Err != "" {
			t.Errorf("a part without a histogram: %+v", p)
		}
	}
	if want := [][]string{{"3"}, {"2", "3"}, {"1", "2", "3"}, {"0", "1", "2", "3"}, {"0", "1", "2", "3", "4"}}; !slices.EqualFunc(values, want, slices.Equal) {
		t.Errorf("the parts are %v, want %v", values, want)
	}
	answers, _ := answersOf(l)
	if len(answers) != 6 {
		t.Fatalf("%d answers", len(answers))
	}
	for _, name := range w.log {
		if strings.HasPrefix(name, "sketch ") {
			before++
		}
		if strings.HasPrefix(name, "start fit 1") {
			made = append(made, before)
		}
	}
	if !slices.Equal(made, []int{6}) || sketches(w) != 6+5+5+5 {
		t.Errorf("%v sketches before the second fit, %d in all", made, sketches(w))
	}
	if a, b := answers[0].Doses[2], answers[2].Doses[2]; a.Value != "2" || a.Outside != b.Outside || a.Rows != b.Rows {
		t.Errorf("the value in force: %+v, then %+v", a, b)
	}
}

// sliding is an env that can be set to a state: x' = 0.9x + a, and r = x'.
type sliding struct{ worldEnv }

func (e *sliding) Reset(episode uint64, obs []float32) error {
	e.episode, e.t = episode, 0
	return e.Place(append(obs[:0], 0, 0))
}

func (e *sliding) Place(obs []float32) error {
	e.now = slices.Clone(obs)
	return nil
}

func (e *sliding) Step(action, obs []float32) (float64, bool, bool, error) {
	e.t++
	x := 0.9*e.now[0] + action[0]
	copy(obs, []float32{x, x - e.now[0]})
	e.now = slices.Clone(obs)
	return float64(x), false, e.t == worldEpisode, nil
}

// stripped plays a run of real parts on sliding whose first D_syn is described, and returns what was said of
// it and, of strips with different noise, the numbers for the value in force and for the one after it.
func stripped(t *testing.T) (g event.Generated, now, next []event.Dose) {
	t.Helper()
	c := realConfig()
	c.Steps, c.StartSteps, c.Buffer, c.Generator.Chunk, c.Evaluation.AnalysedRows = 260, 40, 4096, 2048, 2048
	c.Knobs.RefitEvery, c.Knobs.Samples, c.Knobs.GeneratorSteps, c.Knobs.SamplerSteps = 200, 2048, 150, 8
	c.Knobs.Relevance, c.Knobs.Guidance = "reward", 1
	dev := testDevice(t)
	w := newWorld()
	of := w.task()
	of.New = func(seed uint64) (task.Env, error) { return &sliding{worldEnv{w: w, seed: seed}}, nil }
	p, err := newParts(&c, of, dev)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLab(c, of, &memoryFolder{}, p, dev.Name(), clock())
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	ask := func() {
		if asked++; asked > 48 {
			l.Send(event.Resume{})
			return
		}
		k := event.Preview{ID: fmt.Sprint(asked), Knob: "guidance", Value: "2"}
		if asked%2 == 0 { // another knob, so that the next strip has other noise
			k.Knob, k.Value = "top_fraction", "0.5"
		}
		l.Send(k)
	}
	seen := 0
	l.x.first() // made
	done := make(chan error, 1)
	go func() { done <- l.Run(context.Background()) }()
	for ended := false; !ended; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			ended = true
		default:
		}
		for _, e := range l.Events(seen) {
			seen++
			switch b := e.Body.(type) {
			case event.Generated:
				g = b
				l.Send(event.Pause{})
				ask()
			case event.Previewed:
				if b.More {
					continue
				}
				for i, d := range b.Doses {
					if b.Knob == "guidance" && d.Value == "1" {
						now, next = append(now, d), append(next, b.Doses[i+1])
					}
				}
				ask()
			}
		}
	}
	return g, now, next
}

// The value in force has the numbers that the generation itself has, within the error of so few rows.
// Of two values from the same noise the difference varies less than of two from different noise.
func TestAStripSaysWhatTheGenerationIs(t *testing.T) {
	g, now, next := stripped(t)
	if len(now) != 24 || g.Dynamics == nil || g.Achieved == nil {
		t.Fatalf("%d strips of %+v", len(now), g)
	}
	for name, of := range map[string]struct {
		of   func(event.Dose) float64
		want float64
	}{
		"median of F": {func(d event.Dose) float64 { return d.Median }, float64(g.Achieved.Median)},
		"p90 of F":    {func(d event.Dose) float64 { return d.Q90 }, float64(g.Achieved.Q90)},
		"error of s'": {func(d event.Dose) float64 { return d.State }, float64(g.Dynamics.Relative)},
		"error of r":  {func(d event.Dose) float64 { return d.Reward }, float64(g.Dynamics.RewardRelative)},
	} {
		var values, paired, unpaired []float64
		for i := range now {
			a, b := of.of(now[i]), of.of(next[i])
			values, paired, unpaired = append(values, a), append(paired, b-a), append(unpaired, of.of(next[(i+7)%len(next)])-a)
		}
		mean, sd := meanSD(values)
		// the mean of 24 strips, and the generation's 2,048 rows, which are as 16 strips
		if within := 4 * sd * math.Sqrt(1.0/24+1.0/16); math.Abs(mean-of.want) > within {
			t.Errorf("%s: %.4g in strips (deviation %.4g), %.4g of the generation", name, mean, sd, of.want)
		}
		_, p := meanSD(paired)
		_, u := meanSD(unpaired)
		t.Logf("%s: strips %.4g ± %.4g, generation %.4g; deviation of a difference %.3g from the same noise, %.3g from other noise", name, mean, sd, of.want, p, u)
		if strings.HasSuffix(name, "F") && p > 0.9*u {
			t.Errorf("%s: the same noise makes no difference: %.3g and %.3g", name, p, u)
		}
	}
}

func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}
