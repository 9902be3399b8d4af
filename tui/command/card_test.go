package command

import (
	"math"
	"strings"
	"testing"

	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
)

func TestCard(t *testing.T) {
	t.Chdir(t.TempDir())
	folder(t, "runs/hand", "pgr-curiosity", 7, []float64{11, 99}, turned(1500, "ratio", 0.75, "driver"), turned(1600, "utd", 4.0, "schedule"),
		run.Line{Type: "note", Step: 1700, Member: run.NoMember, Body: map[string]any{"text": "now it hops"}},
		run.Line{Type: "done", Step: 2000, Member: run.NoMember, WallS: 83.4})
	status, stdout, stderr := command("card", "runs/hand")
	if status != cli.StatusDone || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	for _, want := range []string{
		"# pgr-curiosity on cheetah-run, scale demo, seed 7: TOUCHED ×1\n",
		"--task cheetah-run --method pgr-curiosity --scale demo --seed 7 --schedule runs/hand\n",
		"| device and kernels | cpu go, 2 threads |", "| took | 1m23s |",
		"| 1500 | ratio | 0.5 | 0.75 | driver |", "- now it hops", "| 7 | 2 | 99.0 at 2,000 | 99.0 at 2,000 | 55.0 | – |",
		"paper 817 ± 36 at 100K; independent (son9ih/pgr) 411",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("it does not say %q:\n%s", want, stdout)
		}
	}
	for _, dir := range []string{"nowhere", "."} {
		if status, stdout, stderr := command("card", dir); status == cli.StatusDone || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q, %q", dir, status, stdout, stderr)
		}
	}
}

// A return that is no number is the last one, and never the best.
func TestACardOfARunThatDiverged(t *testing.T) {
	t.Chdir(t.TempDir())
	folder(t, "runs/odd", "sac", 1, []float64{math.NaN(), 5, 3, math.NaN()})
	if _, stdout, stderr := command("card", "runs/odd"); !strings.Contains(stdout, "| 1 | 4 | NaN at 4,000 | 5.0 at 2,000 |") {
		t.Errorf("%s%s", stdout, stderr)
	}
}
