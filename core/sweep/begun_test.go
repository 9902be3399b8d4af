package sweep

import (
	"os"
	"path/filepath"
	"testing"
)

// A sweep of which nothing has begun gives way to another one; whatever has begun stays.
func TestASweepThatHasNotBegunIsReplaced(t *testing.T) {
	job := func(task string) []Job { return []Job{{Task: task, Method: "m", Steps: 9}} }
	for name, begin := range map[string]func(t *testing.T, g *Grid){
		"": func(*testing.T, *Grid) {},
		"an attempt": func(t *testing.T, g *Grid) {
			a, err := g.Begin(g.Jobs[0])
			if err != nil {
				t.Fatal(err)
			}
			a.End(Ending{})
		},
		"a result": func(t *testing.T, g *Grid) { write(t, g.Dir(g.Jobs[0]), "result.json") },
		"hosts":    func(t *testing.T, g *Grid) { write(t, g.Path(), "ssh.json") },
		"Slurm":    func(t *testing.T, g *Grid) { write(t, g.Path(), "slurm.json") },
		"a worker": func(t *testing.T, g *Grid) {
			r, err := g.Register(Worker{Name: "a"})
			if err != nil {
				t.Fatal(err)
			}
			r.Keep(&Engine{Grid: g})
			r.End(nil, "")
		},
	} {
		dir := filepath.Join(t.TempDir(), "s")
		g, err := Create(dir, job("a"), [][]byte{{1}})
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "notes.txt")
		begin(t, g)
		before := g.Dir(g.Jobs[0])
		g, err = Create(dir, job("b"), [][]byte{{2}})
		if (err == nil) != (name == "") {
			t.Errorf("%s: %v", name, err)
		}
		_, gone := os.Stat(before)
		_, notes := os.Stat(filepath.Join(dir, "notes.txt"))
		if (gone != nil) != (name == "") || notes != nil || err == nil && g.Jobs[0].Task != "b" {
			t.Errorf("%s: %v, %v, %+v", name, gone, notes, g.Jobs)
		}
		if again, err := Open(dir); err != nil || (again.Jobs[0].Task == "b") != (name == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func write(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}
