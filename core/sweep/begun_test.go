package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
		if _, err := Create(dir, job("b"), [][]byte{{2}}); err == nil || !strings.Contains(err.Error(), "is another one") {
			t.Errorf("%s: while a process uses it: %v", name, err)
		}
		if err := g.use.Close(); err != nil {
			t.Fatal(err)
		}
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

// Of several sweeps that begin in one folder at once, one has it; the others say so, and the folder is the one's alone.
func TestSweepsThatBeginAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	grids, errs := make([]*Grid, 8), make([]error, 8)
	var all sync.WaitGroup
	for i := range grids {
		all.Go(func() {
			grids[i], errs[i] = Create(dir, []Job{{Task: fmt.Sprint("t", i), Method: "m", Steps: 9}}, [][]byte{{byte(i)}})
		})
	}
	all.Wait()
	there, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if folders, err := filepath.Glob(filepath.Join(dir, "0000-*")); err != nil || len(folders) != 1 {
		t.Errorf("jobs of %d sweeps: %v", len(folders), err)
	}
	for i, g := range grids {
		if own := there.Jobs[0].Task == fmt.Sprint("t", i); own != (errs[i] == nil) || own && !slices.Equal(g.Jobs, there.Jobs) {
			t.Errorf("sweep %d, where %s has the folder: %v", i, there.Jobs[0].Task, errs[i])
		}
	}
}

func write(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}
