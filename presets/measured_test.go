package presets

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"pgrlab/core/config"
)

// Every row is complete, and is what is expected of a run that can be started.
func TestMeasured(t *testing.T) {
	if len(Measured()) == 0 {
		t.Fatal("nothing was measured")
	}
	for _, e := range Measured() {
		if e.Mean <= 0 || e.Std <= 0 || e.Runs < 2 || e.From > e.Steps || e.Steps == 0 {
			t.Errorf("incomplete row %+v", e)
		}
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(e.Source))); err != nil {
			t.Error(err)
		}
		repeat := map[string]int{"demo": 8, "short": 2}[e.Scale] // of the tasks of which frames were measured
		if want := map[string]int{"pixels": e.Steps * repeat}[e.Observation]; e.Frames != want {
			t.Errorf("%s on %s ends at frame %d, want %d", e.Method, e.Task, e.Frames, want)
		}
		c, err := Resolve(e.Choice())
		if err != nil {
			t.Errorf("%+v: %v", e, err)
			continue
		}
		c.Seed, c.Device, c.Knobs.TV = 7, "cpu", e.TV
		if own, _ := Expect(c); own == nil || !reflect.DeepEqual(*own, e) {
			t.Errorf("a run of %s on %s at %s has %+v, want %+v", e.Method, e.Task, e.Scale, own, e)
		}
		c.Knobs.Batch++
		if own, _ := Expect(c); own != nil {
			t.Errorf("a run of %s with another batch is expected to take the same", e.Method)
		}
	}
}

// The other methods shown beside a run have its task, scale and observations.
func TestExpectBeside(t *testing.T) {
	c, err := Resolve(Choice{Task: "cheetah-run", Method: "per-td", Scale: "short"})
	if err != nil {
		t.Fatal(err)
	}
	own, beside := Expect(c)
	if own != nil || len(beside) < 2 {
		t.Errorf("per-td has %v and %v; it was not measured, others were", own, beside)
	}
	for _, e := range beside {
		if e.Task != c.Task || e.Scale != c.Scale || e.Observation != "state" {
			t.Errorf("%+v stands beside %s at %s", e, c.Task, c.Scale)
		}
	}
	if c, err = Resolve(Choice{Task: "cheetah-run", Method: "per-td", Scale: "paper"}); err != nil {
		t.Fatal(err)
	}
	if own, beside := Expect(c); own != nil || beside != nil {
		t.Errorf("at scale paper nothing was measured, got %v, %v", own, beside)
	}
}

// What was measured before a TV is expected of runs before such a TV alone.
func TestExpectBeforeATV(t *testing.T) {
	c, err := Resolve(Choice{Task: "maze-sparse", Method: "ppo", Scale: "short"})
	if err != nil {
		t.Fatal(err)
	}
	for tv, want := range map[string]string{"": "28 ± 4", "off": "28 ± 4", "noise": "16 ± 6", "images-action": ""} {
		c.Knobs.TV = tv
		own, beside := Expect(c)
		got := ""
		if own != nil {
			got = own.Spread()
		}
		if got != want {
			t.Errorf("tv %q: %s is expected, want %s", tv, got, want)
		}
		for _, e := range beside {
			if tv == "images-action" || tv == "noise" != (e.TV == "noise") {
				t.Errorf("tv %q: %+v stands beside", tv, e)
			}
		}
	}
}

// What was measured is not expected of a run whose rates follow another length, nor of one in another
// precision than GPUs usually have.
func TestExpectTheSameRunAlone(t *testing.T) {
	of := Choice{Task: "cheetah-run", Method: "per-td", Scale: "short"}
	for name, c := range map[string]struct {
		method string
		change func(*config.Config)
		want   bool
	}{
		"length that is followed": {"per-td", func(c *config.Config) { c.Steps /= 2 }, false},
		"length that is not":      {"sac", func(c *config.Config) { c.Steps /= 2 }, true},
		"another device":          {"per-td", func(c *config.Config) { c.Device = "cpu" }, true},
		"usual precision":         {"sac", func(c *config.Config) { c.Precision = UsualPrecision }, true},
		"other precision":         {"sac", func(c *config.Config) { c.Precision = "bf16" }, false},
	} {
		of.Method = c.method
		run, err := Resolve(of)
		if err != nil {
			t.Fatal(err)
		}
		if c.change(&run); same(of, run) != c.want {
			t.Errorf("%s: the same is %v, want %v", name, !c.want, c.want)
		}
	}
}
