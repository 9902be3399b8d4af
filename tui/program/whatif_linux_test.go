package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/whatif"
	"pgrlab/tui/command"
)

// computing are the processes that make a what-if of a run.
func computing(t *testing.T, dir string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		line, _ := os.ReadFile(file) // it may have ended
		if !bytes.Contains(line, []byte("\x00analyse\x00"+dir+"@")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// one is the only process that makes a what-if of a run.
func one(t *testing.T, dir string) (pid int) {
	t.Helper()
	pids := computing(t, dir)
	if len(pids) != 1 {
		t.Fatalf("%d processes make a what-if, want one", len(pids))
	}
	return pids[0]
}

// standsBack holds a process to its place behind all others, and takes it out of there: a
// machine that is kept busy would never let it end.
func standsBack(t *testing.T, pid int) {
	t.Helper()
	if nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid); err != nil || 20-nice != 19 { // the kernel's answer is 20 less
		t.Errorf("nice value %d, %v", 20-nice, err)
	}
	file := fmt.Sprintf("/proc/%d/autogroup", pid)
	text, err := os.ReadFile(file)
	if err != nil {
		return // this kernel has none
	}
	if !strings.HasSuffix(strings.TrimSpace(string(text)), " nice 10") {
		t.Errorf("its session: %s", text)
	}
	eventually(t, "its session is as all others", func() bool { return os.WriteFile(file, []byte("0"), 0) == nil })
}

// suspend stops the process that makes a what-if of a run where it is.
func suspend(t *testing.T, dir string) (pid int) {
	t.Helper()
	pid = one(t, dir)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // it has ended where the test has not failed
	return pid
}

// goOn lets a process that was stopped go on, and waits for its end.
func goOn(t *testing.T, dir string, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process of the what-if ends", func() bool { return !slices.Contains(computing(t, dir), pid) })
}

// A person's way through a what-if of a run that goes on: from the key to the table, away
// and back, stopped, and ended with the screen.
func TestWhatIfOnTheScreen(t *testing.T) {
	setUp(t)
	w, dir := openRun(t, "tmux-256color")
	w.Await("RETURN")
	w.Press("enter begins", "w")
	w.Press("s stops it", "Enter")
	standsBack(t, one(t, dir))
	shown := w.Await("real rows only")
	for _, want := range []string{"agent as saved", "unprioritized", "curiosity ω 2 k 0.25", "by the simulator", "prioritized rows", "over 3 repeats of 500 updates"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	w.Press("RETURN", "w")
	w.Press("agent as saved", "w")

	w.Press("s stops it", "Enter")
	stopped := suspend(t, dir)
	w.Press("the what-if is stopped", "s")
	w.Await("agent as saved") // of the first one
	goOn(t, dir, stopped)

	w.Press("s stops it", "Enter")
	left := suspend(t, dir)
	w.Press("done, ends with this screen", "q")
	shown = w.Press("ENDED 0", "s")
	if !strings.Contains(strings.Join(strings.Fields(shown), " "), "the what-if under way has ended with this process") {
		t.Errorf("it does not say so:\n%s", shown)
	}
	goOn(t, dir, left)
}

// A process that computes for a screen says how far it is, and ends when nobody holds its
// input any more.
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
