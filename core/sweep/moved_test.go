package sweep

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/run"
)

// moves are what can happen to the folder of a sweep that goes on.
var moves = map[string]func(t *testing.T, dir, to string, jobs []Job, configs [][]byte){
	"renamed": func(t *testing.T, dir, to string, _ []Job, _ [][]byte) {
		if err := os.Rename(dir, to); err != nil {
			t.Fatal(err)
		}
	},
	"replaced": func(t *testing.T, dir, to string, jobs []Job, configs [][]byte) {
		if err := os.Rename(dir, to); err != nil {
			t.Fatal(err)
		}
		g, err := Create(dir, jobs, configs)
		if err != nil {
			t.Fatal(err)
		}
		r, err := g.Register(Worker{Name: "w"})
		if err != nil {
			t.Fatal(err)
		}
		r.End(nil, "other")
	},
}

// nowOf is what a process can know of a folder that it has open and that was moved to another name: that
// name, where the system reports it of a folder of the test's own; else nothing.
func nowOf(t *testing.T, to string) string {
	t.Helper()
	own := t.TempDir()
	open, err := os.Open(own)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := os.Rename(own, own+"-aside"); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(own + "-aside")
	if name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", open.Fd())); err != nil || name != own+"-aside" {
		return ""
	}
	return to
}

// tree lists what is below a folder, with the contents of files.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all.WriteString(path + "\n")
			return nil
		}
		text, err := os.ReadFile(path)
		all.WriteString(path + ": " + string(text) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// A sweep whose folder is moved while it runs ends its jobs, begins no more, and says where the folder
// is. Nothing is written in what has its name by then.
func TestASweepThatIsMovedEnds(t *testing.T) {
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			line := fifo(t)
			e, said := script(t, 4, `echo up > '`+line.Name()+`'; read forever; exit 85`)
			g, dir := e.Grid, e.Grid.Path()
			to := dir + "-aside"
			r, err := g.Register(Worker{Name: "w", Jobs: 2})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() { ended <- e.Run(t.Context()) }()
			up := bufio.NewReader(line)
			for range 2 {
				if _, err := up.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			r.Keep(e)
			var configs [][]byte
			for _, j := range g.Jobs {
				text, err := g.ReadConfig(j)
				if err != nil {
					t.Fatal(err)
				}
				configs = append(configs, text)
			}
			move(t, dir, to, g.Jobs, configs)
			before := tree(t, dir)
			err = <-ended
			r.End(e.States(), "moved")
			var moved *Moved
			if now := nowOf(t, to); !errors.As(err, &moved) || moved.to != now || !strings.Contains(err.Error(), now) {
				t.Errorf("it ends with %v, and is in %q now", err, now)
			}
			if said() != "" {
				t.Errorf("it says %q", said())
			}
			for i, s := range e.States() {
				if n := tries(t, g, g.Jobs[i]); n != map[bool]int{true: 1}[i < 2] || i < 2 && s != Stopped {
					t.Errorf("job %d: state %d after %d tries", i, s, n)
				}
			}
			if after := tree(t, dir); after != before {
				t.Errorf("%s in its place is\n%s\nwas\n%s", dir, after, before)
			}
			if text, err := os.ReadFile(filepath.Join(to, workersName, "w", workerName)); err != nil || !strings.Contains(string(text), `"ended": "moved"`) {
				t.Errorf("the worker: %v, %s", err, text)
			}
		})
	}
}

// A sweep whose folder is removed ends too.
func TestASweepThatIsRemovedEnds(t *testing.T) {
	line := fifo(t)
	e, _ := script(t, 3, `echo up > '`+line.Name()+`'; read forever; exit 85`)
	ended := make(chan error)
	go func() { ended <- e.Run(t.Context()) }()
	if _, err := bufio.NewReader(line).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	dir := e.Grid.Path()
	for err := os.RemoveAll(dir); err != nil; err = os.RemoveAll(dir) {
		if !errors.Is(err, syscall.ENOTEMPTY) { // as of a folder in which the sweep made a file meanwhile
			t.Fatal(err)
		}
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "moved or removed") {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Errorf("%s is there again", dir)
	}
}

// An attempt writes into its own job wherever that is by now.
func TestAnAttemptInAFolderThatIsMoved(t *testing.T) {
	jobs, configs := []Job{{Task: "t", Method: "m", Steps: 9}}, [][]byte{[]byte("x")}
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			to := dir + "-aside"
			g, err := Create(dir, jobs, configs)
			if err != nil {
				t.Fatal(err)
			}
			a, err := g.Begin(jobs[0])
			if err != nil {
				t.Fatal(err)
			}
			move(t, dir, to, jobs, configs)
			before := tree(t, dir)
			log, err := a.Log()
			if err != nil {
				t.Fatal(err)
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
			in, err := a.Run()
			if now := nowOf(t, to); err != nil || now != "" && filepath.Dir(filepath.Dir(in)) != now {
				t.Fatalf("it runs in %s, want below %s: %v", in, now, err)
			} else if now == "" {
				t.Skip("this system does not report the new name of an open folder")
			}
			if err := errors.Join(os.Mkdir(in, 0o755), os.WriteFile(filepath.Join(in, run.JournalName), nil, 0o644)); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(a.Done(), a.End(Ending{How: "done"})); err != nil {
				t.Error(err)
			}
			if _, done := g.Result(jobs[0]); !done {
				t.Error("it has no result")
			}
			if e, ended := g.LastEnding(jobs[0]); !ended || e.How != "done" {
				t.Errorf("it ended with %+v", e)
			}
			if after := tree(t, dir); after != before {
				t.Errorf("%s in its place is\n%s\nwas\n%s", dir, after, before)
			}
			second, err := g.Begin(jobs[0])
			if err != nil || second.Number != 2 {
				t.Fatal(second, err)
			}
			if err := second.Withdraw(); err != nil {
				t.Error(err)
			}
			if after := tree(t, dir); after != before {
				t.Errorf("%s in its place is\n%s\nwas\n%s", dir, after, before)
			}
		})
	}
}
