package picker

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgrlab/core/config"
	"pgrlab/core/cost"
	"pgrlab/core/event"
	"pgrlab/core/knob"
	"pgrlab/core/run"
	"pgrlab/tui/theme"
)

// An earlier run on this machine with the same parts gives the best estimate of the duration, if it
// had the same device and about as much of the machine as a trial has now.
func TestPickerTakesTheSpeedOfAnEarlierRun(t *testing.T) {
	host, _ := os.Hostname()
	c := config.Config{Task: "cheetah-run", Steps: 100_000, Knobs: knob.Settings{UTD: 20, Batch: 256, Relevance: "curiosity"}}
	c.Generator.Conditional = true
	made := func(turn func(c *config.Config, start *event.Start, p *event.Perf)) Recent {
		r := Recent{Dir: "runs/other", Config: c}
		start, p := event.Start{Obs: event.StartObs{Host: host}}, event.Perf{StepS: 0.08, SampleS: 0.001, Device: "cpu go, 2 threads", Processor: 15, Spent: event.SpentOn{Agent: 10}}
		turn(&r.Config, &start, &p)
		r.journal.Take(event.Event{Body: start})
		r.journal.Take(event.Event{Body: p})
		r.Measured = r.journal.Model(&r.Config)
		return r
	}
	type of = *config.Config
	all := []Recent{
		made(func(_ of, s *event.Start, _ *event.Perf) { s.Obs.Host = "elsewhere" }),
		made(func(c of, _ *event.Start, _ *event.Perf) { c.Knobs.UTD = 1 }),
		made(func(c of, _ *event.Start, _ *event.Perf) { c.Agent.Hidden = []int{8} }),
		made(func(_ of, _ *event.Start, p *event.Perf) { p.SampleS = 0 }),
		made(func(_ of, _ *event.Start, p *event.Perf) { p.StepS = 0 }),
		made(func(_ of, _ *event.Start, p *event.Perf) { p.Device = "cpu go, 1 threads" }),
		made(func(c of, _ *event.Start, _ *event.Perf) {
			c.Seed, c.Steps, c.Schedule = 9, 7, []string{"5:guidance=3"}
		}),
	}
	all[6].Dir = "runs/before"
	if r, ok := like(c, "cpu go, 2 threads", all); !ok || r.Dir != "runs/before" || r.Measured.Cores != 1.5 {
		t.Errorf("took %q, %v, with %g processors", r.Dir, ok, r.Measured.Cores)
	}
	if _, ok := like(c, "cpu go, 2 threads", all[:6]); ok {
		t.Error("a run with other parts counts")
	}
	th := theme.New(theme.NewRenderer(io.Discard, plain{}), theme.Unicode)
	for cores, want := range map[float64]string{1.4: "as quick as runs/before, which had 1.5 of", 0.5: "by a short trial of all its parts, which had 0.5 of", 0: "by a short trial of all its parts"} {
		p := Picker{theme: th, config: c}
		p.Recent = all
		f := Tried{Forecast: Forecast{Model: cost.Model{Units: cost.Units{Step: 0.01}, Device: "cpu go, 2 threads", Cores: cores}}}
		if got := strings.Join(p.takesTime(f, true), ""); !strings.Contains(got, want) {
			t.Errorf("with %g processors now: %q, want %q", cores, got, want)
		}
	}
}

// plain is a terminal of which nothing is known.
type plain struct{}

func (plain) Environ() []string    { return nil }
func (plain) Getenv(string) string { return "" }

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
	lines := `{"type":"start","step":0,"task":"t","method":"m","members":2,"obs":{}}
{"type":"evaluated","step":10,"member":0,"return_mean":100}
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
