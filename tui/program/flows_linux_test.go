package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgrlab/core/run"
	"pgrlab/tui/testing/tmux"
)

// openWindow runs a command line of the program under tmux, on a terminal of the given kind.
func openWindow(t *testing.T, term, locale string, args ...string) *tmux.Window {
	t.Helper()
	cache, _ := os.UserCacheDir() // the cache of the compiled physics
	return tmux.Open(t, 160, 45, fmt.Sprintf("env %s=1 TERM=%s COLORTERM= LC_ALL=%s HOME=%s XDG_CACHE_HOME=%s %s %s; echo ENDED $?; exec sleep 3600",
		childVariable, term, locale, t.TempDir(), cache, os.Args[0], strings.Join(args, " ")))
}

// say types a command in the palette.
func say(t *testing.T, w *tmux.Window, text, command string) {
	t.Helper()
	w.Press("COMMANDS", ":")
	w.Type(command)
	w.Await(":" + command)
	w.Press(text, "Enter")
}

// kinds are the kinds of terminals that people have, without those that have no capabilities, which
// get lines.
var kinds = []string{"xterm-256color", "screen-256color", "tmux-256color", "linux"}

// This is a person's path through the real program: a change with a preview, undo, the palette, a
// fork, a whole lesson, a resize while a dialog is open, leaving, and a terminal that hangs up.
func TestFlowsOfTheProgram(t *testing.T) {
	setUp(t)
	for _, term := range kinds {
		t.Run(term, func(t *testing.T) {
			if !soaking() && term != "tmux-256color" {
				t.Skip("the short form is TestStartAndLeave: PGRLAB_SOAK=1")
			}
			t.Parallel()
			w, dir := openRun(t, term)
			w.Await("RETURN")
			w.Press("128 rows", "Right") // of ω, where the cursor begins; waits for the preview
			w.Press("#2 ", "Enter")
			w.Press("(undoes #2)", "z")
			say(t, w, "noted", "note seen here")
			w.Press("1 staged", "Right")
			w.Press("do not fork", "f")
			w.Press("train, ", "1")
			say(t, w, "cannot say", "pane fan")
			w.Press("KNOBS", "1")
			lesson(t, w)
			w.Keys("q")
			w.ResizeInADialog("leave it training")
			w.Press("RETURN", "Escape")
			hangUp(t, w, dir)
		})
	}
}

// Every kind of terminal gets a short form of the same: start, change, undo, a resize while the
// quit dialog is open, and stop.
func TestStartAndLeave(t *testing.T) {
	setUp(t)
	for _, term := range kinds {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			w, _ := openRun(t, term)
			w.Await(knobNumber(2))
			w.Press(knobNumber(3), "j")
			w.Press("1 staged", "Right")
			w.Press("#2 ", "Enter")
			w.Press("(undoes #2)", "z")
			w.Keys("q")
			w.ResizeInADialog("leave it training")
			w.Press("ENDED 0", "s")
		})
	}
}

// The whole path works in lines as well.
func TestFlowsInLines(t *testing.T) {
	setUp(t)
	w, dir := openRun(t, "dumb")
	w.Back = 500 // the lines scroll away
	enter := func(text, line string) {
		t.Helper()
		w.Do("clear-history")
		if line != "" {
			w.Type(line)
		}
		w.Press(text, "Enter")
	}
	enter("128 rows", "stage guidance 3")
	enter("#2 ω guidance 2 → 3 now  asked", "apply")
	enter("(undoes #2)", "undo")
	enter("noted", "note seen here")
	enter("staged r 0.5", "stage ratio 0.75")
	enter("type 1: 1 with, 1 without", "fork")
	enter("2 forks train", "1")
	enter("step 1 of 7", "lesson guidance")
	enter("type enter stage guidance=0", "")
	enter("type 1 rises", "")
	enter("You said: rises", "1")
	enter("step 6 of 7", "")
	enter("step 7 of 7", "")
	enter("the lesson is over", "")
	enter("leave it training", "quit")
	hangUp(t, w, dir)
}

// openRun opens a run that has a generator from the start and makes no refits afterwards.
func openRun(t *testing.T, term string) (w *tmux.Window, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	w = openWindow(t, term, "C.UTF-8", "--preset", "tiny.toml", "--steps", "1_000_000", "--at", "200:refit_every=1_000_000", "--out", dir)
	t.Cleanup(func() {
		if t.Failed() { // the run survives its terminal
			c, _ := child(t, "stop", dir)
			_ = c.Run()
		}
		awaitEnds(t, dir)
	})
	w.Await("#1 ") // the generator exists and is not refitted
	return w, dir
}

// awaitEnds waits until no process holds the lock of a run or of its children, which save
// themselves after their parent has stopped.
func awaitEnds(t *testing.T, dir string) {
	t.Helper()
	folders, _ := filepath.Glob(dir + "*")
	for _, folder := range folders {
		eventually(t, "no process writes "+folder, func() bool {
			lock, err := os.Open(filepath.Join(folder, "lock"))
			if err != nil {
				return os.IsNotExist(err)
			}
			defer lock.Close()
			return syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
		})
	}
}

// hangUp closes the terminal; the run continues and can be stopped.
func hangUp(t *testing.T, w *tmux.Window, dir string) {
	t.Helper()
	w.Do("kill-server")
	eventually(t, "the run goes on without its terminal", func() bool {
		doc, err := os.ReadFile(filepath.Join(dir, run.JournalName))
		return err == nil && strings.Contains(string(doc), `"type":"detached"`)
	})
	if status := pgrlabStop(t, dir); !strings.Contains(status, "stopped") {
		t.Error(status)
	}
}

// lesson goes through the lesson on guidance, which asks and reveals.
func lesson(t *testing.T, w *tmux.Window) {
	t.Helper()
	w.Press("what ω does", "T")
	w.Press("step 1 of", "3")
	w.Press("stage guidance=0", "Enter")
	w.Press("far beyond the condition", "Enter")
	w.Press("You said: rises", "1")
	w.Press("step 6 of 7", "Enter")
	w.Press("step 7 of 7", "Enter")
	w.Press("RETURN", "Enter")
}

// pgrlabStop stops a run of another process, as pgrlab stop does.
func pgrlabStop(t *testing.T, dir string) string {
	t.Helper()
	c, stderr := child(t, "stop", dir)
	out, err := c.Output()
	if err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
	return string(out) + stderr.String()
}

// In a locale without UTF-8 the screen uses plain characters.
func TestPlainCharacters(t *testing.T) {
	setUp(t)
	const dir = "plain"
	w := openWindow(t, "xterm-256color", "C", "--preset", "tiny.toml", "--steps", "1_000_000", "--at", "200:refit_every=1_000_000", "--out", dir)
	shown := w.Await("KNOBS")
	for i, r := range shown {
		if r >= 0x80 {
			t.Errorf("%q outside ASCII in %q", r, shown[max(0, i-40):min(len(shown), i+40)])
			break
		}
	}
	hangUp(t, w, dir) // otherwise it would continue to write into a folder that is removed
	awaitEnds(t, dir)
}
