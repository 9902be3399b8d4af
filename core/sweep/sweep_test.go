package sweep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgrlab/core/testing/pace"
)

// script makes a grid of n jobs whose attempts are shell scripts: $1 is their folder, and $1/tries
// has a line for each earlier attempt.
func script(t *testing.T, n int, body string) (*Engine, func() string) {
	t.Helper()
	var jobs []Job
	var configs [][]byte
	for i := range n {
		jobs = append(jobs, Job{Index: i, Task: "t", Method: "m", Seed: uint64(i), Steps: 100})
		configs = append(configs, fmt.Appendf(nil, "seed = %d\n", i))
	}
	g, err := Create(filepath.Join(t.TempDir(), "sweep"), jobs, configs)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var said strings.Builder
	e := &Engine{Grid: g, Workers: 2,
		Process: func(j Job, device string) *exec.Cmd {
			rounds := fmt.Sprintf("p=%d; while [ $p -gt 0 ]; do p=$((p-1)); done; ", pace.Rounds())
			return exec.Command("/bin/sh", "-c", rounds+"echo x >> $1/tries; n=$(wc -l < $1/tries); finish() { echo '{\"index\":'$2',\"task\":\"t\",\"method\":\"m\",\"seed\":'$2',\"steps\":100,\"wall_s\":10,\"attempts\":'$n'}' > $1/result.json; }; "+body, "sh", g.Dir(j), fmt.Sprint(j.Index), device)
		},
		Say: func(text string) { mu.Lock(); defer mu.Unlock(); fmt.Fprintln(&said, text) },
	}
	return e, func() string { mu.Lock(); defer mu.Unlock(); return said.String() }
}

func tries(t *testing.T, g *Grid, j Job) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.Dir(j), "tries"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "x")
}

// These are the meanings of exit statuses to the engine.
func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		name, body string
		tries      int
		state      State
	}{
		{"done", `finish $1 $2`, 1, Done},
		{"again", `[ $n = 3 ] && finish $1 $2; exit 85`, 3, Done},
		{"killed twice", `[ $n = 3 ] && finish $1 $2 && exit 0; kill -9 $$`, 3, Done},
		{"killed for ever", `kill -9 $$`, maxKilled, Failed},
		{"failed", `exit 1`, 1, Failed},
		{"by hand", `exit 130`, 1, Stopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, said := script(t, 3, c.body)
			err := e.Run(t.Context())
			if (err == nil) != (c.state == Done) {
				t.Error(err)
			}
			for i, s := range e.States() {
				if n := tries(t, e.Grid, e.Grid.Jobs[i]); s != c.state || n != c.tries {
					t.Errorf("job %d: state %d after %d tries, want %d after %d\n%s", i, s, n, c.state, c.tries, said())
				}
			}
			if c.state != Done {
				return
			}
			if err := e.Run(t.Context()); err != nil || tries(t, e.Grid, e.Grid.Jobs[0]) != c.tries {
				t.Errorf("the second time: %v, %d tries", err, tries(t, e.Grid, e.Grid.Jobs[0]))
			}
		})
	}
}

// When the context ends, the running processes are asked to end and the other jobs are not begun.
func TestCancel(t *testing.T) {
	line := fifo(t)
	e, _ := script(t, 5, `trap 'exit 85' TERM; echo up > '`+line.Name()+`'; read forever; exit 85`)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	for said, up := bufio.NewReader(line), 0; up < 2; up++ {
		if _, err := said.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	cancel(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Error(err)
	}
	for i, s := range e.States() {
		if i < 2 && s != Stopped || i >= 2 && s == Done {
			t.Errorf("job %d: state %d", i, s)
		}
		if n := tries(t, e.Grid, e.Grid.Jobs[i]); n > 1 || i > 1 && n > 0 {
			t.Errorf("job %d: %d tries", i, n)
		}
	}
}

// An engine that ends closes the input of its processes and does not signal them: if they were
// signalled together with the engine, a second signal would end them at once, unsaved.
func TestTheEndIsSignalledOnce(t *testing.T) {
	line := fifo(t)
	e, _ := script(t, 1, `trap 'echo signal >> $1/signals' TERM; echo up > '`+line.Name()+`'; read forever; exit 85`)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()
	if _, err := bufio.NewReader(line).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-ended
	if text, err := os.ReadFile(filepath.Join(e.Grid.Dir(e.Grid.Jobs[0]), "signals")); err == nil {
		t.Errorf("it got one: %s", text)
	}
}

// No more attempts run at a time than there is room for, and the room may change.
func TestRoomForAttempts(t *testing.T) {
	line, leave := fifo(t), fifo(t)
	e, said := script(t, 4, `echo up > '`+line.Name()+`'; read line < '`+leave.Name()+`'; finish $1 $2`)
	e.Workers = 4
	var room atomic.Int32
	room.Store(1)
	e.Most = func() int { return int(room.Load()) }
	ended := make(chan error)
	go func() { ended <- e.Run(t.Context()) }()
	up, running := bufio.NewReader(line), func() (n int) {
		for _, s := range e.States() {
			if s == Running {
				n++
			}
		}
		return n
	}
	seen := 0
	for _, most := range []int{1, 3} {
		room.Store(int32(most))
		for ; seen < most; seen++ {
			if _, err := up.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if n := running(); n != most {
			t.Errorf("%d run where there is room for %d", n, most)
		}
	}
	leave.WriteString("\n\n\n\n")
	if err := <-ended; err != nil {
		t.Errorf("%v: %s", err, said())
	}
}

// While the disk is full no attempt begins, not even at a job that was killed; that is said once.
func TestNoAttemptOnAFullDisk(t *testing.T) {
	e, said := script(t, 3, `[ $2 = 0 ] && [ $n = 1 ] && kill -9 $$; finish $1 $2`)
	e.Workers = 1
	looks := 0
	e.free = func(string) int64 {
		looks++
		return map[int]int64{1: 1, 2: leastFree - 1, 3: leastFree, 5: 1}[looks] // in the fifth job 0 was killed; 0: it is not known
	}
	if err := e.Run(t.Context()); err != nil {
		t.Errorf("%v: %s", err, said())
	}
	if n := strings.Count(said(), "no room is left"); n != 2 {
		t.Errorf("it is said %d times: %s", n, said())
	}
	for i, want := range []int{2, 1, 1} {
		if n := tries(t, e.Grid, e.Grid.Jobs[i]); n != want {
			t.Errorf("job %d: %d tries, want %d", i, n, want)
		}
	}
}

// An engine with Leaves set waits for the jobs of others only while one of its own runs.
func TestAnEngineThatLeaves(t *testing.T) {
	e, said := script(t, 2, `finish $1 $2`)
	e.Leaves = true
	twin, err := e.Grid.Begin(e.Grid.Jobs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context()); err == nil {
		t.Error("all is done")
	}
	if s := e.States(); s[0] != Elsewhere || s[1] != Done {
		t.Errorf("%v: %s", s, said())
	}
	if err := twin.End(Ending{How: "enough"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context()); err != nil {
		t.Errorf("%v: %s", err, said())
	}
}

func TestGrid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	jobs := []Job{{Index: 0, Task: "a", Method: "m", Seed: 1, Steps: 10}, {Index: 1, Task: "b", Method: "m", Seed: 1, Steps: 10}}
	configs := [][]byte{[]byte("x"), []byte("y")}
	for range 2 {
		if _, err := Create(dir, jobs, configs); err != nil {
			t.Fatal(err)
		}
	}
	g, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Job(2); err == nil {
		t.Error("there is no job 2")
	}
	a, err := g.Begin(jobs[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Begin(jobs[0]); !errors.Is(err, ErrElsewhere) {
		t.Error(err)
	}
	if err := a.End(Ending{How: "saved"}); err != nil {
		t.Error(err)
	}
	if b, err := g.Begin(jobs[0]); err != nil || b.Number != 2 {
		t.Errorf("%v, %v", b, err)
	}
	if _, err := Create(dir, jobs, [][]byte{[]byte("x"), []byte("z")}); err == nil || !strings.Contains(err.Error(), "is another one") {
		t.Error(err)
	}
	if _, err := Create(dir, jobs[:1], configs[:1]); err == nil {
		t.Error("a part of it was taken for it")
	}
	if err := os.WriteFile(filepath.Join(dir, gridName), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Error(err)
	}
}

// With two workers the rest takes half of its time, at the pace of similar jobs. A job that stood
// still for an hour is one of three and does not count, and a running job's own estimate takes
// precedence.
func TestETA(t *testing.T) {
	e, _ := script(t, 6, "")
	g := e.Grid
	if eta := g.ETA(2, nil); eta != 0 {
		t.Errorf("%s before anything is known", eta)
	}
	for i, wall := range []float64{10, 3600, 10} {
		if err := replaceJSON(g.folder, filepath.Join(g.Jobs[i].Name(), resultName), Result{Job: g.Jobs[i], WallS: wall, Attempts: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		running map[int]Pace
		want    time.Duration
	}{
		{nil, 15 * time.Second},                                 // 300 steps at 0.1 s
		{map[int]Pace{3: {Step: 50}}, 12500 * time.Millisecond}, // 250 of these steps remain
		{map[int]Pace{3: {Step: 50, Left: 4 * time.Second}}, 12 * time.Second},
		{map[int]Pace{3: {Step: 50, Left: time.Minute}}, time.Minute},
	} {
		if eta := g.ETA(2, c.running); eta != c.want {
			t.Errorf("%v: %s, want %s", c.running, eta, c.want)
		}
	}
}

// An attempt that cannot begin has no log: what its process wrote says why, also after an earlier attempt
// that has one.
func TestWordsOfAnAttemptThatCannotBegin(t *testing.T) {
	const log = `mkdir -p $1/attempts/$n; echo "logged $n" > $1/attempts/$n/log; `
	for body, want := range map[string]string{
		`echo first >&2; echo "begin: no room" >&2; exit 1`: "failed with status 1: begin: no room\n",
		`exit 1`:                      "failed with status 1: see ",
		log + `echo more >&2; exit 1`: "failed with status 1: logged 1 (",
		`if [ $n = 1 ]; then ` + log + `exit 85; fi; echo "begin: no room" >&2; exit 1`:           "failed with status 1: begin: no room\n",
		`yes "much of it" | head -c 100000 >&2; echo >&2; echo "$(printf 'the end')" >&2; exit 1`: "failed with status 1: the end\n",
	} {
		e, said := script(t, 1, body)
		if err := e.Run(t.Context()); err == nil || !strings.Contains(said(), want) {
			t.Errorf("%s: %v\n%s\nwant %q", body, err, said(), want)
		}
	}
}

// The last words of a job are taken from its own log, whatever the sweep's folder is called.
func TestLastWordsAreTheJobsOwn(t *testing.T) {
	root := t.TempDir()
	jobs := []Job{{Task: "a", Method: "m", Seed: 1, Steps: 10}}
	for _, name := range []string{"s1", "s[12]", "s*", `s\`, "s["} {
		g, err := Create(filepath.Join(root, name), jobs, [][]byte{[]byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.LastWords(jobs[0]); got != "see "+g.Dir(jobs[0]) {
			t.Errorf("before the first attempt: %q", got)
		}
		for n := range 11 {
			a, err := g.Begin(jobs[0])
			if err != nil {
				t.Fatal(err)
			}
			log, err := a.Log()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(log, "first\n%s %d\n", name, n+1)
			if err := errors.Join(log.Close(), a.End(Ending{How: "failed"})); err != nil {
				t.Fatal(err)
			}
		}
		if got := g.LastWords(jobs[0]); got != fmt.Sprintf("%s 11 (%s)", name, filepath.Join(g.Dir(jobs[0]), "attempts", "11", "log")) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The leftovers of a process that was killed while it wrote are gone when the job is done, in the
// folder of the sweep and in those of its jobs; files that people have put there stay.
func TestNothingUnfinishedIsLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	j := Job{Task: "a", Method: "m", Seed: 1, Steps: 10}
	in := filepath.Join(dir, j.Name())
	if err := os.MkdirAll(in, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"grid.json.new-0123abcd", "notes.new"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"job.toml.new-0123abcd", "result.json.new-4567abcd"} {
		if err := os.WriteFile(filepath.Join(in, name), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g, err := Create(dir, []Job{j}, [][]byte{[]byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	a, err := g.Begin(j)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.End(Ending{How: "done"}); err != nil {
		t.Fatal(err)
	}
	var left []string
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if strings.Contains(d.Name(), ".new") {
			left = append(left, d.Name())
		}
		return err
	})
	if len(left) != 1 || left[0] != "notes.new" {
		t.Errorf("%q are left", left)
	}
}

// Two engines divide one grid: all four workers have different jobs at once, and each engine sees
// what the other has done.
func TestEnginesDivideAGrid(t *testing.T) {
	began, leave := fifo(t), fifo(t)
	e, said := script(t, 6, `mkdir $1/mine 2>/dev/null || { [ -e $1/result.json ] || exit 75; exit 0; }; echo up > '`+began.Name()+`'; read line < '`+leave.Name()+`'; finish $1 $2`)
	other := &Engine{Grid: e.Grid, Workers: 2, Process: e.Process, Say: e.Say}
	ended := make(chan error)
	for _, engine := range []*Engine{e, other} {
		go func() { ended <- engine.Run(t.Context()) }()
	}
	up := bufio.NewReader(began)
	for range 4 {
		if _, err := up.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	for range 6 {
		fmt.Fprintln(leave)
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Errorf("%v\n%s", err, said())
		}
	}
	for i := range 6 {
		if e.States()[i] != Done || other.States()[i] != Done {
			t.Errorf("job %d: states %d and %d", i, e.States()[i], other.States()[i])
		}
	}
}

// Attempts are spread evenly over the devices, and a device that is free again is used again.
func TestAttemptsAreSpreadOverDevices(t *testing.T) {
	began, leave := fifo(t), fifo(t)
	e, said := script(t, 6, `echo $3 > '`+began.Name()+`'; read line < '`+leave.Name()+`'; finish $1 $2`)
	e.Workers, e.Devices = 4, []string{"cuda:0", "cuda:1"}
	ended := make(chan error)
	go func() { ended <- e.Run(t.Context()) }()
	up := bufio.NewReader(began)
	count := map[string]int{}
	for range 4 {
		line, err := up.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		count[strings.TrimSpace(line)]++
	}
	if count["cuda:0"] != 2 || count["cuda:1"] != 2 {
		t.Errorf("four at once: %v", count)
	}
	for range 6 {
		fmt.Fprintln(leave)
	}
	for range 2 {
		if line, err := up.ReadString('\n'); err != nil || !strings.HasPrefix(line, "cuda:") {
			t.Errorf("%q, %v", line, err)
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("%v: %s", err, said())
	}
	if e.busy[0] != 0 || e.busy[1] != 0 {
		t.Errorf("occupied at the end: %v", e.busy)
	}
}

// fifo makes a named pipe that is open at both ends.
func fifo(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A job that a person stops in one engine is not begun again by another one that waits for it.
func TestAJobThatWasStoppedElsewhereStays(t *testing.T) {
	e, said := script(t, 1, "finish $1 $2")
	a, err := e.Grid.Begin(e.Grid.Jobs[0])
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- e.Run(t.Context()) }()
	for s := e.States(); len(s) == 0 || s[0] != Elsewhere; s = e.States() {
		time.Sleep(time.Millisecond)
	}
	if err := a.End(Ending{How: "stopped", Status: StatusStopped}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || e.States()[0] != Stopped || tries(t, e.Grid, e.Grid.Jobs[0]) != 0 {
		t.Errorf("state %v, %d tries, %v: %s", e.States()[0], tries(t, e.Grid, e.Grid.Jobs[0]), err, said())
	}
	j := e.Grid.Jobs[0] // a sweep that was started since has gone on with it
	if err := replaceJSON(e.Grid.folder, filepath.Join(j.Name(), resultName), Result{Job: j, Attempts: 2}); err != nil {
		t.Fatal(err)
	}
	if err := e.verdict(t.Context()); err != nil {
		t.Errorf("all jobs are done: %v", err)
	}
}
