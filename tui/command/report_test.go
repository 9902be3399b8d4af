package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/run"
	"pgrlab/presets"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/command/rundir"
)

// folder writes a run folder for a method and a seed on cheetah-run: a start, an evaluation for
// each return, 1,000 steps apart, and then more lines.
func folder(t *testing.T, dir, method string, seed uint64, returns []float64, more ...run.Line) {
	t.Helper()
	folderOf(t, dir, presets.Choice{Task: "cheetah-run", Method: method, Scale: "demo"}, seed, returns, more...)
}

// folderOf writes such a run folder for any choice.
func folderOf(t *testing.T, dir string, choice presets.Choice, seed uint64, returns []float64, more ...run.Line) {
	t.Helper()
	c, err := presets.Resolve(choice)
	if err != nil {
		t.Fatal(err)
	}
	c.Seed = seed
	doc, err := presets.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	f, err := run.Create(dir, doc)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := []run.Line{{Type: "start", Member: run.NoMember, Body: map[string]any{
		"task": c.Task, "method": c.Method, "scale": c.Scale, "seed": seed, "device": "cpu go",
		"obs": map[string]any{"version": "v1", "host": "here", "device": "cpu go, 2 threads", "time": "2025-03-01T12:00:00Z"},
	}}}
	for i, v := range returns {
		lines = append(lines, run.Line{Type: "evaluated", Step: 1000 * (i + 1), Member: run.NoMember, WallS: float64(10 * (i + 1)),
			Body: map[string]any{"return_mean": run.Float(v), "return_std": 1, "returns": run.Floats([]float64{v}), "episodes": 1}})
	}
	for _, l := range append(lines, more...) {
		if err := f.Append(l); err != nil {
			t.Fatal(err)
		}
	}
}

func turned(step int, name string, to any, by string) run.Line {
	return run.Line{Type: "knob", Step: step, Member: run.NoMember, Body: map[string]any{
		"id": 1, "knob": name, "from": 0.5, "to": to, "class": "batch", "position": fmt.Sprint(step), "obs": map[string]any{"by": by},
	}}
}

func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed := range uint64(5) {
		folder(t, fmt.Sprintf("runs/pgr-%d", seed), "pgr-curiosity", seed, []float64{10, 20 + float64(seed)})
	}
	folder(t, "runs/sac", "sac", 0, []float64{5, 15})
	folder(t, "runs/hand", "pgr-curiosity", 7, []float64{11, 99}, turned(1500, "ratio", 0.75, "driver"))
	status, stdout, stderr := command("report", "runs")
	if status != cli.StatusDone || stderr != "" {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	golden(t, "report.md", stdout)

	if _, means, _ := command("report", "runs", "--statistic", "mean", "--score-from", "1000"); !strings.Contains(means, "| return | mean | area") || !strings.Contains(means, "| 16 [15") {
		t.Errorf("by means:\n%s", means)
	}

	status, stdout, stderr = command("report", "runs", "--json", "--figure", "curves", "--figure", "fig-noised-cheetah", "--out", "out")
	if status != cli.StatusDone || strings.Count(stderr, "\n") != 4 {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	var data struct {
		Tasks []struct{ Rows []struct{ N int } }
	}
	if err := json.Unmarshal([]byte(stdout), &data); err != nil || len(data.Tasks[0].Rows) != 3 {
		t.Errorf("%v: %+v", err, data)
	}
	for _, name := range []string{"report.md", "report.json", "curves.svg", "curves.png", "fig-noised-cheetah.svg", "fig-noised-cheetah.png"} {
		if !rundir.Exists(filepath.Join("out", name)) {
			t.Errorf("%s was not written", name)
		}
	}
}

// Pointed at the wrong thing, report prints one line to stderr and nothing to stdout.
func TestReportLines(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "plain", "not a folder\n")
	write(t, "empty/notes.txt", "nothing here\n")
	write(t, "foreign/config.toml", "colour = 'red'\n")
	write(t, "foreign/events.jsonl", `{"level":"info"}`+"\n{}\n")
	write(t, "damaged/config.toml", "task = 'cheetah-run'\n")
	write(t, "damaged/events.jsonl", `{"type":"start","step":0,"task":"cheetah-run","method":"sac"}`+"\n{\x00\n{}\n")
	folder(t, "young", "sac", 0, nil)
	folder(t, "good", "sac", 0, []float64{1})
	folder(t, "ahead", "sac", 0, []float64{1, 2})
	folder(t, "behind", "pgr-curiosity", 0, []float64{1})
	var got strings.Builder
	for _, args := range [][]string{
		{"report"},
		{"report", "nowhere"},
		{"report", "plain"},
		{"report", "empty"},
		{"report", "foreign"},
		{"report", "damaged"},
		{"report", "young"},
		{"report", "good", "--step", "-1"},
		{"report", "good", "--step", "5000"},
		{"report", "good", "--step", "500"},
		{"report", "good", "--figure", "curvs"},
		{"report", "good", "--figure", "fig-projection"},
		{"report", "good", "--figure", "fig-dormant"},
		{"report", "ahead", "behind", "--step", "2000", "--figure", "fig-noised-cheetah"},
		{"report", "good", "--figure", "dormant"},
		{"report", "good", "--figure", "curves", "--out", "plain/figures"},
	} {
		status, stdout, stderr := command(args...)
		if stdout != "" {
			t.Errorf("pgrlab %s writes to stdout: %q", strings.Join(args, " "), stdout)
		}
		got.WriteString("$ pgrlab " + strings.Join(args, " ") + "\n" + stderr + "= " + fmt.Sprint(status) + "\n\n")
	}
	golden(t, "report-lines.txt", got.String())
}

func TestExport(t *testing.T) {
	t.Chdir(t.TempDir())
	folder(t, "good", "sac", 0, []float64{1, 2})
	write(t, "good/policy.bin", "PGRW1\n")
	folder(t, "bare", "sac", 0, []float64{1})
	status, stdout, stderr := command("export", "good", "--format", "csv")
	if status != cli.StatusDone || stderr != "" || strings.Count(stdout, "\n") != 1+2*3 || !strings.Contains(stdout, "\n2000,20.000,0,evaluated/return_mean,2,good,0\n") {
		t.Errorf("status %d, stderr %q: %s", status, stderr, stdout)
	}
	status, stdout, stderr = command("export", "good", "--format", "tensorboard", "--out", "tb")
	if status != cli.StatusDone || stdout != "" || stderr != "tb/good/events.out.tfevents.1740830400.here.pgrlab\n" || !rundir.Exists(strings.TrimSpace(stderr)) {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	if status, stdout, _ := command("export", "--show-loader"); status != cli.StatusDone || !strings.HasPrefix(stdout, "# Reads a policy that pgrlab exported with --weights") {
		t.Errorf("status %d: %s", status, stdout)
	}
	var got strings.Builder
	for _, args := range [][]string{
		{"export"},
		{"export", "good"},
		{"export", "good", "--weights", "--buffer", "real"},
		{"export", "--weights"},
		{"export", "good", "--format", "cvs"},
		{"export", "good", "--weights"},
		{"export", "good", "--weights", "--member", "1"},
		{"export", "bare", "--weights"},
		{"export", "bare", "--buffer", "real"},
		{"export", "bare", "--buffer", "fake"},
		{"export", "nowhere", "--format", "csv"},
	} {
		status, stdout, stderr := command(args...)
		if stdout != "" {
			t.Errorf("pgrlab %s writes to stdout: %q", strings.Join(args, " "), stdout)
		}
		got.WriteString("$ pgrlab " + strings.Join(args, " ") + "\n" + stderr + "= " + fmt.Sprint(status) + "\n\n")
	}
	golden(t, "export-lines.txt", got.String())
}

// A run from pixels is reported in frames beside env steps, and is never mixed with a run of the
// same method from states.
func TestReportFromPixels(t *testing.T) {
	t.Chdir(t.TempDir())
	choice := presets.Choice{Task: "walker-walk", Method: "synther", Scale: "paper"}
	folderOf(t, "runs/states", choice, 0, []float64{1, 2})
	choice.Observation = "pixels"
	folderOf(t, "runs/pixels", choice, 0, []float64{3, 4})
	choice.Method = "drqv2"
	folderOf(t, "runs/drqv2", choice, 0, []float64{5, 6})

	_, out, stderr := command("report", "runs")
	if stderr != "" {
		t.Error(stderr)
	}
	for _, want := range []string{
		"| synther | paper |", "| synther, pixels | paper |", "| drqv2 | paper |",
		"drqv2 sees pixels: an env step is 2 frames of the task, step 2,000 is frame 4,000.",
		"468.5 ± 28.6 at 100,000, frame 200,000 (n=5, Table 1)", "428.0 ± 280.0 at 100,000, frame 200,000 (n=10, facebookresearch/drqv2: curves)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	if n := strings.Count(out, " sees pixels"); n != 2 {
		t.Errorf("%d rows see pixels, want 2:\n%s", n, out)
	}

	if status, _, stderr := command("report", "runs", "--figure", "fig-pixels"); status != cli.StatusDone {
		t.Fatal(stderr)
	}
	figure, err := os.ReadFile("fig-pixels.svg")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(figure); !strings.Contains(got, "drqv2") || !strings.Contains(got, "env steps, of 2 frames") || strings.Contains(got, ">synther (n") {
		t.Errorf("the figure of pixels: %s", got)
	}

	_, card, stderr := command("card", "runs/pixels")
	if stderr != "" {
		t.Error(stderr)
	}
	for _, want := range []string{"--observation pixels", "84×84 in stacks of 3: 4,000 of 200,000 frames", "paper 469 ± 29 at 100K (200K frames)"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q:\n%s", want, card)
		}
	}
}
