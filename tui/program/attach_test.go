package program

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/run"
	"pgrlab/core/testing/pace"
	"pgrlab/tui"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/remote"
)

// training is a run of train in this process that continues until it is stopped.
type training struct {
	t      *testing.T
	dir    string
	socket string
	status chan int
	said   bytes.Buffer
}

func startTraining(t *testing.T) *training {
	t.Helper()
	return startTrainingOf(t, tiny)
}

// startTrainingOf starts a run of a preset.
func startTrainingOf(t *testing.T, preset string) *training {
	t.Helper()
	d := setUp(t)
	d.Tasks = resting(d.Tasks)
	if err := os.WriteFile("endless.toml", []byte(preset), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	r := &training{t: t, dir: "run", status: make(chan int, 1)}
	go func() {
		status, _ := pgrlab(t, d, &r.said, "train", "--preset", "endless.toml", "--steps", "10000000", "--threads", "1", "--out", r.dir)
		r.status <- status
	}()
	r.until("it listens", func() bool {
		var err error
		r.socket, err = remote.Find(r.dir)
		return err == nil
	})
	return r
}

// until waits until something has happened.
func (r *training) until(what string, happened func() bool) {
	r.t.Helper()
	eventually(r.t, what, func() bool {
		select {
		case status := <-r.status:
			r.t.Fatalf("the run ended with %d before %s:\n%s", status, what, r.said.String())
		default:
		}
		return happened()
	})
}

// goesOnAfter waits until the journal has a line of a type and training has made a step since then.
func (r *training) goesOnAfter(line string) {
	r.t.Helper()
	r.until("a line of type "+line, func() bool {
		doc, err := os.ReadFile(filepath.Join(r.dir, run.JournalName))
		return err == nil && bytes.Contains(doc, []byte(`{"type":"`+line+`"`))
	})
	step := r.look().Step
	r.until("a step after the line of type "+line, func() bool { return r.look().Step > step })
}

func (r *training) look() remote.Status {
	r.t.Helper()
	s, err := remote.Look(context.Background(), r.dir)
	if err != nil {
		r.t.Error(err)
	}
	return s
}

// ask sends a request as a script does.
func (r *training) ask(want string) string {
	r.t.Helper()
	socket, err := remote.Find(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	said, err := remote.Ask(context.Background(), socket, r.dir, want, "test")
	if err != nil {
		r.t.Fatal(err)
	}
	return said
}

func (r *training) stop() {
	r.t.Helper()
	if said := r.ask("stop"); !strings.Contains(said, "stopped and saved at step") {
		r.t.Error(said)
	}
	r.ends()
}

// ends waits for the end of a run that was asked to end.
func (r *training) ends() {
	r.t.Helper()
	if status := <-r.status; status != cli.StatusDone {
		r.t.Errorf("status %d:\n%s", status, r.said.String())
	}
}

// typist is a terminal with a person who presses keys when the screen shows the text that each key
// waits for.
type typist struct {
	keys   *io.PipeWriter
	mu     sync.Mutex
	shown  strings.Builder
	script []press
}

type press struct{ on, keys string }

func (p *typist) Write(b []byte) (int, error) {
	pace.Look()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown.Write(b)
	if len(p.script) > 0 && strings.Contains(p.shown.String(), p.script[0].on) {
		next := p.script[0]
		p.script = p.script[1:]
		p.shown.Reset()
		go io.WriteString(p.keys, next.keys)
	}
	return len(b), nil
}

// visit attaches, follows the script and returns the last words of the screen.
func (r *training) visit(name string, script ...press) (string, error) {
	keys, typed := io.Pipe()
	defer typed.Close()
	return remote.Attach(context.Background(), remote.Socket(r.socket, r.dir), r.dir, remote.Terminal{
		Keys: keys, Output: &typist{keys: typed, script: script}, Size: tui.Size{Columns: 100, Rows: 30}, Name: name,
		Environ: map[string]string{"TERM": "xterm-256color"},
	})
}

// leaving are the keys of a person who looks and leaves. A visitor who only watches leaves at the
// first key.
var leaving = []press{{"RETURN", "q"}, {"leave it training", "d"}}

// descriptors returns the number of open files of this process.
func descriptors() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

// Screens come and go, eight at a time, some of them by a broken connection, while the run
// continues; nothing of them remains. The long form has hundreds.
func TestScreensLeaveNothingBehind(t *testing.T) {
	r := startTraining(t)
	if _, err := r.visit("the first", leaving...); err != nil { // what is made only once is made now
		t.Fatal(err)
	}
	goroutines, files := runtime.NumGoroutine(), descriptors()
	const together = 8
	visits := 48
	if soaking() {
		visits = 600
	}
	from := r.look().Step
	var visiting sync.WaitGroup
	turn := make(chan bool, together)
	for n := range visits {
		turn <- true
		visiting.Go(func() {
			defer func() { <-turn }()
			if n%10 == 9 { // the connection breaks
				conn, err := net.Dial("unix", r.socket)
				if err != nil {
					t.Error(err)
					return
				}
				conn.Write([]byte("k"))
				conn.Close()
				return
			}
			said, err := r.visit(fmt.Sprint(n), leaving...)
			if err != nil || !strings.Contains(said, "training goes on") {
				t.Errorf("%d: %q, %v", n, said, err)
			}
		})
	}
	visiting.Wait()
	r.until("the run goes on", func() bool { return r.look().Step > from })
	r.until("everything is given back", func() bool { return runtime.NumGoroutine() <= goroutines && descriptors() <= files })
	r.stop()
	if n := types(t, r.dir); n[event.TypeAttached] != n[event.TypeDetached] || n[event.TypeAttached] < visits/2 {
		t.Errorf("%d attached, %d detached", n[event.TypeAttached], n[event.TypeDetached])
	}
	for _, left := range []string{r.socket, filepath.Join(r.dir, remote.NoticeName)} {
		if _, err := os.Lstat(left); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", left, err)
		}
	}
}

// The first of two screens drives: commands of the second are refused until it takes over. A third
// screen that never reads delays nothing, not even the end.
func TestOneScreenDrives(t *testing.T) {
	r := startTraining(t)
	stalled := stall(t, r.socket)
	defer stalled.Close()
	r.until("the stalled screen drives", func() bool { return r.look().Driver == "stalled" })
	said, err := r.visit("maria",
		press{"stalled", "p"}, // refused
		press{"stalled drives: D takes over", "D"},
		press{"you drive now", "p"},
		press{"PAUSED", "q"},
		press{"leave it training", "d"})
	if err != nil || !strings.Contains(said, "training goes on") {
		t.Fatalf("%q, %v", said, err)
	}
	if s := r.look(); s.State != "paused" || s.Driver != "stalled" || s.Screens != 1 {
		t.Errorf("%+v", s)
	}
	for _, want := range []struct{ ask, said string }{
		{"pause", "was paused already"}, {"resume", "resumed at step"}, {"resume", "is running already"}, {"checkpoint", "saved "}, {"pause", "paused at step"},
		{"resume", "resumed at step"}, {"park", "saved and paused (it has no GPU to give back) at step"},
	} {
		if said := r.ask(want.ask); !strings.Contains(said, want.said) {
			t.Errorf("%s: %s", want.ask, said)
		}
	}
	if _, err := remote.Ask(context.Background(), r.socket, r.dir, "fly", "test"); err == nil || !strings.Contains(err.Error(), `does not know "fly"`) {
		t.Error(err)
	}
	if found, _ := filepath.Glob(filepath.Join(r.dir, "checkpoints", "*.ckpt")); len(found) == 0 {
		t.Error("no checkpoint")
	}
	r.stop()
	journal, err := os.ReadFile(filepath.Join(r.dir, "events.jsonl"))
	if err != nil || strings.Count(string(journal), `"by":"maria"`) != 3 { // attached, pause, detached
		t.Errorf("%v:\n%s", err, journal)
	}
}

// stall opens a screen and reads nothing from it until the run ends.
func stall(t *testing.T, socket string) io.Closer {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	hello := `{"protocol":1,"want":"screen","name":"stalled","size":{"Columns":1000,"Rows":1000}}`
	if _, err := fmt.Fprintf(conn, "h%c%c\x00\x00%s", len(hello)%256, len(hello)/256, hello); err != nil {
		t.Fatal(err)
	}
	return conn
}

// A lab can be named by its process, by a part of its path and by its folder.
func TestNamesOfALab(t *testing.T) {
	r := startTraining(t)
	d := deps(newPrograms())
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fmt.Sprint(os.Getpid()), filepath.Base(filepath.Dir(filepath.Dir(dir))), r.dir, dir} {
		var said bytes.Buffer
		if status, _ := pgrlab(t, d, &said, "checkpoint", name); status != cli.StatusDone || !strings.Contains(said.String(), "saved ") {
			t.Errorf("checkpoint %s: status %d, %q", name, status, said.String())
		}
	}
	var said bytes.Buffer
	if status, _ := pgrlab(t, d, &said, "checkpoint", "no-such-lab"); status != cli.StatusUsage || !strings.Contains(said.String(), "no such run") {
		t.Errorf("checkpoint no-such-lab: status %d, %q", status, said.String())
	}
	r.stop()
}

// Screens that are not read, whatever size they claim, are limited in number. The run continues
// beside them and when all close at once.
func TestStalledScreensAreFew(t *testing.T) {
	r := startTraining(t)
	goesOn := func(when string) {
		from := r.look().Step
		r.until("the run goes on "+when, func() bool { return r.look().Step > from+20 })
	}
	var lines []io.Closer
	for range 24 {
		lines = append(lines, stall(t, r.socket))
	}
	r.until("they are shown", func() bool { return r.look().Screens == 16 })
	goesOn("under them")
	if n := r.look().Screens; n != 16 {
		t.Errorf("%d screens are shown", n)
	}
	for _, l := range lines {
		l.Close()
	}
	goesOn("while they close")
	r.until("they are gone", func() bool { return r.look().Screens == 0 })
	if _, err := r.visit("one more", leaving...); err != nil {
		t.Error(err)
	}
	r.stop()
}
