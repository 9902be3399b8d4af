package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/cost"
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

// What is no result of a job does not count as one, and the next attempt replaces it.
func TestResultsAreChecked(t *testing.T) {
	job := Job{Task: "t", Method: "m", Steps: 20}
	const same = `"index":0,"task":"t","method":"m","seed":0,"steps":20,"attempts":1`
	for text, want := range map[string]bool{
		`{` + same + `,"wall_s":3}`:                     true,
		`{` + same + `,"wall_s":3,"return":1,"best":2}`: true,
		``:                                       false,
		`null`:                                   false,
		`[]`:                                     false,
		`{}`:                                     false,
		`{"index":0}`:                            false,
		`{` + same + `,"wall_s":3`:               false,
		`{` + same + `,"return":1}`:              false,
		`{` + same + `,"best":1}`:                false,
		`{` + same + `,"wall_s":-1}`:             false,
		`{` + same + `,"wall_s":1e400}`:          false,
		`{` + same + `,"return":1e400,"best":1}`: false,
		`{` + same + `,"return":"\u001b[2J","best":1}`:            false,
		`{` + same + `,"attempts":-1}`:                            false,
		`{` + same + `,"task":"\u001b]0;x"}`:                      false,
		`{` + same + `,"seed":1}`:                                 false,
		`{` + same + `,"steps":10}`:                               false,
		`{` + same + `,"variant":"x"}`:                            false,
		`{` + same + `,"x":"` + strings.Repeat("x", 1<<20) + `"}`: false,
	} {
		g, err := Create(t.TempDir(), []Job{job}, [][]byte{nil})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(g.Dir(job), resultName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r, done := g.Result(job)
		if done != want {
			t.Errorf("%.80s: %v", text, done)
		}
		if said := Said(r); strings.ContainsRune(said, 0x1b) {
			t.Errorf("%.80s: %q", text, said)
		}
	}
	g, err := Create(t.TempDir(), []Job{job, {Index: 1, Task: "t", Method: "m", Steps: 20}}, [][]byte{nil, nil})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.Dir(job), resultName), []byte(`{`+same+`,"wall_s":1e300}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if eta := g.ETA(1, nil); eta <= 0 || eta > cost.Century {
		t.Errorf("the rest takes %v", eta)
	}
}

// A lock that fails is an error, and no disk without locks.
func TestALockThatFails(t *testing.T) {
	job := Job{Task: "t", Method: "m", Steps: 20}
	g, err := Create(t.TempDir(), []Job{job}, [][]byte{nil})
	if err != nil {
		t.Fatal(err)
	}
	real := flock
	defer func() { flock = real }()
	flock = func(*os.File, int) error { return syscall.EIO }
	if _, err := g.Begin(job); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

// On a disk without locks nothing says that an attempt without an end was killed: its process may be
// on another machine.
func TestAttemptsOnADiskWithoutLocks(t *testing.T) {
	real := flock
	defer func() { flock = real }()
	flock = func(*os.File, int) error { return syscall.ENOLCK }
	job := Job{Task: "t", Method: "m", Steps: 20}
	g, err := Create(t.TempDir(), []Job{job}, [][]byte{nil})
	if err != nil {
		t.Fatal(err)
	}
	a, err := g.Begin(job)
	if err != nil {
		t.Fatal(err)
	}
	if e, ended := g.LastEnding(job); ended || g.IsHeld(job) {
		t.Errorf("it ended: %+v", e)
	}
	folder, err := run.Create(g.Run(job), nil)
	if err != nil {
		t.Fatal(err)
	}
	if e, ended := g.LastEnding(job); ended || !g.IsHeld(job) {
		t.Errorf("while its run is held here: %+v", e)
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.End(Ending{How: "saved", Status: StatusAgain}); err != nil {
		t.Fatal(err)
	}
	if e, ended := g.LastEnding(job); !ended || e.How != "saved" || g.IsHeld(job) {
		t.Errorf("after its end: %+v", e)
	}
	flock = real
	if a, err = g.Begin(job); err != nil {
		t.Fatal(err)
	}
	defer a.End(Ending{})
	if e, ended := g.LastEnding(job); ended || !g.IsHeld(job) {
		t.Errorf("while it goes on: %+v", e)
	}
}

// On a disk without locks no process removes what another one is just writing: a sweep not the grid of the
// same sweep on another machine, an attempt not the result of another one.
func TestProcessesWriteBesideEachOther(t *testing.T) {
	real := flock
	defer func() { flock = real }()
	flock = func(*os.File, int) error { return syscall.ENOLCK }
	dir, job := t.TempDir(), Job{Task: "t", Method: "m", Steps: 20}
	var writing []string
	write := func(in, name string) {
		writing = append(writing, filepath.Join(in, name+".new-0123abcd"))
		if err := os.WriteFile(writing[len(writing)-1], nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(dir, gridName)
	g, err := Create(dir, []Job{job}, [][]byte{nil})
	if err != nil {
		t.Fatal(err)
	}
	first, err := g.Begin(job)
	if err != nil {
		t.Fatal(err)
	}
	write(g.Dir(job), resultName)
	write(g.Dir(job), filepath.Join(attemptsName, "1", attemptName))
	second, err := g.Begin(job)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range writing {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(second.Withdraw(), first.End(Ending{How: "done"})); err != nil {
		t.Error(err)
	}
}
