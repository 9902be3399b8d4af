package picker

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
)

// An earlier run on this machine with the same parts gives the best estimate of the duration.
func TestPickerTakesTheSpeedOfAnEarlierRun(t *testing.T) {
	host, _ := os.Hostname()
	c := config.Config{Task: "cheetah-run", Steps: 100_000, Knobs: knob.Settings{UTD: 20, Batch: 256, Relevance: "curiosity"}}
	c.Generator.Conditional = true
	earlier := Recent{Dir: "runs/before", Config: c, Host: host, Costs: config.Costs{Step: 0.08, Sample: 0.001}}
	earlier.Config.Seed, earlier.Config.Steps, earlier.Config.Schedule = 9, 7, []string{"5:guidance=3"}
	other := func(turn func(*Recent)) Recent {
		r := earlier
		r.Dir = "runs/other"
		turn(&r)
		return r
	}
	all := []Recent{
		other(func(r *Recent) { r.Host = "elsewhere" }), other(func(r *Recent) { r.Config.Knobs.UTD = 1 }),
		other(func(r *Recent) { r.Config.Agent.Hidden = []int{8} }), other(func(r *Recent) { r.Costs.Sample = 0 }), other(func(r *Recent) { r.Costs = config.Costs{} }),
		earlier,
	}
	if r, ok := lastAs(c, all); !ok || r.Dir != "runs/before" {
		t.Errorf("took %q, %v", r.Dir, ok)
	}
	if _, ok := lastAs(c, all[:5]); ok {
		t.Error("a run with other parts counts")
	}
	perf := func(step, spent float64) event.Event {
		p := event.Perf{}
		p.StepS, p.Spent.Evaluate = run.Float(step), run.Float(spent)
		return event.Event{Body: p}
	}
	events := []event.Event{perf(1, 2), perf(3, 4)}
	if got, want := costsOf(events), (config.Costs{Step: 3, Evaluation: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := costsOf(append(events, event.Event{Body: event.KnobChanged{Knob: "guidance"}})); got.Step != 3 {
		t.Error("guidance changes no part's cost")
	}
	if got := costsOf(append(events, event.Event{Body: event.KnobChanged{Knob: "utd"}})); got != (config.Costs{}) {
		t.Errorf("with another UTD: %+v", got)
	}
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1 s", 42 * time.Second: "40 s", 7*time.Minute + 40*time.Second: "8 min", 83 * time.Minute: "85 min",
		143 * time.Minute: "2.4 hours", 26 * time.Hour: "25 hours", 600 * time.Hour: "25 days",
	} {
		if got := roughly(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// The return of an earlier run of several seeds is their mean.
func TestAnEarlierRunOfSeveralSeeds(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "cohort")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lines := `{"type":"evaluated","step":10,"member":0,"return_mean":100}
{"type":"evaluated","step":10,"member":1,"return_mean":200}
{"type":"evaluated","step":20,"member":0,"return_mean":300}
{"type":"evaluated","step":20,"member":1,"return_mean":0}
`
	if err := os.WriteFile(filepath.Join(dir, run.JournalName), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	if all := RecentRuns(root, 1); len(all) != 1 || all[0].Return != 150 {
		t.Errorf("%+v, want a return of 150", all)
	}
}
