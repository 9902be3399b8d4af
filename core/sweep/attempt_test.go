package sweep

import (
	"os"
	"path/filepath"
	"testing"

	"pgrlab/core/run"
)

// A result has the return of the last evaluation and the best one; for several seeds their means.
func TestResult(t *testing.T) {
	for _, c := range []struct {
		name, journal string
		last, best    float64
	}{
		{"one seed", `{"type":"evaluated","step":10,"return_mean":300}
{"type":"evaluated","step":20,"return_mean":100}
`, 100, 300},
		{"two seeds", `{"type":"evaluated","step":10,"member":0,"return_mean":300}
{"type":"evaluated","step":10,"member":1,"return_mean":100}
{"type":"evaluated","step":20,"member":0,"return_mean":50}
{"type":"evaluated","step":20,"member":1,"return_mean":250}
`, 150, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := Job{Task: "t", Method: "m", Steps: 20}
			g, err := Create(t.TempDir(), []Job{job}, [][]byte{nil})
			if err != nil {
				t.Fatal(err)
			}
			a, err := g.Begin(job)
			if err != nil {
				t.Fatal(err)
			}
			defer a.End(Ending{How: "done"})
			if err := os.MkdirAll(g.Run(job), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(g.Run(job), run.JournalName), []byte(c.journal), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := a.Done(); err != nil {
				t.Fatal(err)
			}
			if r, ok := g.Result(job); !ok || *r.Return != c.last || *r.Best != c.best {
				t.Errorf("return %v, best %v, want %v and %v", *r.Return, *r.Best, c.last, c.best)
			}
		})
	}
}
