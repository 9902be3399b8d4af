// Package tmux runs programs in tmux windows for tests, which press what a person would press and
// see what a person would see.
package tmux

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgrlab/core/testing/pace"
)

// Window is the only window of its own tmux server.
type Window struct {
	Back int // number of lines above the window that are read, too

	t    testing.TB
	name string
}

// opened counts windows, so that no two servers have the same name: a server that was asked to end
// exists for another moment.
var opened atomic.Int64

// patience is how long a program may take to show something, on a machine that other
// tests keep busy.
const patience = 5 * time.Minute

// Open runs a shell command line in a window of w columns and h lines until the test is over.
// Without tmux the test is skipped.
func Open(t testing.TB, w, h int, command string) *Window {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux here")
	}
	win := &Window{t: t, name: fmt.Sprintf("pgrlab-%d-%d", os.Getpid(), opened.Add(1))}
	win.Do("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), command)
	t.Cleanup(func() { exec.Command("tmux", "-L", win.name, "kill-server").Run() })
	return win
}

// Do gives tmux a command and returns its output.
func (w *Window) Do(args ...string) string {
	w.t.Helper()
	c := exec.Command("tmux", append([]string{"-L", w.name}, args...)...)
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// Keys presses keys by their names, one after another.
func (w *Window) Keys(keys ...string) {
	w.t.Helper()
	w.Do(append([]string{"send-keys"}, keys...)...)
}

// Type types a text.
func (w *Window) Type(text string) {
	w.t.Helper()
	w.Keys("-l", text)
}

// maxShown is how many of a window's last lines a failed test shows.
const maxShown = 60

// Await waits until the window shows text, wherever its lines are broken, because the breaks depend
// on the numbers in them; it returns everything shown.
func (w *Window) Await(text string) (shown string) {
	w.t.Helper()
	begin := time.Now()
	for {
		pace.Look()
		if shown = w.Do("capture-pane", "-p", "-S", fmt.Sprint(-w.Back)); strings.Contains(shown, text) || strings.Contains(unbroken(shown), text) {
			return shown
		}
		passed := time.Since(begin)
		if passed > patience {
			w.t.Fatalf("%s\nno %q in the window, whose lines with text are above", lastLines(shown), text)
		}
		// Another program cannot notify us, and is asked less and less often: each answer takes a process.
		<-time.After(min(30*time.Millisecond+passed/10, 300*time.Millisecond))
	}
}

// lastLines are the last lines of a window that have a text: a window is mostly empty, and what keeps
// only the end of a long report keeps what is not.
func lastLines(shown string) string {
	lines := slices.DeleteFunc(strings.Split(shown, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines[max(0, len(lines)-maxShown):], "\n")
}

// unbroken is a text as one line, without line breaks and the spaces that indent or fill its lines.
func unbroken(text string) string { return strings.Join(strings.Fields(text), " ") }

// Press presses keys and waits for text.
func (w *Window) Press(text string, keys ...string) string {
	w.t.Helper()
	w.Keys(keys...)
	return w.Await(text)
}

// Resize changes the window's size.
func (w *Window) Resize(width, height int) {
	w.t.Helper()
	w.Do("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// ResizeInADialog changes the window to large and small sizes while it shows text.
func (w *Window) ResizeInADialog(text string) {
	w.t.Helper()
	w.Await(text)
	w.Resize(80, 24)
	w.Await(text)
	w.Resize(30, 5)
	w.Resize(120, 36)
	w.Await(text)
}
