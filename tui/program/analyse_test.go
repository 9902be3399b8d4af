package program

import (
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/inspect"
	"pgrlab/core/run"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/remote"
)

// A run that makes the expensive analyses at a cadence has them in its journal. pgrlab analyse
// makes the same analyses of its last checkpoint, beside the F of another run, and draws them.
func TestAnalyse(t *testing.T) {
	d := setUp(t)
	doc := strings.Replace(tiny, "episodes = 2", "episodes = 2\nanalyse_every = 75\nkeep_every = 75", 1)
	if err := os.WriteFile("tiny.toml", []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, seed string }{{"a", "1"}, {"b", "2"}} {
		var said strings.Builder
		if status, _ := pgrlab(t, d, &said, "train", "--preset", "tiny.toml", "--seed", c.seed, "--out", c.dir); status != 0 {
			t.Fatalf("train: %d: %s", status, &said)
		}
	}
	var said strings.Builder
	status, out := pgrlab(t, d, &said, "analyse", "a", "--relevance-from", "b@150", "--tsne", "--points", "60", "--out", "pictures")
	if status != 0 {
		t.Fatalf("analyse: %d: %s", status, &said)
	}
	var line struct {
		Step int
		event.Examined
	}
	if err := json.Unmarshal([]byte(out), &line); err != nil {
		t.Fatal(err)
	}
	if line.Step != 150 || line.Relevance != "curiosity" || line.Real.Rows != 150 || line.Synthetic.Rows != 100 || line.Generated.Dynamics == nil || line.Gaussian == nil {
		t.Errorf("%s", out)
	}
	if r := line.ReferenceF; r == nil || r.Step != 150 || *r.Real == *line.Real {
		t.Errorf("ruler %+v", line.ReferenceF)
	}
	if p := line.Projection; p == nil || len(p.Guided) != 60 || p.Embedded == nil || len(p.Embedded.Free) != 60 {
		t.Errorf("projection of %+v", line.Projection != nil)
	}
	for _, name := range []string{"relevance", "dynamics", "asked", "projection", "tsne"} {
		file, err := os.Open(filepath.Join("pictures", name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(file)
		file.Close()
		if err != nil || picture.Bounds().Dx() < 500 {
			t.Errorf("%s: %v, %v", name, picture.Bounds(), err)
		}
		if svg, err := os.ReadFile(filepath.Join("pictures", name+".svg")); err != nil || !strings.Contains(string(svg), "pgr-curiosity on cartpole-swingup, step 150") {
			t.Errorf("%s.svg: %v", name, err)
		}
	}
	written := examinedLines(t, "a")
	if len(written) != 2 {
		t.Fatalf("%d analyses in the journal", len(written))
	}
	if now := line.Examined; *written[1].Real != *now.Real || asJSON(t, written[1].Generated.Dynamics) != asJSON(t, now.Generated.Dynamics) {
		t.Errorf("in the journal %+v, of the checkpoint %+v", written[1], now)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"analyse"}, "one run folder, or two"},
		{[]string{"analyse", "a", "b", "--journal"}, "are about one run"},
		{[]string{"analyse", "a@x", "b"}, "no step"},
		{[]string{"analyse", "nowhere"}, "nowhere: there is no such run folder"},
		{[]string{"analyse", "a", "--rows", "1"}, "want at least 3"},
		{[]string{"analyse", "a", "--step", "7"}, "no checkpoint of step 7"},
		{[]string{"analyse", "a", "--relevance-from", "b@x"}, "no step"},
	} {
		said.Reset()
		if status, _ := pgrlab(t, d, &said, c.args...); status == 0 || !strings.Contains(said.String(), c.want) {
			t.Errorf("%v: status %d: %s", c.args, status, &said)
		}
	}
}

// With --journal the findings become lines of the journal. The canonical form leaves them out, and
// a resumed run keeps them. While a lab holds the folder, no other process writes there.
func TestAnalyseIntoTheJournal(t *testing.T) {
	d := setUp(t)
	var said strings.Builder
	do := func(want int, args ...string) (out string) {
		t.Helper()
		said.Reset()
		status, out := pgrlab(t, d, &said, args...)
		if status != want {
			t.Fatalf("%v: status %d: %s", args, status, &said)
		}
		return out
	}
	do(0, "train", "--preset", "tiny.toml", "--steps", "130", "--out", "a")
	before := do(0, "journal", "canonical", "a")
	var line event.Examined
	if err := json.Unmarshal([]byte(do(0, "analyse", "a", "--journal", "--rows", "50")), &line); err != nil {
		t.Fatal(err)
	}
	if line.Obs == nil || !line.Obs.OnDemand || !strings.HasPrefix(line.Obs.By, "pgrlab analyse") || do(0, "journal", "canonical", "a") != before {
		t.Errorf("%+v", line.Obs)
	}
	if written := examinedLines(t, "a"); len(written) != 1 || *written[0].Real != *line.Real {
		t.Errorf("%d analyses in the journal", len(written))
	}
	folder, err := run.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	if found := do(1, "analyse", "a", "--journal", "--rows", "50"); !json.Valid([]byte(found)) {
		t.Errorf("the findings that cannot be recorded are lost: %q", found)
	}
	if folder.Close(); !strings.Contains(said.String(), "is in use by another pgrlab: ask again") || len(examinedLines(t, "a")) != 1 {
		t.Errorf("while another process holds the folder: %s", &said)
	}
}

// The generations of two runs lie in one plane, and their picture names both runs. This also works
// for checkpoints that were kept.
func TestAnalyseTwoRuns(t *testing.T) {
	d := setUp(t)
	doc := strings.Replace(tiny, "episodes = 2", "episodes = 2\nkeep_every = 70", 1)
	if err := os.WriteFile("tiny.toml", []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for _, method := range []string{"pgr-curiosity", "synther"} {
		if status, _ := pgrlab(t, d, &said, "train", "--preset", "tiny.toml", "--method", method, "--out", method); status != 0 {
			t.Fatalf("train: %d: %s", status, &said)
		}
	}
	status, out := pgrlab(t, d, &said, "analyse", "pgr-curiosity@70", "synther@140", "--rows", "50", "--tsne", "--out", "pictures")
	var j inspect.Joint
	if err := json.Unmarshal([]byte(out), &j); err != nil || status != 0 {
		t.Fatalf("status %d: %v: %s", status, err, &said)
	}
	a, b := j.Runs[0], j.Runs[1]
	if a.Method != "pgr-curiosity" || a.Step != 70 || len(a.Points) != 50 || b.Method != "synther" || b.Step != 140 || len(b.Points) != 50 ||
		!(j.Overlap > 0 && j.Overlap < 1) || !(j.Explained[0] >= j.Explained[1]) || len(j.Embedded[1]) != 50 {
		t.Errorf("%s", out)
	}
	svg, err := os.ReadFile("pictures/together.svg")
	if err != nil || !strings.Contains(string(svg), "pgr-curiosity, step 70") || !strings.Contains(string(svg), "synther, step 140") {
		t.Errorf("together.svg: %v", err)
	}
	status, out = pgrlab(t, d, &said, "analyse", "synther", "synther", "--rows", "100")
	if err := json.Unmarshal([]byte(out), &j); err != nil || status != 0 || j.Overlap < 0.999 {
		t.Errorf("a run beside itself: status %d: %v: overlap %v", status, err, j.Overlap)
	}
	if status, _ := pgrlab(t, d, &said, "analyse", "synther@30", "pgr-curiosity"); status == 0 || !strings.Contains(said.String(), "no checkpoint of step 30") {
		t.Errorf("status %d: %s", status, &said)
	}
}

// A generator with other settings is fitted to the data of a saved run, which stays unchanged, and
// is judged at each guidance. A method without F is judged without a prompt.
func TestAnalyseRefits(t *testing.T) {
	d := setUp(t)
	var said strings.Builder
	for _, method := range []string{"pgr-curiosity", "synther"} {
		if status, _ := pgrlab(t, d, &said, "train", "--preset", "tiny.toml", "--method", method, "--out", method); status != 0 {
			t.Fatalf("train: %d: %s", status, &said)
		}
	}
	before := folderState(t, "pgr-curiosity")
	status, out := pgrlab(t, d, &said, "analyse", "pgr-curiosity", "pgr-curiosity", "--refit", "--rows", "40", "--guidance", "0,1.5",
		"--set", "generator.width=24", "--set", "generator.init=previous", "--set", "generator_steps=25")
	if status != 0 {
		t.Fatalf("status %d: %s", status, &said)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, line := range lines {
		var f inspect.Refitted
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if f.Step != 150 || f.Steps != 25 || f.Fitted+f.HeldOut != 150 || f.Loss == nil || f.CPUs < 0 || len(f.Made) != 2 || f.Made[1].Guidance != 1.5 || f.Made[1].Rows != 40 || f.Made[1].Dynamics == nil || f.Made[1].Asked == nil {
			t.Errorf("%s", line)
		}
	}
	if len(lines) != 2 || folderState(t, "pgr-curiosity") != before {
		t.Errorf("%d lines; the folder was %s and is %s", len(lines), before, folderState(t, "pgr-curiosity"))
	}
	var f inspect.Refitted
	if status, out = pgrlab(t, d, &said, "analyse", "synther", "--refit", "--rows", "20", "--set", "generator_steps=5"); status != 0 {
		t.Fatalf("status %d: %s", status, &said)
	} else if err := json.Unmarshal([]byte(out), &f); err != nil || len(f.Made) != 1 || f.Made[0].Relevant != nil {
		t.Errorf("%v: %s", err, out)
	}
	if status, _ = pgrlab(t, d, &said, "analyse", "synther", "--refit", "--set", "generator.kind=resample"); status == 0 || !strings.Contains(said.String(), `want generator.head.kind "none" and generator.vector "transition"`) {
		t.Errorf("status %d: %s", status, &said)
	}
	f = inspect.Refitted{}
	if status, out = pgrlab(t, d, &said, "analyse", "synther", "--refit", "--rows", "20", "--set", "generator.kind=resample", "--set", "generator.head.kind=none", "--set", "generator.vector=transition"); status != 0 {
		t.Fatalf("status %d: %s", status, &said)
	} else if err := json.Unmarshal([]byte(out), &f); err != nil || len(f.Made) != 1 || f.Steps != 0 || f.Loss != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--set", "generator.kind=resample", "--set", "generator.head.kind=none", "--set", "generator.vector=transition", "--set", "generator_steps=5"}, "makes no gradient steps"},
		{[]string{"--set", "generator.widht=5"}, `did you mean "generator.width"`},
		{[]string{"--set", "guidance=1"}, "for ω --guidance"},
		{[]string{"--set", "utd=1"}, "a refit does not use it"},
		{[]string{"--set", "generator_steps"}, "want KEY=VALUE"},
		{[]string{"--set", "generator_steps=0"}, "generator_steps"},
		{[]string{"--guidance", "1,1"}, "1 stands there twice"},
		{[]string{"--held-out", "1"}, "between 0 and 1"},
		{[]string{"--journal"}, "does not go with --refit"},
		{[]string{"--rows", "1"}, "at least 3"},
	} {
		said.Reset()
		if status, _ := pgrlab(t, d, &said, append([]string{"analyse", "pgr-curiosity", "--refit"}, c.args...)...); status != cli.StatusUsage || !strings.Contains(said.String(), c.want) {
			t.Errorf("%v: status %d: %s", c.args, status, &said)
		}
	}
	if status, _ := pgrlab(t, d, &said, "analyse", "pgr-curiosity", "--held-out", "0.2"); status != cli.StatusUsage || !strings.Contains(said.String(), "add --refit") {
		t.Errorf("status %d: %s", status, &said)
	}
}

// folderState returns the names and sizes of all files in a folder.
func folderState(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			fmt.Fprintln(&b, path, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A running lab analyses itself on request.
func TestAnalyseALabThatRuns(t *testing.T) {
	r := startTraining(t)
	var said strings.Builder
	d := deps(newPrograms())
	r.until("a generation", func() bool { return r.look().Step > 130 })
	status, out := pgrlab(t, d, &said, "analyse", r.dir, "--journal")
	var line struct {
		Step int
		event.Examined
	}
	if err := json.Unmarshal([]byte(out), &line); err != nil || status != 0 {
		t.Fatalf("status %d: %v: %s", status, err, &said)
	}
	if line.Step <= 120 || line.Generated == nil || line.Generated.Dynamics == nil || line.Gaussian == nil || line.Projection == nil || !line.Obs.OnDemand {
		t.Errorf("%.300s", out)
	}
	// Another request of the same name gets its own answer.
	first := line.Step
	r.until("more steps", func() bool { return r.look().Step > first })
	if status, out = pgrlab(t, d, &said, "analyse", r.dir, "--journal"); status != 0 || json.Unmarshal([]byte(out), &line) != nil || line.Step <= first {
		t.Errorf("status %d, after step %d: %.300s", status, first, out)
	}
	if status, _ := pgrlab(t, d, &said, "analyse", r.dir, "--journal", "--rows", "5"); status != cli.StatusUsage || !strings.Contains(said.String(), "looks at itself as it is") {
		t.Errorf("status %d: %s", status, &said)
	}
	r.stop()
	if status, _ := pgrlab(t, d, &said, "analyse", r.dir, "--journal", "--rows", "50"); status != 0 {
		t.Fatalf("status %d: %s", status, &said)
	}
	go func() {
		status, _ := pgrlab(t, d, &r.said, "train", "--resume", r.dir, "--threads", "1")
		r.status <- status
	}()
	r.until("it listens again", func() bool {
		var err error
		r.socket, err = remote.Find(r.dir)
		return err == nil
	})
	r.stop()
	// The last analysis was made after the checkpoint from which the run was resumed.
	if all := examinedLines(t, r.dir); len(all) != 3 || all[2].Real.Rows != 50 {
		t.Errorf("%d analyses in the journal", len(all))
	}
}

// examinedLines returns the analyses in the journal of a run folder.
func examinedLines(t *testing.T, dir string) (all []*event.Examined) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for r := run.NewReader(file); ; {
		e, err := r.Next()
		if err != nil {
			return all
		}
		if line, known := event.Decode(e); known && line.Type == event.TypeExamined {
			all = append(all, line.Body.(*event.Examined))
		}
	}
}

// asJSON encodes v, so that values can be compared with NaNs included.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
