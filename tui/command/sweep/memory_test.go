package sweep

import (
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/config"
	"pgrlab/core/sweep"
	"pgrlab/core/task"
	"pgrlab/presets"
	"pgrlab/tui/testing/commandtest"
)

// A sweep whose runs from pixels do not fit into memory side by side says so before it begins, and
// how many do.
func TestSweepsThatDoNotFit(t *testing.T) {
	c, err := presets.Resolve(presets.Choice{Task: "cheetah-run", Method: "drqv2", Scale: "paper"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := presets.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []sweep.Job
	var docs [][]byte
	for i := range 5 {
		jobs, docs = append(jobs, sweep.Job{Index: i, Task: c.Task, Method: c.Method, Seed: uint64(i)}), append(docs, doc)
	}
	g, err := sweep.Create(filepath.Join(t.TempDir(), "s"), jobs, docs)
	if err != nil {
		t.Fatal(err)
	}
	ends(t, g, g.Jobs[0])
	d := commandtest.Deps()
	for i, on := range d.Tasks {
		d.Tasks[i].With = func(e task.Environment) (task.Task, error) { on.EpisodeSteps /= e.ActionRepeat; return on, nil }
	}
	all := needs(d, g)
	if len(all) != 4 || all[0] < 2.1e9 || all[0] > 6e9 {
		t.Fatalf("%d jobs need %v bytes", len(all), all)
	}
	f := sweepFlags{jobs: 3, threads: 1}
	for _, m := range []struct {
		runs float64
		want string
	}{{3.1, ""}, {2.9, "choose --jobs 2"}, {1.5, "choose --jobs 1"}, {0.5, "choose --jobs 1"}, {0, ""}} {
		said := tooMuch(all, f.atOnce(g), config.Machine{Memory: m.runs * all[0], Says: "this machine has"})
		if (said == "") != (m.want == "") || !strings.Contains(said, m.want) || said != "" && !strings.HasPrefix(said, "3 runs at a time come to take about ") || strings.Contains(said, "\n") {
			t.Errorf("with room for %g: %q, want %q", m.runs, said, m.want)
		}
	}
}
