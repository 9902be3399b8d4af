package program

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgrlab/core/event"
	"pgrlab/core/testing/pace"
	"pgrlab/envs/mujoco"
	"pgrlab/tui"
	"pgrlab/tui/command"
	"pgrlab/tui/command/cli"
	"pgrlab/tui/testing/pty"
)

// tiny is a whole run with all phases that takes seconds.
const tiny = `
task = "cartpole-swingup"
method = "pgr-curiosity"
scale = "demo"
steps = 150
start_steps = 40
buffer = 1_000

[evaluation]
every = 75
episodes = 2
dormant_states = 16

[agent]
hidden = [16, 16]

[curiosity]
hidden = 8
batch = 16
warmup = 2

[generator]
width = 16
blocks = 1
embedding = 8
batch = 16
chunk = 64

[knobs]
utd = 2
batch = 16
refit_every = 60
generator_steps = 20
samples = 100
sampler_steps = 4
`

// pgrlab runs a command line in this process, with the real parts.
func pgrlab(t *testing.T, d cli.Deps, stderr interface{ Write([]byte) (int, error) }, args ...string) (status int, stdout string) {
	t.Helper()
	var out bytes.Buffer
	status = command.Main(context.Background(), d, args, strings.NewReader(""), &out, stderr)
	return status, out.String()
}

// setUp gives a test a folder with the tiny preset, or skips it.
func setUp(t *testing.T) cli.Deps {
	t.Helper()
	if _, err := mujoco.Find(); err != nil {
		t.Skip("no physics: ", err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("tiny.toml", []byte(tiny), 0o644); err != nil {
		t.Fatal(err)
	}
	return testDeps()
}

// soaking says whether the long form of a test or a measurement was requested. Its numbers are
// meaningful only on a machine that does nothing else.
func soaking() bool { return os.Getenv("PGRLAB_SOAK") != "" }

// types counts the lines of a journal by type; every line must be JSON.
func types(t *testing.T, dir string) map[string]int {
	t.Helper()
	journal, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for line := range strings.Lines(string(journal)) {
		var l struct{ Type string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		n[l.Type]++
	}
	return n
}

// The same run with one and with two workers writes the same journal, and a
// folder that holds a run is refused.
func TestTrain(t *testing.T) {
	d := setUp(t)
	for dir, threads := range map[string]string{"one": "1", "two": "2"} {
		var stderr bytes.Buffer
		status, stdout := pgrlab(t, d, &stderr, "train", "--preset", "tiny.toml", "--seed", "3", "--threads", threads,
			"--at", "100:guidance=3!", "--at", "120:ratio=0.25", "--out", dir)
		if status != cli.StatusDone || stdout != "" {
			t.Fatalf("status %d, stdout %q, stderr\n%s", status, stdout, stderr.String())
		}
		for _, want := range []string{"step 75: return ", "generator steps", "guidance 2 → 3 now", "150 of 150 steps", "run folder: " + dir} {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("stderr lacks %q:\n%s", want, stderr.String())
			}
		}
		n := types(t, dir)
		for kind, want := range map[string]int{event.TypeStart: 1, event.TypeEvaluated: 2, event.TypeKnob: 2, event.TypeDone: 1, event.TypeFailed: 0} {
			if n[kind] != want {
				t.Errorf("%d lines of type %s, want %d", n[kind], kind, want)
			}
		}
	}
	var stderr bytes.Buffer
	if status, stdout := pgrlab(t, d, &stderr, "journal", "diff", "one", "two"); status != cli.StatusDone {
		t.Errorf("one worker and two differ:\n%s%s", stdout, stderr.String())
	}
	if status, _ := pgrlab(t, d, &stderr, "train", "--preset", "tiny.toml", "--out", "one"); status != cli.StatusUsage {
		t.Errorf("an old run's folder: status %d", status)
	}
	// The config.toml of a run is a preset for the same run.
	if status, _ := pgrlab(t, d, &stderr, "train", "--preset", "one/config.toml", "--out", "again"); status != cli.StatusDone {
		t.Fatalf("again: status %d\n%s", status, stderr.String())
	}
	if status, stdout := pgrlab(t, d, &stderr, "journal", "diff", "one", "again"); status != cli.StatusDone {
		t.Errorf("the run from config.toml differs:\n%s", stdout)
	}
}

// A saved policy can be watched, here as files, and so can random actions: every picture exists and
// something moves. Without the file that a run writes at its end the policy is that of the newest
// checkpoint, and acts the same.
func TestWatch(t *testing.T) {
	d := setUp(t)
	var stderr bytes.Buffer
	t.Setenv("PGRLAB_RUNS", "runs")
	if status, _ := pgrlab(t, d, &stderr, "train", "--preset", "tiny.toml", "--out", "runs/a"); status != cli.StatusDone {
		t.Fatalf("status %d\n%s", status, stderr.String())
	}
	said := map[string]string{}
	for _, c := range []struct {
		dir  string
		args []string
	}{
		{"random", []string{"--task", "walker_walk", "--fps", "1"}}, // 25 s an episode
		{"policy", []string{"--policy", "latest", "--fps", "2"}},    // 10 s
		{"checkpoint", []string{"--policy", "latest", "--fps", "2"}},
	} {
		dir, args := c.dir, c.args
		if dir == "checkpoint" {
			if err := os.Remove("runs/a/policy.bin"); err != nil {
				t.Fatal(err)
			}
		}
		stderr.Reset()
		status, stdout := pgrlab(t, d, &stderr, append([]string{"watch", "--frames", dir, "--size", "40x30"}, args...)...)
		if status != cli.StatusDone || stdout != "" || !strings.Contains(stderr.String(), "1 episode, mean return") {
			t.Fatalf("%s: status %d, %q\n%s", dir, status, stdout, stderr.String())
		}
		said[dir] = stderr.String()
		want := map[string]int{"random": 26, "policy": 21, "checkpoint": 21}[dir] // and the start
		files, err := filepath.Glob(filepath.Join(dir, "*.png"))
		if err != nil || len(files) != want {
			t.Fatalf("%s: %d pictures, want %d: %v", dir, len(files), want, err)
		}
		first, last := picture(t, files[0]), picture(t, files[len(files)-1])
		if first.Bounds() != image.Rect(0, 0, 40, 30) || reflect.DeepEqual(first, last) {
			t.Errorf("%s: pictures of %v, the last one like the first", dir, first.Bounds())
		}
	}
	_, reached, _ := strings.Cut(said["policy"], "policy.bin: ")
	if !strings.HasSuffix(said["checkpoint"], reached) || !strings.Contains(said["checkpoint"], ", runs/a at step ") {
		t.Errorf("the policy of the checkpoint:\n%sthat of the end:\n%s", said["checkpoint"], said["policy"])
	}
}

func picture(t *testing.T, file string) image.Image {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// A trigger calls f once, when a given text has been written.
type trigger struct {
	bytes.Buffer
	text string
	f    func()
	once sync.Once
}

func (w *trigger) Write(p []byte) (int, error) {
	pace.Look()
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.Buffer.String(), w.text) {
		w.once.Do(w.f)
	}
	return n, err
}

func TestSignalsSaveAndEnd(t *testing.T) {
	d := setUp(t)
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: cli.StatusInterrupted, syscall.SIGTERM: cli.StatusTerminated} {
		dir := signal.String()
		stderr := &trigger{text: "step 75: return", f: func() { syscall.Kill(os.Getpid(), signal) }}
		status, _ := pgrlab(t, d, stderr, "train", "--preset", "tiny.toml", "--steps", "10000000", "--out", dir)
		if status != want {
			t.Errorf("%v: status %d, want %d\n%s", signal, status, want, stderr.String())
		}
		if n := types(t, dir); n[event.TypeEvaluated] == 0 || n[event.TypeFailed] != 0 || n[event.TypeDone] != 0 {
			t.Errorf("%v: journal %v", signal, n)
		}
		if _, err := os.Stat(filepath.Join(dir, "policy.bin")); err != nil {
			t.Errorf("%v: %v", signal, err)
		}
	}
}

// A terminal that hangs up is reported and training continues until it is stopped.
func TestHangupOfTrain(t *testing.T) {
	r := startTraining(t)
	syscall.Kill(os.Getpid(), syscall.SIGHUP)
	r.goesOnAfter(event.TypeDetached)
	r.stop()
	if n := types(t, r.dir); n[event.TypeDetached] != 1 || n[event.TypeDone] != 1 || n[event.TypeFailed] != 0 {
		t.Errorf("journal %v\n%s", n, r.said.String())
	}
}

// When the terminal hangs up, training continues in the same process; a stop ends it as soon as it
// has saved.
func TestClosingTheScreen(t *testing.T) {
	for _, outcome := range []tui.Outcome{tui.HungUp, tui.StopRequested} {
		t.Run(outcome.String(), func(t *testing.T) {
			d := setUp(t)
			d.Tasks = resting(d.Tasks)
			t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
			terminal := openTerminal(t)
			d.Screen = func(_ context.Context, o tui.Options) (tui.Outcome, error) {
				l, err := o.Start()
				if err != nil {
					return tui.Failed, err
				}
				if outcome == tui.StopRequested {
					err = l.Send(event.Stop{By: "test"})
				}
				return outcome, err
			}
			r := &training{t: t, dir: "run", status: make(chan int, 1)}
			go func() {
				r.status <- command.Main(context.Background(), d, []string{"--preset", "tiny.toml", "--steps", "10000000", "--out", r.dir}, terminal, terminal, &r.said)
			}()
			detached := 0
			if outcome == tui.StopRequested {
				r.ends()
			} else {
				detached = 1
				r.goesOnAfter(event.TypeDetached)
				r.stop()
			}
			if n := types(t, r.dir); n[event.TypeDetached] != detached || n[event.TypeDone] != 1 {
				t.Errorf("%d lines of type %s, want %d: journal %v", n[event.TypeDetached], event.TypeDetached, detached, n)
			}
			if !strings.Contains(r.said.String(), "run folder: "+r.dir) {
				t.Errorf("stderr\n%s", r.said.String())
			}
		})
	}
}

// Leaving before the start leaves no folder.
func TestLeavingBeforeTheStart(t *testing.T) {
	d := setUp(t)
	terminal := openTerminal(t)
	d.Screen = func(context.Context, tui.Options) (tui.Outcome, error) { return tui.Detached, nil }
	var stderr bytes.Buffer
	status := command.Main(context.Background(), d, []string{"--preset", "tiny.toml", "--out", "run"}, terminal, terminal, &stderr)
	if _, err := os.Stat("run"); status != cli.StatusDone || err == nil {
		t.Errorf("status %d, folder %v, stderr\n%s", status, err, stderr.String())
	}
}

// Where there can be no screen, the first screen is refused instead of opened without a question.
func TestNoFirstScreenOnADumbTerminal(t *testing.T) {
	d := setUp(t)
	t.Setenv("TERM", "dumb")
	terminal := openTerminal(t)
	d.Screen = func(context.Context, tui.Options) (tui.Outcome, error) {
		t.Error("a screen opens")
		return tui.Detached, nil
	}
	var stderr bytes.Buffer
	if status := command.Main(context.Background(), d, nil, terminal, terminal, &stderr); status != cli.StatusUsage || !strings.Contains(stderr.String(), "--plain") {
		t.Errorf("status %d, stderr\n%s", status, stderr.String())
	}
}

// openTerminal opens a terminal for the test.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	person, program, err := pty.Open(80, 24)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { person.Close(); program.Close() })
	return program
}
