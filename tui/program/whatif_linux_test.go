package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/whatif"
	"pgrlab/tui/command"
)

// computing returns the processes that compute a what-if of a run.
func computing(t *testing.T, dir string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		if computes(pid, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// computes says whether a process computes a what-if of a run.
func computes(pid int, dir string) bool {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // the process may have ended
	return bytes.Contains(line, []byte("\x00analyse\x00"+dir+"@"))
}

// holdFile returns the path of a file that makes the process of a what-if stop itself after its
// first progress report, so that it cannot end before a test has looked at it. One that fails ends, so
// that the screen shows its error.
func holdFile(dir string) string { return dir + ".hold" }

func init() { standardError = stopsWhereHeld }

// stopsWhereHeld returns the standard error of this process; for a what-if that a test holds,
// writing to it stops the process.
func stopsWhereHeld(args []string) io.Writer {
	if len(args) < 2 || args[0] != "analyse" {
		return os.Stderr
	}
	dir, _, _ := strings.Cut(args[1], "@")
	if _, err := os.Stat(holdFile(dir)); err != nil {
		return os.Stderr
	}
	return &stopping{}
}

// stopping is a standard error that stops its process when the first progress report is written.
type stopping struct{ stopped bool }

func (s *stopping) Write(p []byte) (int, error) {
	n, err := os.Stderr.Write(p)
	if !s.stopped && bytes.HasPrefix(p, []byte("{")) {
		s.stopped = true
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	return n, err
}

// holdWhatIfs makes what-ifs of a run that begin from now on stop themselves.
func holdWhatIfs(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(holdFile(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(holdFile(dir)) })
}

// awaitHeld waits until the only process that computes a what-if of a run has stopped itself.
func awaitHeld(t *testing.T, dir string) (pid int) {
	t.Helper()
	eventually(t, "one process that makes a what-if is stopped", func() bool {
		pids := computing(t, dir)
		if len(pids) != 1 {
			return false
		}
		pid = pids[0]
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // the process may have ended
		return bytes.Contains(text, []byte(") T "))
	})
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // unless the test has failed, it has ended
	return pid
}

// standsBack waits until a process has the lowest priority, and then restores its priority, since
// on a busy machine it would never end.
func standsBack(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "the process has nice value 19", func() bool {
		nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
		return err == nil && 20-nice == 19 // the kernel returns 20 minus the nice value
	})
	comeForward(pid)
	file := fmt.Sprintf("/proc/%d/autogroup", pid)
	if _, err := os.ReadFile(file); err != nil {
		return // this kernel has no autogroups
	}
	eventually(t, "its session has nice value 10", func() bool {
		text, _ := os.ReadFile(file)
		return strings.HasSuffix(strings.TrimSpace(string(text)), " nice 10")
	})
	eventually(t, "its session is as all others", func() bool { return os.WriteFile(file, []byte("0"), 0) == nil })
}

// comeForward gives the threads of a process the nice value 0 where the test may do so: on a kernel
// without groups of sessions, 19 alone puts them after all others.
func comeForward(pid int) {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		if id, err := strconv.Atoi(thread.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, 0) // only root may
		}
	}
}

// goOn lets a stopped process continue, and waits for its end.
func goOn(t *testing.T, dir string, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process of the what-if ends", func() bool { return !computes(pid, dir) })
}

// This is a person's path through a what-if of a running run: from the key to the table, away and
// back, stopped, and ended with the screen.
func TestWhatIfOnTheScreen(t *testing.T) {
	setUp(t)
	w, dir := openRun(t, "tmux-256color")
	w.Await("RETURN")
	w.Press("enter begins", "w")
	holdWhatIfs(t, dir)
	w.Press("s stops it", "Enter")
	first := awaitHeld(t, dir)
	standsBack(t, first)
	goOn(t, dir, first)
	shown := w.Await("real rows only")
	for _, want := range []string{"agent as saved", "unprioritized", "curiosity ω 2 k 0.25", "by the simulator", "prioritized rows", "over 3 repeats of 500 updates"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	w.Press("RETURN", "w")
	w.Press("agent as saved", "w")

	w.Press("s stops it", "Enter")
	stopped := awaitHeld(t, dir)
	w.Press("the what-if is stopped", "s")
	w.Await("agent as saved") // the table of the first one
	goOn(t, dir, stopped)

	w.Press("s stops it", "Enter")
	left := awaitHeld(t, dir)
	w.Press("done, ends with this screen", "q")
	shown = w.Press("ENDED 0", "s")
	if !strings.Contains(strings.Join(strings.Fields(shown), " "), "the what-if under way has ended with this process") {
		t.Errorf("it does not say so:\n%s", shown)
	}
	goOn(t, dir, left)
}

// A process that computes for a screen reports its progress, and ends when no process holds its input
// any more.
func TestWhatIfEndsWithItsInput(t *testing.T) {
	d := setUp(t)
	var said strings.Builder
	if status, _ := pgrlab(t, d, &said, "train", "--preset", "tiny.toml", "--out", "a"); status != 0 {
		t.Fatalf("train: %d: %s", status, &said)
	}
	endless := []string{"analyse", "a", "--what-if", "--json", "--until-eof", "--updates", "1_000_000_000"}
	said.Reset()
	if status, out := pgrlab(t, d, &said, endless...); status == 0 || out != "" || !strings.Contains(said.String(), "the process that waited for it has gone") {
		t.Errorf("%d, %q: %s", status, out, &said)
	}
	input, hold := io.Pipe()
	progress, to := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- command.Main(context.Background(), d, endless, input, io.Discard, to)
		to.Close()
	}()
	lines := json.NewDecoder(progress)
	var at whatif.Progress
	for at.Done == 0 {
		if err := lines.Decode(&at); err != nil {
			t.Fatal(err)
		}
	}
	if at.Doing == "" || at.Total < 1_000_000_000 {
		t.Errorf("%+v", at)
	}
	hold.Close()
	rest, err := io.ReadAll(io.MultiReader(lines.Buffered(), progress))
	if err != nil || <-ended == 0 || !strings.Contains(string(rest), "has gone") {
		t.Errorf("%v: %s", err, rest)
	}
}
