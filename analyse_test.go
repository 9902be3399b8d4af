package main

import (
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgrlab/core/lab"
	"pgrlab/core/run"
)

// A run with the dear analyses by cadence has them in its journal; pgrlab analyse makes
// the same of its last checkpoint, beside the F of another run, and draws them.
func TestAnalyse(t *testing.T) {
	d := setUp(t)
	doc := strings.Replace(tiny, "episodes = 2", "episodes = 2\nanalyse_every = 75", 1)
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
		lab.Examined
	}
	if err := json.Unmarshal([]byte(out), &line); err != nil {
		t.Fatal(err)
	}
	if line.Step != 150 || line.Relevance != "curiosity" || line.Real.Rows != 150 || line.Synthetic.Rows != 100 || line.Generated.Dynamics == nil || line.Gaussian == nil {
		t.Errorf("%s", out)
	}
	if r := line.Ruler; r == nil || r.Step != 150 || *r.Real == *line.Real {
		t.Errorf("ruler %+v", line.Ruler)
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
	if now := line.Examined; *written[1].Real != *now.Real || *written[1].Generated.Dynamics != *now.Generated.Dynamics {
		t.Errorf("in the journal %+v, of the checkpoint %+v", written[1], now)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"analyse"}, "one run folder"},
		{[]string{"analyse", "nowhere"}, "give a run folder"},
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

// examinedLines are the analyses in the journal of a run folder.
func examinedLines(t *testing.T, dir string) (all []*lab.Examined) {
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
		if event, known := lab.DecodeEvent(e); known && event.Type == lab.TypeExamined {
			all = append(all, event.Body.(*lab.Examined))
		}
	}
}
